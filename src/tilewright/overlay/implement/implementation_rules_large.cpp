// Parts that are synthesised alone (7 series, UltraScale+, ECP5): they hold anything that Yosys maps within
// half a minute, so that its time bounds the space; what differs are multiplier blocks and memories.
#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/implement/implementation_knobs.h"

namespace tilewright::overlay {
namespace {

using synthesis::ImplementationOptions;
using Kind = MemoryPartition::Kind;
using Dimension = MemoryPartition::Dimension;

bool usual_depths(const OverlayHardware& h) {
  return h.input_depth() == 256 && h.weight_depth() == 256 && h.accumulator_depth() == 256;
}

int departures(const OverlayHardware& h) {
  return int(h.memory_partition.factor != 1) + int(h.max_burst_beats != 2) + int(!usual_depths(h)) +
         int(h.memory_width_bits != 64) + int(h.gemm_beside_alu);
}

// Numbers by which shapes and memories take turns.
int shape_number(const OverlayHardware& h) {
  return floor_log2(h.batch) + floor_log2(h.block_in) + 2 * floor_log2(h.block_out) +
         floor_log2(h.accumulator_bits) + floor_log2(complete_alu_lanes(h));
}

int memory_number(const OverlayHardware& h) {
  const MemoryPartition& p = h.memory_partition;
  return floor_log2(h.input_depth()) + 2 * floor_log2(h.weight_depth()) +
         3 * floor_log2(h.accumulator_depth()) + floor_log2(h.max_burst_beats) +
         floor_log2(h.memory_width_bits) + floor_log2(p.factor) + (p.kind == Kind::kCyclic ? 1 : 0) +
         (p.dimension == Dimension::kWidth ? 2 : 0) + (h.gemm_beside_alu ? 3 : 0);
}

void add_shapes(std::vector<EliminationRule>& rules) {
  const auto add = hardware_rules(rules);
  add("small instruction set", "the wide set only where something needs it", [](const OverlayHardware& h) {
    return h.input_bits == 1 || h.gemm_beside_alu || h.isa == IsaVersion::kVta;
  });
  add("time for products",
      "128 products of 2 bits took Yosys 22 s of one core, 16 of 8 bits 12 s, 32 of 8 bits in tables 37 s: "
      "at "
      "most 64, and 32 at 8 bits",
      [](const OverlayHardware& h) { return h.macs_per_uop() <= 64 && product_tables(h) <= 3000; });
  add("time for ALU lanes", "every lane has a multiplier: four, which those 37 s had, are enough",
      [](const OverlayHardware& h) { return complete_alu_lanes(h) <= 4; });
  add("one memory knob",
      "of partition, burst length, depths, port width and GEMM beside ALU at most one departs from the "
      "usual: main effects before interactions",
      [](const OverlayHardware& h) { return departures(h) <= 1; });
  add("turns of shapes and memories", "memory knobs take turns over shapes, a fourth of their product",
      [](const OverlayHardware& h) { return (shape_number(h) + memory_number(h)) % 4 == 0; });
}

void add_strategies(synthesis::DeviceFamily family, std::vector<EliminationRule>& rules) {
  using O = ImplementationOptions;
  const auto add = option_rules(KnobGroup::kSynthesis, rules);
  add_flow_rule(
      family,
      family == synthesis::DeviceFamily::kEcp5
          ? "a delay target is ABC9's, retiming ABC's"
          : "a delay target is ABC9's, retiming ABC's; ABC2 and enables as logic are not of this family",
      rules);
  add("memories in blocks", "words by the thousand in look-up tables are tens of thousands of tables",
      [](const O& o) { return o.block_memory; });
  add_retiming_rule(rules);
  add("as fast as it can", "without place and route nothing shows whether a target is met",
      [](const O& o) { return o.synthesis_mhz == 0; });
  add("one strategy",
      "at most one departure from plain ABC with all blocks: main effects before interactions",
      [](const O& o) { return synthesis_departures(o) + int(!o.dsp) + int(!o.table_memory) <= 1; });
}

}  // namespace

void add_large_rules(synthesis::DeviceFamily family, std::vector<EliminationRule>& rules) {
  add_shapes(rules);
  add_strategies(family, rules);
}

}  // namespace tilewright::overlay
