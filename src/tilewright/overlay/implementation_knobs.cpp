// Every rule is of one group of knobs, so that groups can be counted one by one; within a group rules go from
// what no tool or RTL can have, over what is the same design twice, to what the part cannot hold and what
// experience leaves out.
#include "tilewright/overlay/implementation_knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "tilewright/overlay/rtl_config.h"

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
constexpr int kSplits[][4] = {{7, 7, 7, 7}, {8, 7, 7, 8}, {7, 8, 7, 8}, {7, 7, 8, 8}};

void set_precision(ImplementationCandidate& c, int bits) {
  OverlayHardware& h = c.hardware;
  h.input_bits = h.weight_bits = h.output_bits = bits;
}

void set_split(ImplementationCandidate& c, int split) {
  OverlayHardware& h = c.hardware;
  const int* logs = kSplits[split];
  h.input_buffer_bytes = h.input_bytes() << logs[0];
  h.weight_buffer_bytes = h.weight_bytes() << logs[1];
  h.accumulator_buffer_bytes = h.accumulator_bytes() << logs[2];
  h.uop_buffer_bytes = h.uop_bytes() << logs[3];
}

// Outputs as wide as operands, or so wide that one element is a whole byte.
void settle_outputs(OverlayHardware& h) {
  h.output_bits = std::max(h.input_bits, 8 / std::min(8, h.batch * h.block_out));
}

int lanes(const OverlayHardware& h) { return h.batch * h.block_out; }

// Look-up tables of the products and sums: an N-bit product of tables takes about N * (N + 1), its place in
// the sum 2 N + 4; one-bit products are an exclusive-or.
int product_tables(const OverlayHardware& h) {
  const int n = h.input_bits;
  return int(h.macs_per_uop()) * (n == 1 ? 3 : n * (n + 1) + 2 * n + 4);
}

// Logic cells of the compute part on an iCE40, fitted to about ten rows: its fixed part, products (a table
// and the flip-flops of its sums are 2.2 cells), lanes of accumulators, and lanes of the ALU, each with a
// multiplier of its own.
double estimated_cells(const OverlayHardware& h) {
  const int alu = h.alu_lanes == 0 ? lanes(h) : h.alu_lanes;
  return 1750 + (h.isa == IsaVersion::kWide ? 375 : 0) + 2.2 * product_tables(h) +
         250.0 / 16 * h.accumulator_bits * (lanes(h) - 1) + 900 * (alu - 1);
}

// 4-kbit blocks (256 x 16, 512 x 8, ...) of a memory that lies in `arrays` of words or of bits.
int blocks_of(int64_t words, int64_t bits, const MemoryPartition& p) {
  const bool by_words = p.dimension == Dimension::kDepth;
  const int64_t arrays =
      std::min<int64_t>(p.factor, by_words ? words / 2 : int64_t(std::bit_floor(uint64_t(bits))));
  const int64_t deep = by_words ? words / arrays : words,
                wide = by_words ? bits : (bits + arrays - 1) / arrays;
  const int64_t width = std::clamp<int64_t>(4096 / std::max<int64_t>(deep, 256), 2, 16);
  return int(arrays * ((wide + width - 1) / width) * ((deep + 2047) / 2048));
}

int memory_blocks(const OverlayHardware& h) {
  const MemoryPartition& p = h.memory_partition;
  const int64_t port = h.memory_width_bits;
  const auto sliced = [&](int64_t words, int64_t bits, int64_t slice) {
    const int64_t part = std::min(bits, slice);
    return int(bits / part) * blocks_of(words, part, p);
  };
  const int alu = h.alu_lanes == 0 ? lanes(h) : h.alu_lanes;
  const int64_t part_lanes = std::min<int64_t>({alu, port / h.accumulator_bits, lanes(h)});
  return sliced(h.uop_depth(), 8 * h.uop_bytes(), port) + sliced(h.input_depth(), 8 * h.input_bytes(), port) +
         sliced(h.weight_depth(), 8 * h.weight_bytes(), port) +
         2 * sliced(h.accumulator_depth(), 8 * h.accumulator_bytes(), part_lanes * h.accumulator_bits) +
         sliced(h.accumulator_depth(), 8 * h.output_bytes(), part_lanes * h.output_bits);
}

