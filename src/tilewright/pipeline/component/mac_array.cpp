// Forms of the products, as in rtl/pipeline/tw_stream_mac_array.sv: both operands bipolar are counted,
// bipolar weights choose activations where there are no blocks, everything else is multiplied.
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/array_model.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/requirements.h"

namespace tilewright::pipeline {
namespace mac_array {
namespace {

using netlist::integer;
using netlist::integer_or;
using netlist::Parameters;
using netlist::text_or;

void check(const Parameters& parameters) {
  Requirements require("mac_array", parameters);
  const int64_t aw = require.at_least("AW", 1), ww = require.at_least("WW", 1);
  require.at_least("PI", 1);
  require.at_least("PO", 1);
  const int64_t acc = require.at_least("ACC", 2);
  require.need(aw <= 32 && ww <= 32, "operands have at most 32 bits (AW, WW)");
  require.need(acc <= 64, "ACC has at most 64 bits");
  const bool a_bipolar = integer_or(parameters, "A_BIPOLAR", 0) != 0;
  const bool w_bipolar = integer_or(parameters, "W_BIPOLAR", 0) != 0;
  require.need((!a_bipolar || aw == 1) && (!w_bipolar || ww == 1), "bipolar operands have one bit");
  const std::string multiply = text_or(parameters, "MULTIPLY", "dsp");
  const int64_t packed = packed_rows(multiply);
  require.need(multiply == "dsp" || multiply == "pair" || multiply == "lut" || packed > 0,
               "MULTIPLY is '" + multiply + "', not dsp, pair, packed2, packed3, packed4 or lut");
  if (multiply == "pair") {
    require.need(a_bipolar == w_bipolar, "a pair of products needs two's complement operands");
    require.need(aw <= 18 && aw + 2 * ww + 1 <= 25,
                 "two products fit a block of 25 x 18 bits only with AW <= 18 and AW + 2 WW <= 24");
  }
  if (packed > 0) {
    require.need(!a_bipolar && !w_bipolar, "packed products need two's complement operands");
    require.need(aw >= 2 && ww >= 2 && aw <= 18 && packed_bits(packed, aw, ww) <= kWidestBlockBits,
                 "packed products fit a block of 27 x 18 bits only with AW of 2 to 18 and (products - 1) * "
                 "(AW + WW) + WW <= 27");
  }
  require.raise_if_any();
}

std::vector<ComponentPort> ports(const Parameters& parameters) {
  check(parameters);
  const int64_t pi = integer(parameters, "PI"), po = integer(parameters, "PO");
  return array_ports(pi * integer(parameters, "AW"), po * pi * integer(parameters, "WW"),
                     po * integer(parameters, "ACC"));
}

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages&) {
  check(parameters);
  return array_model(mac_array_steps(parameters));
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  const int64_t po = p("PO");
  const area::Products r = area::products(p, p("PI"), po, true);
  const double sums = r.accumulates ? 0 : double(po * p("ACC"));
  f.dsp = r.blocks;
  if (packed_rows(p.text("MULTIPLY", "dsp")) > 0) {
    f.form = "mac_array_packed";
    f.lut = {1, sums, r.adders};
    f.ff = {1, sums, r.registers, r.packed, r.activations, r.weights};
    return f;
  }
  f.lut = {1, sums, r.adders, r.first_adders, r.counted, r.chosen, r.gated, r.wide, r.paired, r.single};
  f.ff = {1,           sums,   r.registers, r.first_registers, r.counted,     r.chosen,
          r.logic_out, r.wide, r.paired,    r.single,          r.activations, r.weights};
  return f;
}

}  // namespace
}  // namespace mac_array

int64_t mac_array_steps(const netlist::Parameters& parameters) {
  const int64_t pi = netlist::integer(parameters, "PI");
  const bool a_bipolar = netlist::integer_or(parameters, "A_BIPOLAR", 0) != 0;
  const bool w_bipolar = netlist::integer_or(parameters, "W_BIPOLAR", 0) != 0;
  const std::string multiply = netlist::text_or(parameters, "MULTIPLY", "dsp");
  if (a_bipolar && w_bipolar) return 1 + tree_levels((pi + 2) / 3) + 1;
  if (w_bipolar && multiply == "lut") return tree_levels(pi) + 2;
  const bool lut = multiply == "lut";
  const int64_t operands = lut ? 0 : 1;
  const int64_t products = multiply == "pair" || packed_rows(multiply) > 0
                               ? 2
                               : multiplier_steps(a_bipolar ? 2 : netlist::integer(parameters, "AW"),
                                                  w_bipolar ? 2 : netlist::integer(parameters, "WW"), lut);
  return operands + products + tree_levels(pi) + 1;
}

const ComponentType kMacArray = {
    "mac_array",
    {"beat_pipeline", "sum_tree", "multiply", "multiply_pair", "multiply_packed", "dot_product"},
    mac_array::ports,
    mac_array::model,
    mac_array::features};

}  // namespace tilewright::pipeline
