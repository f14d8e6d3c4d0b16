// Every rule is of one group of knobs, so that groups can be counted one by one; within a group rules go from
// what no tool or RTL can have, over what is the same design twice, to what the part cannot hold and what
// experience leaves out. Here are those of all families.
#include "tilewright/overlay/implement/implementation_knobs.h"

namespace tilewright::overlay {
namespace {

using synthesis::DeviceFamily;
using synthesis::ImplementationOptions;
using synthesis::LutMapper;
using Kind = MemoryPartition::Kind;
using Dimension = MemoryPartition::Dimension;

void add_legal_rules(std::vector<EliminationRule>& rules) {
  const auto add = hardware_rules(rules);
  add("single bits", "one-bit operands exist only in the wide instruction set",
      [](const OverlayHardware& h) { return h.input_bits > 1 || h.isa == IsaVersion::kWide; });
  add("whole bytes", "an element of INP and of WGT is a whole number of bytes", [](const OverlayHardware& h) {
    return h.batch * h.block_in * h.input_bits % 8 == 0 && h.block_out * h.block_in * h.weight_bits % 8 == 0;
  });
  add("blocks of channels",
      "outputs are the next layer's inputs: the compiler wants block_in at least block_out",
      [](const OverlayHardware& h) { return h.block_in >= h.block_out; });
  add("two modules at once", "GEMM beside ALU needs the wide instruction set",
      [](const OverlayHardware& h) { return !h.gemm_beside_alu || h.isa == IsaVersion::kWide; });
  add("same unrolling", "as many ALU lanes as exist, or more, is the same as 'complete'",
      [](const OverlayHardware& h) { return h.alu_lanes < lanes(h); });
  add("same partition", "factor 1 has neither kind nor dimension", [](const OverlayHardware& h) {
    const MemoryPartition& p = h.memory_partition;
    return p.factor > 1 || (p.kind == Kind::kBlock && p.dimension == Dimension::kDepth);
  });
  add("same bits", "which array has which bits of a word changes only names", [](const OverlayHardware& h) {
    const MemoryPartition& p = h.memory_partition;
    return p.dimension == Dimension::kDepth || p.kind == Kind::kBlock;
  });
  add("arrays worth a block",
      "below 32 words an array is flip-flops, and beyond 8 arrays of bits most of each block is empty",
      [](const OverlayHardware& h) {
        const MemoryPartition& p = h.memory_partition;
        return p.factor <= (p.dimension == Dimension::kDepth ? 4 : 8);
      });
}

}  // namespace

int product_tables(const OverlayHardware& h) {
  const int n = h.input_bits;
  return int(h.macs_per_uop()) * (n == 1 ? 3 : n * (n + 1) + 2 * n + 4);
}

int synthesis_departures(const ImplementationOptions& o) {
  return int(o.mapper != LutMapper::kAbc) + int(!o.flatten) + int(o.map_registers) + int(o.retime) +
         int(!o.carry_chains) + int(!o.clock_enables) + int(o.least_enabled != 0);
}

void add_flow_rule(DeviceFamily family, const char* reason, std::vector<EliminationRule>& rules) {
  option_rules(KnobGroup::kSynthesis, rules)("what the flow takes", reason, [family](const auto& options) {
    Diagnostics diagnostics;
    options.verify(family, diagnostics);
    return diagnostics.errors().empty();
  });
}

void add_retiming_rule(std::vector<EliminationRule>& rules) {
  const auto add = option_rules(KnobGroup::kSynthesis, rules);
  add("retiming", "ABC's retiming chooses unspecified initial values: a different circuit came out",
      [](const ImplementationOptions& o) { return !o.retime; });
}

std::vector<EliminationRule> implementation_rules(DeviceFamily family) {
  std::vector<EliminationRule> rules;
  add_legal_rules(rules);
  if (family == DeviceFamily::kIce40) {
    add_ice40_rules(rules);
  } else {
    add_large_rules(family, rules);
  }
  return rules;
}

}  // namespace tilewright::overlay
