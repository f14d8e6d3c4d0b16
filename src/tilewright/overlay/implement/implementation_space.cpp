// Each group of knobs is walked by itself, value by value like an odometer; a combination falls to the first
// rule that does not keep it. Counts of the whole space are products, since no rule looks across groups.
#include "tilewright/overlay/implement/implementation_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tilewright/overlay/implement/implementation_knobs.h"

namespace tilewright::overlay {
namespace {

constexpr KnobGroup kGroups[] = {KnobGroup::kHardware, KnobGroup::kSynthesis, KnobGroup::kPlace};

// What no knob changes.
ImplementationCandidate plain_candidate(synthesis::DeviceFamily family) {
  ImplementationCandidate candidate;
  OverlayHardware& h = candidate.hardware;
  h.name = "sample";
  h.dram_bytes = family == synthesis::DeviceFamily::kIce40 ? 4096 : 65536;
  h.command_queue_depth = 1;
  h.clock_mhz = 12;
  return candidate;
}

template <typename Item>
void shuffle(std::vector<Item>& items, Random& random) {
  for (size_t k = items.size(); k > 1; --k)
    std::swap(items[k - 1], items[size_t(random.between(0, int64_t(k) - 1))]);
}

synthesis::ImplementationOptions joined_options(const synthesis::ImplementationOptions& map,
                                                const synthesis::ImplementationOptions& place) {
  synthesis::ImplementationOptions options = map;
  options.place_mhz = place.place_mhz;
  options.placer = place.placer;
  options.heap_alpha = place.heap_alpha;
  options.heap_beta = place.heap_beta;
  options.heap_criticality_exponent = place.heap_criticality_exponent;
  options.heap_timing_weight = place.heap_timing_weight;
  options.router = place.router;
  options.timing_ripup = place.timing_ripup;
  options.seed = place.seed;
  return options;
}

void multiply(EliminationStep& step) {
  step.candidates = double(step.hardware) * double(step.synthesis) * double(step.place);
}

}  // namespace

ImplementationSpace::ImplementationSpace(synthesis::DeviceFamily family)
    : family_(family), knobs_(implementation_knobs(family)), rules_(implementation_rules(family)) {
  EliminationStep all{"all combinations", "", 1, 1, 1, 1};
  for (const ImplementationKnob& knob : knobs_) {
    int64_t* const counts[] = {&all.hardware, &all.synthesis, &all.place};
    *counts[size_t(knob.group)] *= int64_t(knob.values.size());
  }
  multiply(all);
  steps_.push_back(all);
  for (const KnobGroup group : kGroups) eliminate(group);
  if (is_placed()) count_turns();
}

void ImplementationSpace::count_turns() {
  EliminationStep turns = steps_.back();
  turns.rule = "turns of synthesis and placement";
  turns.reason = "a fourth of the pairs, another for the next description";
  turns.candidates = 0;
  for (int64_t h = 0; h < turns.hardware; ++h) {
    for (int64_t s = 0; s < turns.synthesis; ++s) {
      for (int64_t p = 0; p < turns.place; ++p) {
        turns.candidates += take_turns(size_t(h), size_t(s), size_t(p)) ? 1 : 0;
      }
    }
  }
  steps_.push_back(turns);
}

void ImplementationSpace::eliminate(KnobGroup group) {
  std::vector<const ImplementationKnob*> knobs;
  for (const ImplementationKnob& knob : knobs_) {
    if (knob.group == group) knobs.push_back(&knob);
  }
  std::vector<const EliminationRule*> rules;
  for (const EliminationRule& rule : rules_) {
    if (rule.group == group) rules.push_back(&rule);
  }
  std::vector<int64_t> fallen(rules.size(), 0);
  std::vector<size_t> value(knobs.size(), 0);
  const ImplementationCandidate plain = plain_candidate(family_);
  for (bool more = true; more;) {
    ImplementationCandidate candidate = plain;
    for (size_t k = 0; k < knobs.size(); ++k) knobs[k]->set(candidate, value[k]);
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const EliminationRule* r) { return !r->keeps(candidate); });
    if (rule == rules.end()) {
      kept_[size_t(group)].push_back(std::move(candidate));
    } else {
      ++fallen[size_t(rule - rules.begin())];
    }
    size_t k = knobs.size();
    while (k > 0 && ++value[k - 1] == knobs[k - 1]->values.size()) value[--k] = 0;
    more = k > 0;
  }
  for (size_t r = 0; r < rules.size(); ++r) {
    EliminationStep step = steps_.back();
    step.rule = rules[r]->name;
    step.reason = rules[r]->reason;
    int64_t* const counts[] = {&step.hardware, &step.synthesis, &step.place};
    *counts[size_t(group)] -= fallen[r];
    multiply(step);
    steps_.push_back(step);
  }
}

