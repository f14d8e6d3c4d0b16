// Families differ in the values of some knobs, and in the knobs that their tools have.
#include "tilewright/overlay/implement/implementation_knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace tilewright::overlay {
namespace {

using synthesis::DeviceFamily;
using synthesis::ImplementationOptions;
using synthesis::LutMapper;
using synthesis::Placer;
using synthesis::Router;
using Kind = MemoryPartition::Kind;
using Dimension = MemoryPartition::Dimension;

template <typename Value>
ImplementationKnob knob(KnobGroup group, std::string name, std::string feature, std::vector<Value> values,
                        std::function<void(ImplementationCandidate&, Value)> set) {
  std::vector<std::string> names;
  for (const Value& value : values) names.push_back(fmt::format("{}", value));
  return {group, std::move(name), std::move(feature), std::move(names),
          [values, set](ImplementationCandidate& candidate, size_t k) { set(candidate, values[k]); }};
}

// How the words of INP, WGT, ACC and UOP are shared out, as log2 of their numbers.
using Split = std::array<int, 4>;

// The values of the description in which small parts and larger ones differ.
struct FamilyValues {
  std::vector<int> blocks, accumulators, bursts, ports;
  std::vector<Split> splits;
};

FamilyValues family_values(DeviceFamily family) {
  if (family == DeviceFamily::kIce40) {
    return {{1, 2, 4, 8, 16},
            {8, 16, 32},
            {1, 2, 4},
            {32, 64},
            {{7, 7, 7, 7}, {8, 7, 7, 8}, {7, 8, 7, 8}, {7, 7, 8, 8}}};
  }
  return {{4, 8, 16},
          {16, 32},
          {2, 4},
          {64, 128},
          {{8, 8, 8, 8}, {5, 5, 5, 5}, {10, 8, 8, 10}, {8, 11, 8, 8}, {8, 8, 11, 10}}};
}

void set_precision(ImplementationCandidate& c, int bits) {
  OverlayHardware& h = c.hardware;
  h.input_bits = h.weight_bits = h.output_bits = bits;
}

void set_split(ImplementationCandidate& c, const Split& logs) {
  OverlayHardware& h = c.hardware;
  h.input_buffer_bytes = h.input_bytes() << logs[0];
  h.weight_buffer_bytes = h.weight_bytes() << logs[1];
  h.accumulator_buffer_bytes = h.accumulator_bytes() << logs[2];
  h.uop_buffer_bytes = h.uop_bytes() << logs[3];
}

// Outputs as wide as operands, or so wide that one element is a whole byte.
void settle_outputs(OverlayHardware& h) {
  h.output_bits = std::max(h.input_bits, 8 / std::min(8, h.batch * h.block_out));
}

void add_hardware_knobs(const FamilyValues& family, std::vector<ImplementationKnob>& knobs) {
  using C = ImplementationCandidate;
  const KnobGroup g = KnobGroup::kHardware;
  const auto add = [&](const char* name, const char* feature, std::vector<int> values,
                       std::function<void(C&, int)> set) {
    knobs.push_back(knob<int>(g, name, feature, std::move(values), std::move(set)));
  };
  add("input_bits, weight_bits", "precision", {8, 4, 2, 1}, set_precision);
  add("isa (0 vta, 1 wide)", "", {0, 1},
      [](C& c, int wide) { c.hardware.isa = wide ? IsaVersion::kWide : IsaVersion::kVta; });
  add("batch", "batch size", {1, 2}, [](C& c, int v) { c.hardware.batch = v; });
  add("block_in", "GEMM shape", family.blocks, [](C& c, int v) { c.hardware.block_in = v; });
  add("block_out", "GEMM shape", family.blocks, [](C& c, int v) {
    c.hardware.block_out = v;
    settle_outputs(c.hardware);
  });
  add("accumulator_bits", "", family.accumulators, [](C& c, int v) { c.hardware.accumulator_bits = v; });
  std::vector<int> splits(family.splits.size());
  std::iota(splits.begin(), splits.end(), 0);
  add("buffer split", "", splits, [all = family.splits](C& c, int v) { set_split(c, all[size_t(v)]); });
  add("alu_lanes (0: complete)", "Unroll", {1, 2, 4, 8, 0}, [](C& c, int v) { c.hardware.alu_lanes = v; });
  add("gemm_beside_alu", "Dataflow", {0, 1}, [](C& c, int v) { c.hardware.gemm_beside_alu = v != 0; });
  add("max_burst_beats", "", family.bursts, [](C& c, int v) {
    c.hardware.max_burst_beats = v;
    c.hardware.read_queue_beats = std::max(2, v);
  });
  add("memory_width_bits", "", family.ports, [](C& c, int v) { c.hardware.memory_width_bits = v; });
  add("memory_partition kind (0 block, 1 cyclic)", "Partition, Reshape", {0, 1},
      [](C& c, int v) { c.hardware.memory_partition.kind = v ? Kind::kCyclic : Kind::kBlock; });
  add("memory_partition dimension (1 depth, 2 width)", "Partition, Reshape", {1, 2}, [](C& c, int v) {
    c.hardware.memory_partition.dimension = v == 1 ? Dimension::kDepth : Dimension::kWidth;
  });
  add("memory_partition factor", "Partition, Reshape", {1, 2, 4, 8, 16, 32},
      [](C& c, int v) { c.hardware.memory_partition.factor = v; });
}

void add_synthesis_knobs(DeviceFamily family, std::vector<ImplementationKnob>& knobs) {
  const bool ice40 = family == DeviceFamily::kIce40;
  using C = ImplementationCandidate;
  const KnobGroup g = KnobGroup::kSynthesis;
  const auto flag = [&](const char* name, const char* feature, bool ImplementationOptions::*field,
                        bool usual) {
    knobs.push_back(knob<int>(g, name, feature, {usual ? 1 : 0, usual ? 0 : 1},
                              [field](C& c, int v) { c.options.*field = v != 0; }));
  };
  knobs.push_back(knob<double>(g, "synthesis_mhz", "HLS freq", {0, 20, 30, 40, 60, 80},
                               [](C& c, double v) { c.options.synthesis_mhz = v; }));
  flag("flatten", "Inline", &ImplementationOptions::flatten, true);
  knobs.push_back(knob<int>(g, "mapper (1 abc, 2 abc2, 3 abc9)", "Syn strategy", {1, 2, 3},
                            [](C& c, int v) { c.options.mapper = LutMapper(v); }));
  flag("map_registers", "Pipeline, Syn strategy", &ImplementationOptions::map_registers, false);
  flag("retime", "Pipeline, Syn strategy", &ImplementationOptions::retime, false);
  flag("carry_chains", "Syn strategy", &ImplementationOptions::carry_chains, true);
  flag("clock_enables", "Syn strategy", &ImplementationOptions::clock_enables, true);
  if (ice40)
    knobs.push_back(knob<int>(g, "least_enabled", "Syn strategy", {0, 4, 16},
                              [](C& c, int v) { c.options.least_enabled = v; }));
  flag("dsp", "Syn strategy", &ImplementationOptions::dsp, !ice40);
  flag("block_memory", "Syn strategy", &ImplementationOptions::block_memory, true);
  if (!ice40) flag("table_memory", "Syn strategy", &ImplementationOptions::table_memory, true);
}

void add_place_knobs(std::vector<ImplementationKnob>& knobs) {
  using C = ImplementationCandidate;
  const KnobGroup g = KnobGroup::kPlace;
  const auto real = [&](const char* name, const char* feature, std::vector<double> values,
                        double ImplementationOptions::*field) {
    knobs.push_back(
        knob<double>(g, name, feature, std::move(values), [field](C& c, double v) { c.options.*field = v; }));
  };
  const auto whole = [&](const char* name, const char* feature, std::vector<int> values,
                         int ImplementationOptions::*field) {
    knobs.push_back(
        knob<int>(g, name, feature, std::move(values), [field](C& c, int v) { c.options.*field = v; }));
  };
  real("place_mhz", "Impl freq", {40, 12, 25, 60, 80}, &ImplementationOptions::place_mhz);
  knobs.push_back(knob<int>(g, "placer (0 heap, 1 sa)", "Imp strategy", {0, 1},
                            [](C& c, int v) { c.options.placer = Placer(v); }));
  real("heap_alpha", "Imp strategy", {0.1, 0.05, 0.2}, &ImplementationOptions::heap_alpha);
  real("heap_beta", "Imp strategy", {0.9, 0.7, 0.8}, &ImplementationOptions::heap_beta);
  whole("heap_criticality_exponent", "Imp strategy", {2, 1, 4},
        &ImplementationOptions::heap_criticality_exponent);
  whole("heap_timing_weight", "Imp strategy", {10, 5, 30}, &ImplementationOptions::heap_timing_weight);
  knobs.push_back(knob<int>(g, "router (0 router1, 1 router2)", "Imp strategy", {0, 1},
                            [](C& c, int v) { c.options.router = Router(v); }));
  knobs.push_back(knob<int>(g, "timing_ripup", "Imp strategy", {0, 1},
                            [](C& c, int v) { c.options.timing_ripup = v != 0; }));
  whole("seed", "", {1, 2, 3, 4}, &ImplementationOptions::seed);
}

}  // namespace

std::vector<ImplementationKnob> implementation_knobs(DeviceFamily family) {
  std::vector<ImplementationKnob> knobs;
  add_hardware_knobs(family_values(family), knobs);
  add_synthesis_knobs(family, knobs);
  if (family == DeviceFamily::kIce40) add_place_knobs(knobs);
  return knobs;
}

}  // namespace tilewright::overlay
