// Both rules as they are published, with this project's engines and stages.
#include "tilewright/pipeline/allocate/baselines.h"

#include <algorithm>
#include <bit>
#include <map>

#include "tilewright/pipeline/allocate/allocate_processors.h"

namespace tilewright::pipeline {

std::vector<int> greedy_folding(const std::vector<std::vector<StageOption>>& options, std::vector<int> chosen,
                                const std::function<bool(const std::vector<int>&)>& fits) {
  for (;;) {
    size_t slowest = 0;
    const auto cycles = [&](size_t i) { return options[i][size_t(chosen[i])].cycles; };
    for (size_t i = 1; i < chosen.size(); ++i) {
      if (cycles(i) > cycles(slowest)) slowest = i;
    }
    // The faster ones, the least faster first.
    std::vector<int> faster;
    for (size_t o = 0; o < options[slowest].size(); ++o) {
      if (options[slowest][o].cycles < cycles(slowest)) faster.push_back(int(o));
    }
    std::stable_sort(faster.begin(), faster.end(), [&](int a, int b) {
      return options[slowest][size_t(a)].cycles > options[slowest][size_t(b)].cycles;
    });
    bool raised = false;
    for (const int option : faster) {
      std::vector<int> trial = chosen;
      trial[slowest] = option;
      if (!fits(trial)) continue;
      chosen = std::move(trial);
      raised = true;
      break;
    }
    if (!raised) return chosen;
  }
}

Allocation proportional_rule(const Network& network, const Budget& budget) {
  const bool wide = network.number == NumberType::kFixed;
  const int64_t multipliers =
      budget.multipliers > 0 ? budget.multipliers : budget.resources.dsp / (wide ? 4 : 1);
  std::map<int64_t, int64_t> macs;  // by taps of the window
  int64_t total = 0;
  for (const Layer& layer : network.layers) {
    if (works_in_lanes(layer.kind)) continue;
    macs[layer.window.rows * layer.window.columns] += layer.macs;
    total += layer.macs;
  }
  ProcessorChoice choice;
  choice.pi = std::min<int64_t>(8, int64_t(std::bit_floor(uint64_t(std::max<int64_t>(1, multipliers)))));
  choice.po = choice.pf = choice.pi;
  Allocation a = make_processors(network, budget, choice);
  std::map<int64_t, int> engine_of;
  const int lanes = a.engines.back().lanes ? int(a.engines.size()) - 1 : -1;
  std::vector<EngineAllocation> engines;
  for (const auto& [taps, work] : macs) {
    const double share =
        double(multipliers) * double(work) / double(std::max<int64_t>(1, total)) / double(choice.pi);
    const int64_t po =
        choice.pi * int64_t(std::bit_floor(uint64_t(std::max(1.0, share / double(choice.pi)))));
    engine_of[taps] = int(engines.size());
    engines.push_back({"taps" + std::to_string(taps), false, {choice.pi, po, choice.pi}});
  }
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    a.layers[i].engine = works_in_lanes(layer.kind) ? int(engines.size())
                                                    : engine_of[layer.window.rows * layer.window.columns];
  }
  if (lanes >= 0) engines.push_back(a.engines[size_t(lanes)]);
  a.engines = std::move(engines);
  return a;
}

}  // namespace tilewright::pipeline
