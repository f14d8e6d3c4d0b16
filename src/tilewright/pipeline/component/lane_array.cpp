// Both ways through a lane, products and comparisons, take the steps of the products.
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/array_model.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/requirements.h"

namespace tilewright::pipeline {
namespace lane_array {
namespace {

using netlist::integer;
using netlist::integer_or;
using netlist::Parameters;
using netlist::text_or;

void check(const Parameters& parameters) {
  Requirements require("lane_array", parameters);
  const int64_t aw = require.at_least("AW", 1), ww = require.at_least("WW", 1);
  require.at_least("P", 1);
  require.at_least("TAPS", 1);
  const int64_t acc = require.at_least("ACC", 2);
  require.need(aw <= 32 && ww <= 32, "operands have at most 32 bits (AW, WW)");
  const bool bipolar = integer_or(parameters, "A_BIPOLAR", 0) != 0;
  require.need(!bipolar || aw == 1, "bipolar operands have one bit");
  require.need(acc <= 64 && acc >= aw, "ACC has at most 64 bits, and at least those of an element");
  const std::string multiply = text_or(parameters, "MULTIPLY", "dsp");
  require.need(multiply == "dsp" || multiply == "lut",
               "MULTIPLY is '" + multiply + "', not dsp or lut: lanes share no factor that makes pairs");
  require.need(integer_or(parameters, "SUM", 1) != 0 || integer_or(parameters, "MAXIMUM", 1) != 0,
               "SUM and MAXIMUM are both 0");
  require.raise_if_any();
}

std::vector<ComponentPort> ports(const Parameters& parameters) {
  check(parameters);
  const int64_t lanes = integer(parameters, "P"), taps = integer(parameters, "TAPS");
  return array_ports(taps * lanes * integer(parameters, "AW"), taps * lanes * integer(parameters, "WW") + 1,
                     lanes * integer(parameters, "ACC"));
}

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages&) {
  check(parameters);
  return array_model(lane_array_steps(parameters));
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  const int64_t lanes = p("P"), taps = p("TAPS");
  const bool sum = p("SUM", 1) != 0, maximum = p("MAXIMUM", 1) != 0;
  const double elements = double(lanes * p("AW")), compared = double(lanes * (taps - 1) * p("AW")),
               both = maximum && sum ? 1 : 0;
  area::Products r;
  if (sum) r = area::products(p, taps, lanes, false);
  const double sums = r.accumulates && !maximum ? 0 : double(lanes * p("ACC"));
  f.dsp = r.blocks;
  f.lut = {1,
           sum ? sums : 0,
           r.adders,
           r.first_adders,
           r.gated,
           r.wide,
           r.single,
           maximum ? elements : 0,
           maximum ? compared : 0,
           maximum && !sum ? elements : 0,
           both * sums};
  f.ff = {1,
          sum ? sums : 0,
          r.registers,
          r.first_registers,
          r.logic_out,
          r.wide,
          r.single,
          r.activations,
          r.weights,
          maximum ? elements : 0,
          maximum ? compared : 0,
          maximum && !sum ? elements : 0,
          both * sums};
  return f;
}

}  // namespace
}  // namespace lane_array

int64_t lane_array_steps(const netlist::Parameters& parameters) {
  const int64_t taps = netlist::integer(parameters, "TAPS");
  const bool bipolar = netlist::integer_or(parameters, "A_BIPOLAR", 0) != 0;
  if (netlist::integer_or(parameters, "SUM", 1) == 0) return taps == 1 ? 2 : tree_levels(taps) + 1;
  const bool lut = netlist::text_or(parameters, "MULTIPLY", "dsp") == "lut";
  const int64_t products = multiplier_steps(bipolar ? 2 : netlist::integer(parameters, "AW"),
                                            netlist::integer(parameters, "WW"), lut);
  return (lut ? 0 : 1) + products + tree_levels(taps) + 1;
}

const ComponentType kLaneArray = {
    "lane_array",
    {"beat_pipeline", "delay_line", "sum_tree", "max_tree", "multiply", "lane_sum"},
    lane_array::ports,
    lane_array::model,
    lane_array::features};

}  // namespace tilewright::pipeline
