// An iCE40 HX8K is placed and routed: what fits into 3,000 cells, and choices of placement.
#include <algorithm>
#include <bit>

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/implement/implementation_knobs.h"

namespace tilewright::overlay {
namespace {

using synthesis::DeviceFamily;
using synthesis::ImplementationOptions;
using synthesis::Placer;
using synthesis::Router;
using Kind = MemoryPartition::Kind;
using Dimension = MemoryPartition::Dimension;

// Logic cells of the compute part on an iCE40, fitted to about ten rows: its fixed part, products (a table
// and the flip-flops of its sums are 2.2 cells), lanes of accumulators, and lanes of the ALU, each with a
// multiplier of its own.
double estimated_cells(const OverlayHardware& h) {
  const int alu = complete_alu_lanes(h);
  return 1750 + (h.isa == IsaVersion::kWide ? 375 : 0) + 2.2 * product_tables(h) +
         250.0 / 16 * h.accumulator_bits * (lanes(h) - 1) + 900 * (alu - 1);
}

// 4-kbit blocks (256 x 16, 512 x 8, ...) of a memory that lies in `arrays` of words or of bits.
int blocks_of(int64_t words, int64_t bits, const MemoryPartition& p) {
  const bool by_words = p.dimension == Dimension::kDepth;
  const int64_t arrays =
      std::min<int64_t>(p.factor, by_words ? words / 2 : int64_t(std::bit_floor(uint64_t(bits))));
  const int64_t deep = by_words ? words / arrays : words, wide = by_words ? bits : ceil_div(bits, arrays);
  const int64_t width = std::clamp<int64_t>(4096 / std::max<int64_t>(deep, 256), 2, 16);
  return int(arrays * ceil_div(wide, width) * ((deep + 2047) / 2048));
}

int memory_blocks(const OverlayHardware& h) {
  const MemoryPartition& p = h.memory_partition;
  const int64_t port = h.memory_width_bits;
  const auto sliced = [&](int64_t words, int64_t bits, int64_t slice) {
    const int64_t part = std::min(bits, slice);
    return int(bits / part) * blocks_of(words, part, p);
  };
  const int alu = complete_alu_lanes(h);
  const int64_t part_lanes = std::min<int64_t>({alu, port / h.accumulator_bits, lanes(h)});
  return sliced(h.uop_depth(), 8 * h.uop_bytes(), port) + sliced(h.input_depth(), 8 * h.input_bytes(), port) +
         sliced(h.weight_depth(), 8 * h.weight_bytes(), port) +
         2 * sliced(h.accumulator_depth(), 8 * h.accumulator_bytes(), part_lanes * h.accumulator_bits) +
         sliced(h.accumulator_depth(), 8 * h.output_bytes(), part_lanes * h.output_bits);
}

int place_departures(const ImplementationOptions& o) {
  return int(o.place_mhz != 40) + int(o.heap_alpha != 0.1) + int(o.heap_beta != 0.9) +
         int(o.heap_criticality_exponent != 2) + int(o.heap_timing_weight != 10) +
         int(o.router != Router::kRouter1) + int(o.timing_ripup) + int(o.seed != 1);
}

int memory_departures(const OverlayHardware& h) {
  const int64_t words = h.input_depth() + h.weight_depth() + h.accumulator_depth() + h.uop_depth();
  return int(h.memory_partition.factor != 1) + int(h.max_burst_beats != 2) + int(words != 4 * 128);
}

// Numbers by which shapes and memories take turns.
int ice40_shape_number(const OverlayHardware& h) {
  return floor_log2(h.batch) + floor_log2(h.block_in) + 2 * floor_log2(h.block_out) +
         (h.alu_lanes == 1 ? 1 : 0);
}

int ice40_memory_number(const OverlayHardware& h) {
  const MemoryPartition& p = h.memory_partition;
  const int split = h.weight_depth() > 128                         ? 2
                    : h.input_depth() > 128 && h.uop_depth() > 128 ? 1
                    : h.accumulator_depth() > 128                  ? 3
                                                                   : 0;
  return split + floor_log2(h.max_burst_beats) + floor_log2(p.factor) + (p.kind == Kind::kCyclic ? 1 : 0) +
         (p.dimension == Dimension::kWidth ? 2 : 0) + 3;
}

void add_ice40_shapes(std::vector<EliminationRule>& rules) {
  const auto add = hardware_rules(rules);
  add("small instruction set", "the wide set, where nothing needs it, costs 700 to 1,100 cells of 3,000",
      [](const OverlayHardware& h) { return h.input_bits == 1 || h.isa == IsaVersion::kVta; });
  add("one module at once", "a second walk and a second bank take the cells that a one-bit overlay has left",
      [](const OverlayHardware& h) { return !h.gemm_beside_alu; });
  add("narrow port", "64 bits widen every path of a core that takes 8 to 32 bits per cycle",
      [](const OverlayHardware& h) { return h.memory_width_bits == 32; });
  add("accumulator", "16 bits, 8 at one bit: wider ones do not fit, narrower ones overflow on a product",
      [](const OverlayHardware& h) { return h.accumulator_bits == (h.input_bits == 1 ? 8 : 16); });
  add("cells", "estimated above 3,220: beyond the cap of 3,000 even where the estimate is at its worst",
      [](const OverlayHardware& h) { return estimated_cells(h) <= 3220; });
  add("block memory", "the part has 32 blocks of 4 kbit",
      [](const OverlayHardware& h) { return memory_blocks(h) <= 32; });
  add("one memory knob",
      "of partition, burst length and buffer split at most one departs from the usual: "
      "main effects before interactions",
      [](const OverlayHardware& h) { return memory_departures(h) <= 1; });
  add("turns of shapes and memories",
      "memory knobs take turns over shapes, half of their product (Latin square); at 8 bits, with few shapes "
      "left, all",
      [](const OverlayHardware& h) {
        return h.input_bits == 8 || (ice40_shape_number(h) + ice40_memory_number(h)) % 2 == 0;
      });
}

void add_ice40_strategies(std::vector<EliminationRule>& rules) {
  using O = ImplementationOptions;
  const auto add = option_rules(KnobGroup::kSynthesis, rules);
  add_flow_rule(DeviceFamily::kIce40, "a delay target is ABC9's, retiming ABC's, least_enabled of enables",
                rules);
  add("no multiplier blocks", "an iCE40 HX has none", [](const O& o) { return !o.dsp; });
  add("memories in blocks", "INP, WGT, ACC and UOP in flip-flops are more than the part has",
      [](const O& o) { return o.block_memory; });
  add("adders on carry chains", "without chains every product doubles, beyond the cap",
      [](const O& o) { return o.carry_chains; });
  add_retiming_rule(rules);
  add("target within reach",
      "fixtures reach 25 to 60 MHz: looser targets than 30 MHz never bind, tighter ones than "
      "40 MHz are the same as none",
      [](const O& o) { return o.synthesis_mhz == 0 || o.synthesis_mhz == 30 || o.synthesis_mhz == 40; });
  add("one strategy", "at most one departure from plain ABC: main effects before interactions",
      [](const O& o) { return synthesis_departures(o) <= 1; });
  add("one level each", "of a second strategy's values the one nearer to what designs need",
      [](const O& o) { return o.least_enabled == 0 && o.synthesis_mhz != 30; });
}

void add_placements(std::vector<EliminationRule>& rules) {
  using O = ImplementationOptions;
  const auto add = option_rules(KnobGroup::kPlace, rules);
  add("analytic placer",
      "annealing did not end within 8 minutes on 2,668 cells, where the analytic placer takes 6 s",
      [](const O& o) { return o.placer == Placer::kHeap; });
  add("first router",
      "router2 moved the last one or two wires around for 5,800 rounds and 8 minutes, where router1 takes 6 "
      "s",
      [](const O& o) { return o.router == Router::kRouter1; });
  add("target within reach", "12 MHz is always met and 80 MHz never: nearer targets tell more",
      [](const O& o) { return o.place_mhz != 12 && o.place_mhz != 80; });
  add("one strategy",
      "at most one departure from nextpnr's own choice at 40 MHz: main effects before interactions",
      [](const O& o) { return place_departures(o) <= 1; });
  add("one level each",
      "of a strategy's values the one that departs to stronger pull, weight or timing; three seeds",
      [](const O& o) {
        return o.seed <= 3 && o.heap_alpha != 0.05 && o.heap_beta != 0.7 &&
               o.heap_criticality_exponent != 1 && o.heap_timing_weight != 5;
      });
}

}  // namespace

void add_ice40_rules(std::vector<EliminationRule>& rules) {
  add_ice40_shapes(rules);
  add_ice40_strategies(rules);
  add_placements(rules);
}

}  // namespace tilewright::overlay