void add_hardware_knobs(std::vector<ImplementationKnob>& knobs) {
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
  add("block_in", "GEMM shape", {1, 2, 4, 8, 16}, [](C& c, int v) { c.hardware.block_in = v; });
  add("block_out", "GEMM shape", {1, 2, 4, 8, 16}, [](C& c, int v) {
    c.hardware.block_out = v;
    settle_outputs(c.hardware);
  });
  add("accumulator_bits", "", {8, 16, 32}, [](C& c, int v) { c.hardware.accumulator_bits = v; });
  add("buffer split", "", {0, 1, 2, 3}, set_split);
  add("alu_lanes (0: complete)", "Unroll", {1, 2, 4, 8, 0}, [](C& c, int v) { c.hardware.alu_lanes = v; });
  add("gemm_beside_alu", "Dataflow", {0, 1}, [](C& c, int v) { c.hardware.gemm_beside_alu = v != 0; });
  add("max_burst_beats", "", {1, 2, 4}, [](C& c, int v) {
    c.hardware.max_burst_beats = v;
    c.hardware.read_queue_beats = std::max(2, v);
  });
  add("memory_width_bits", "", {32, 64}, [](C& c, int v) { c.hardware.memory_width_bits = v; });
  add("memory_partition kind (0 block, 1 cyclic)", "Partition, Reshape", {0, 1},
      [](C& c, int v) { c.hardware.memory_partition.kind = v ? Kind::kCyclic : Kind::kBlock; });
  add("memory_partition dimension (1 depth, 2 width)", "Partition, Reshape", {1, 2}, [](C& c, int v) {
    c.hardware.memory_partition.dimension = v == 1 ? Dimension::kDepth : Dimension::kWidth;
  });
  add("memory_partition factor", "Partition, Reshape", {1, 2, 4, 8, 16, 32},
      [](C& c, int v) { c.hardware.memory_partition.factor = v; });
}

void add_synthesis_knobs(std::vector<ImplementationKnob>& knobs) {
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
  knobs.push_back(knob<int>(g, "least_enabled", "Syn strategy", {0, 4, 16},
                            [](C& c, int v) { c.options.least_enabled = v; }));
  flag("dsp", "Syn strategy", &ImplementationOptions::dsp, false);
  flag("block_memory", "Syn strategy", &ImplementationOptions::block_memory, true);
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

// Knobs of synthesis that depart from plain ABC; a delay target belongs to its mapper.
int synthesis_departures(const ImplementationOptions& o) {
  return int(o.mapper != LutMapper::kAbc) + int(!o.flatten) + int(o.map_registers) + int(o.retime) +
         int(!o.carry_chains) + int(!o.clock_enables) + int(o.least_enabled != 0);
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

int log2_of(int64_t value) { return std::bit_width(uint64_t(value)) - 1; }

// Numbers by which shapes and memories take turns.
int shape_number(const OverlayHardware& h) {
  return log2_of(h.batch) + log2_of(h.block_in) + 2 * log2_of(h.block_out) + (h.alu_lanes == 1 ? 1 : 0);
}

int memory_number(const OverlayHardware& h) {
  const MemoryPartition& p = h.memory_partition;
  const int split = h.weight_depth() > 128                         ? 2
                    : h.input_depth() > 128 && h.uop_depth() > 128 ? 1
                    : h.accumulator_depth() > 128                  ? 3
                                                                   : 0;
  return split + log2_of(h.max_burst_beats) + log2_of(p.factor) + (p.kind == Kind::kCyclic ? 1 : 0) +
         (p.dimension == Dimension::kWidth ? 2 : 0) + 3;
}

void add_hardware_rules(std::vector<EliminationRule>& rules) {
  using C = ImplementationCandidate;
  const auto add = [&](const char* name, const char* reason,
                       std::function<bool(const OverlayHardware&)> keeps) {
    rules.push_back({KnobGroup::kHardware, name, reason, [keeps](const C& c) { return keeps(c.hardware); }});
  };
  add("single bits", "one-bit operands exist in the wide instruction set alone",
      [](const OverlayHardware& h) { return h.input_bits > 1 || h.isa == IsaVersion::kWide; });
  add("whole bytes", "an element of INP and of WGT is a whole number of bytes", [](const OverlayHardware& h) {
    return h.batch * h.block_in * h.input_bits % 8 == 0 && h.block_out * h.block_in * h.weight_bits % 8 == 0;
  });
  add("blocks of channels",
      "outputs are the next layer's inputs: the compiler wants block_in at least block_out",
      [](const OverlayHardware& h) { return h.block_in >= h.block_out; });
  add("two modules at once", "GEMM beside ALU needs the wide instruction set",
      [](const OverlayHardware& h) { return !h.gemm_beside_alu || h.isa == IsaVersion::kWide; });
  add("same unrolling", "as many ALU lanes as there are, or more, is 'complete' again",
      [](const OverlayHardware& h) { return h.alu_lanes < lanes(h); });
  add("same partition", "factor 1 has neither kind nor dimension", [](const OverlayHardware& h) {
    const MemoryPartition& p = h.memory_partition;
    return p.factor > 1 || (p.kind == Kind::kBlock && p.dimension == Dimension::kDepth);
  });
  add("same bits", "which array has which bits of a word changes names alone", [](const OverlayHardware& h) {
    const MemoryPartition& p = h.memory_partition;
    return p.dimension == Dimension::kDepth || p.kind == Kind::kBlock;
  });
  add("arrays worth a block",
      "below 32 words an array is flip-flops, and beyond 8 arrays of bits most of each block is empty",
      [](const OverlayHardware& h) {
        const MemoryPartition& p = h.memory_partition;
        return p.factor <= (p.dimension == Dimension::kDepth ? 4 : 8);
      });
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
        return h.input_bits == 8 || (shape_number(h) + memory_number(h)) % 2 == 0;
      });
}

