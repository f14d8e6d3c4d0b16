// The knobs of ImplementationSpace with their values, and its rules.
#pragma once

#include "tilewright/overlay/implement/implementation_space.h"

namespace tilewright::overlay {

std::vector<ImplementationKnob> implementation_knobs(synthesis::DeviceFamily family);
std::vector<EliminationRule> implementation_rules(synthesis::DeviceFamily family);

// The parts of the rules of all families.
inline auto hardware_rules(std::vector<EliminationRule>& rules) {
  return [&rules](const char* name, const char* reason, std::function<bool(const OverlayHardware&)> keeps) {
    rules.push_back({KnobGroup::kHardware, name, reason,
                     [keeps](const ImplementationCandidate& c) { return keeps(c.hardware); }});
  };
}
inline auto option_rules(KnobGroup group, std::vector<EliminationRule>& rules) {
  return [group, &rules](const char* name, const char* reason,
                         std::function<bool(const synthesis::ImplementationOptions&)> keeps) {
    rules.push_back(
        {group, name, reason, [keeps](const ImplementationCandidate& c) { return keeps(c.options); }});
  };
}
inline int lanes(const OverlayHardware& h) { return h.batch * h.block_out; }
inline int complete_alu_lanes(const OverlayHardware& h) { return h.alu_lanes == 0 ? lanes(h) : h.alu_lanes; }
// Look-up tables of the products and sums: an N-bit product of tables takes about N * (N + 1), its place in
// the sum 2 N + 4; one-bit products are an exclusive-or.
int product_tables(const OverlayHardware& hardware);
// Knobs of synthesis that depart from plain ABC; a delay target belongs to its mapper. dsp, block_memory and
// table_memory are not counted.
int synthesis_departures(const synthesis::ImplementationOptions& options);
void add_flow_rule(synthesis::DeviceFamily family, const char* reason, std::vector<EliminationRule>& rules);
void add_retiming_rule(std::vector<EliminationRule>& rules);

// Beyond the limits of the RTL: small parts that are placed and routed, larger ones that are only
// synthesised.
void add_ice40_rules(std::vector<EliminationRule>& rules);
void add_large_rules(synthesis::DeviceFamily family, std::vector<EliminationRule>& rules);

}  // namespace tilewright::overlay