std::vector<OverlayHardware> ImplementationSpace::hardware() const {
  std::vector<OverlayHardware> list;
  for (const ImplementationCandidate& c : kept_[size_t(KnobGroup::kHardware)]) list.push_back(c.hardware);
  return list;
}

std::vector<synthesis::ImplementationOptions> ImplementationSpace::synthesis() const {
  std::vector<synthesis::ImplementationOptions> list;
  for (const ImplementationCandidate& c : kept_[size_t(KnobGroup::kSynthesis)]) list.push_back(c.options);
  return list;
}

std::vector<synthesis::ImplementationOptions> ImplementationSpace::place() const {
  std::vector<synthesis::ImplementationOptions> list;
  for (const ImplementationCandidate& c : kept_[size_t(KnobGroup::kPlace)]) list.push_back(c.options);
  return list;
}

std::vector<ImplementationGroup> sample_implementations(const ImplementationSpace& space, int count,
                                                        uint64_t seed) {
  Random random(seed);
  const std::vector<OverlayHardware> hardware = space.hardware();
  const std::vector<synthesis::ImplementationOptions> maps = space.synthesis(), places = space.place();
  std::map<int, std::vector<size_t>, std::greater<>> of_precision;
  for (size_t k = 0; k < hardware.size(); ++k) of_precision[hardware[k].input_bits].push_back(k);
  for (auto& entry : of_precision) shuffle(entry.second, random);
  std::vector<ImplementationGroup> groups;
  for (size_t turn = 0; turn < hardware.size(); ++turn) {
    for (const auto& entry : of_precision) {
      if (turn >= entry.second.size() || int(groups.size()) >= count) continue;
      const size_t chosen = entry.second[turn];
      const size_t map = size_t(random.between(0, int64_t(maps.size()) - 1));
      ImplementationGroup group{hardware[chosen], {}};
      for (size_t p = 0; p < places.size(); ++p) {
        if (space.take_turns(chosen, map, p)) group.options.push_back(joined_options(maps[map], places[p]));
      }
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

std::string elimination_table(const ImplementationSpace& space) {
  std::string text =
      "| rule | why | descriptions | synthesis | place and route | candidates |\n|---|---|---|---|---|---|\n";
  for (const EliminationStep& s : space.steps()) {
    text += fmt::format("| {} | {} | {} | {} | {} | {:.3g} |\n", s.rule, s.reason, s.hardware, s.synthesis,
                        s.place, s.candidates);
  }
  return text;
}

std::string elimination_json(const ImplementationSpace& space) {
  nlohmann::ordered_json list;
  for (const EliminationStep& s : space.steps()) {
    list.push_back({{"rule", s.rule},
                    {"reason", s.reason},
                    {"descriptions", s.hardware},
                    {"synthesis", s.synthesis},
                    {"place_and_route", s.place},
                    {"candidates", s.candidates}});
  }
  return list.dump(1);
}

}  // namespace tilewright::overlay