void add_synthesis_rules(std::vector<EliminationRule>& rules) {
  using O = ImplementationOptions;
  const auto add = [&](const char* name, const char* reason, std::function<bool(const O&)> keeps) {
    rules.push_back({KnobGroup::kSynthesis, name, reason,
                     [keeps](const ImplementationCandidate& c) { return keeps(c.options); }});
  };
  add("what the flow takes", "a delay target is ABC9's, retiming ABC's, least_enabled of enables",
      [](const O& o) {
        Diagnostics diagnostics;
        o.verify(DeviceFamily::kIce40, diagnostics);
        return diagnostics.errors().empty();
      });
  add("no multiplier blocks", "an iCE40 HX has none", [](const O& o) { return !o.dsp; });
  add("memories in blocks", "INP, WGT, ACC and UOP in flip-flops are more than the part has",
      [](const O& o) { return o.block_memory; });
  add("adders on carry chains", "without chains every product doubles, beyond the cap",
      [](const O& o) { return o.carry_chains; });
  add("retiming", "ABC's retiming chooses initial values that are not given: another circuit came out",
      [](const O& o) { return !o.retime; });
  add("target within reach",
      "fixtures reach 25 to 60 MHz: looser targets than 30 MHz never bind, tighter ones than "
      "40 MHz are the same as none",
      [](const O& o) { return o.synthesis_mhz == 0 || o.synthesis_mhz == 30 || o.synthesis_mhz == 40; });
  add("one strategy", "at most one departure from plain ABC: main effects before interactions",
      [](const O& o) { return synthesis_departures(o) <= 1; });
  add("one level each", "of a second strategy's values the one nearer to what designs need",
      [](const O& o) { return o.least_enabled == 0 && o.synthesis_mhz != 30; });
}

void add_place_rules(std::vector<EliminationRule>& rules) {
  using O = ImplementationOptions;
  const auto add = [&](const char* name, const char* reason, std::function<bool(const O&)> keeps) {
    rules.push_back({KnobGroup::kPlace, name, reason,
                     [keeps](const ImplementationCandidate& c) { return keeps(c.options); }});
  };
  add("analytic placer",
      "annealing did not end within 8 minutes on 2,668 cells, where the analytic placer takes 6 s",
      [](const O& o) { return o.placer == Placer::kHeap; });
  add("first router",
      "router2 moved the last one or two wires around for 5,800 rounds and 8 minutes, where router1 takes 6 s",
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

std::vector<ImplementationKnob> implementation_knobs() {
  std::vector<ImplementationKnob> knobs;
  add_hardware_knobs(knobs);
  add_synthesis_knobs(knobs);
  add_place_knobs(knobs);
  return knobs;
}

std::vector<EliminationRule> implementation_rules() {
  std::vector<EliminationRule> rules;
  add_hardware_rules(rules);
  add_synthesis_rules(rules);
  add_place_rules(rules);
  return rules;
}

}  // namespace tilewright::overlay
