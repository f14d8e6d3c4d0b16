// Which implementations of an overlay there are to choose from: knobs of the description and of the tools
// (the features of the published table carried over to Yosys and nextpnr), their full product, and the rules
// that reduce it to the candidates worth hours of tool time. docs/design/tune/implementation_data.md has
// table and counts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/synthesis/implementation.h"

namespace tilewright::overlay {

struct ImplementationCandidate {
  OverlayHardware hardware;
  synthesis::ImplementationOptions options;
};

// Which step a knob belongs to, and what a rule uses: a rule of one group never uses another's knobs.
enum class KnobGroup { kHardware, kSynthesis, kPlace };

struct ImplementationKnob {
  KnobGroup group;
  std::string name;     // field of OverlayHardware or ImplementationOptions
  std::string feature;  // of the published table; empty: not there
  std::vector<std::string> values;
  std::function<void(ImplementationCandidate&, size_t value)> set;
};

struct EliminationRule {
  KnobGroup group;
  std::string name, reason;
  std::function<bool(const ImplementationCandidate&)> keeps;
};

// What remains after a rule: candidates of each group, and their product.
struct EliminationStep {
  std::string rule;    // "all combinations" first
  std::string reason;  // empty in the first
  int64_t hardware = 0, synthesis = 0, place = 0;
  double candidates = 0;  // their product; after the last rule, which looks at all three, fewer
};

// The space of a family (docs/design/tune/implementation_data.md), precisions 8, 4, 2 and 1 bits: small
// overlays for iCE40, an HX8K, which are placed and routed; larger ones for the others, which are synthesised
// alone and have a single choice of placement.
class ImplementationSpace {
 public:
  // Walks all combinations of each group once (about a second).
  explicit ImplementationSpace(synthesis::DeviceFamily family);

  synthesis::DeviceFamily family() const { return family_; }
  const std::vector<ImplementationKnob>& knobs() const { return knobs_; }
  const std::vector<EliminationRule>& rules() const { return rules_; }
  const std::vector<EliminationStep>& steps() const { return steps_; }

  // The survivors of each group, in the order of the knobs' values.
  std::vector<OverlayHardware> hardware() const;
  std::vector<synthesis::ImplementationOptions> synthesis() const;
  std::vector<synthesis::ImplementationOptions> place() const;

  // The last rule, where there is placement: synthesis and placement take turns, so that a description with
  // one choice of synthesis meets every fourth choice of placement, and every pair of choices comes with some
  // description. Arguments: positions in the three lists above.
  bool take_turns(size_t hardware, size_t synthesis, size_t place) const {
    return !is_placed() || (hardware + synthesis + place) % 4 == 0;
  }

 private:
  bool is_placed() const { return family_ == synthesis::DeviceFamily::kIce40; }
  void eliminate(KnobGroup group);
  void count_turns();

  synthesis::DeviceFamily family_;
  std::vector<ImplementationKnob> knobs_;
  std::vector<EliminationRule> rules_;
  std::vector<EliminationStep> steps_;
  std::vector<ImplementationCandidate> kept_[3];
};

// `count` groups of samples: a description with one choice of synthesis and all of its turns of place and
// route, which share the netlist. Precisions take turns; no description comes twice (fewer groups when they
// run out). The same seed gives the same groups, and a larger count appends more.
struct ImplementationGroup {
  OverlayHardware hardware;
  std::vector<synthesis::ImplementationOptions> options;
};
std::vector<ImplementationGroup> sample_implementations(const ImplementationSpace& space, int count,
                                                        uint64_t seed);

// The steps as a Markdown table with every rule's reason.
std::string elimination_table(const ImplementationSpace& space);
// Likewise, a list of objects.
std::string elimination_json(const ImplementationSpace& space);

}  // namespace tilewright::overlay
