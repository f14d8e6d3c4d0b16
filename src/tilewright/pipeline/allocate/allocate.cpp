// Both shapes are searched for both objectives, the best one is taken. What is short is said for the
// allocation that comes nearest to the budget.
#include "tilewright/pipeline/allocate/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "tilewright/base/words/nearest_word.h"
#include "tilewright/pipeline/allocate/allocate_search.h"
#include "tilewright/pipeline/design/plan.h"

namespace tilewright::pipeline {

Budget device_budget(const Device& device) {
  Budget budget;
  budget.family = device.family;
  budget.resources = device.has;
  if (device.memory) {
    budget.port_bytes = device.memory->port_bytes;
    budget.channels = device.memory->channels;
    budget.port = {device.memory->latency_cycles, int(device.memory->efficiency_percent)};
  }
  if (device.clock_mhz > 0) budget.clock_mhz = device.clock_mhz;
  return budget;
}

void apply_budget(Budget& budget, const std::string& text) {
  const std::map<std::string, int64_t*> fields = {
      {"lut", &budget.resources.lut},   {"ff", &budget.resources.ff},
      {"dsp", &budget.resources.dsp},   {"bram", &budget.resources.bram},
      {"uram", &budget.resources.uram}, {"multipliers", &budget.multipliers},
      {"channels", &budget.channels}};
  Diagnostics diagnostics;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    at = end + 1;
    const size_t equals = item.find('=');
    const std::string name = item.substr(0, equals),
                      value = equals == std::string::npos ? "" : item.substr(equals + 1);
    const auto field = fields.find(name);
    int64_t number = 0;
    const auto [stop, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (field == fields.end()) {
      diagnostics.error(
          ErrorKind::kInvalidInput, "budget", name, "is not a resource",
          words_hint(name, {"bram", "channels", "dsp", "ff", "lut", "multipliers", "uram"}, "choose one of"));
    } else if (failed != std::errc{} || stop != value.data() + value.size() || number < 0 ||
               (name == "channels" && number < 1)) {
      diagnostics.error(ErrorKind::kInvalidInput, "budget", name, "'" + value + "' is not a count",
                        "e.g. dsp=220");
    } else {
      *field->second = number;
    }
  }
  diagnostics.raise_if_any();
}

std::vector<Shortage> Judge::shortages(const Estimate& estimate) const {
  const synthesis::Resources &need = estimate.resources, &have = budget_.resources;
  std::vector<Shortage> all = {{"LUT", need.lut, have.lut},
                               {"FF", need.ff, have.ff},
                               {"DSP", need.dsp, have.dsp},
                               {"BRAM", need.bram, have.bram},
                               {"URAM", need.uram, have.uram}};
  if (budget_.multipliers > 0) all.push_back({"multipliers", estimate.multipliers, budget_.multipliers});
  std::erase_if(all, [](const Shortage& s) { return s.need <= s.have; });
  return all;
}

double Judge::pressure(const synthesis::Resources& need, int64_t multipliers) const {
  const synthesis::Resources& have = budget_.resources;
  double most = 0;
  const auto share = [&](int64_t n, int64_t h) {
    most = std::max(most, n <= 0 ? 0 : double(n) / std::max(0.5, double(h)));
  };
  share(need.lut, have.lut);
  share(need.ff, have.ff);
  share(need.dsp, have.dsp);
  share(need.bram, have.bram);
  share(need.uram, have.uram);
  if (budget_.multipliers > 0) share(multipliers, budget_.multipliers);
  return most;
}

bool Judge::better(const Estimate& a, const Estimate& b) const {
  const double pressure_a = pressure(a), pressure_b = pressure(b);
  if ((pressure_a <= 1) != (pressure_b <= 1)) return pressure_a <= 1;
  if (pressure_a > 1) return pressure_a < pressure_b;
  if (cycles(a) != cycles(b)) return cycles(a) < cycles(b);
  return pressure_a < pressure_b;
}

std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> small, large;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d != n / d) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

namespace {

constexpr Objective kObjectives[] = {Objective::kLatency, Objective::kThroughput};

// Of both shapes, by objective.
struct Found {
  std::optional<AllocationCandidate> best[2];
  bool stages_proven[2] = {false, false};
  int64_t evaluated = 0;
  std::string obstacles;
  Ending ending = Ending::kNone;  // of the first search that did not come to its end
};

// Every search gets an equal part of the time that is left.
Found search(const Network& network, const Estimator& estimator, const Budget& budget,
             const AllocateOptions& options) {
  Found found;
  int64_t searches = (options.streaming ? 2 : 0) + (options.processors ? 1 : 0);
  const Deadline whole(Deadline::kNoLimit, options.deadline);
  const auto timed = [&](auto run, const Judge& judge) {
    const Deadline part(whole.left() / double(searches--), &whole);
    AllocateOptions own = options;
    own.deadline = &part;
    const ShapeSearch shape = run(network, estimator, judge, own);
    if (found.ending == Ending::kNone) found.ending = part.ending();
    return shape;
  };
  for (const Objective objective : kObjectives) {
    const size_t own = size_t(objective);
    const Judge judge(budget, objective);
    const auto take = [&](const ShapeSearch& shape) {
      if (shape.best) judge.keep(found.best[own], *shape.best);
      if (shape.other) judge.for_other_objective().keep(found.best[1 - own], *shape.other);
      found.evaluated += shape.evaluated;
      if (objective == kObjectives[0] && !shape.best) found.obstacles += shape.obstacle;
    };
    if (options.streaming) {
      const ShapeSearch stages = timed(search_stages, judge);
      found.stages_proven[own] = stages.proven;
      take(stages);
    }
    // The next image begins when one is done: on processors both objectives are the same.
    if (options.processors && objective == kObjectives[0]) {
      take(timed(search_processors, judge));
    }
  }
  return found;
}

Budget planned(Budget budget, double logic_share) {
  budget.resources.lut = int64_t(double(budget.resources.lut) * logic_share);
  budget.resources.ff = int64_t(double(budget.resources.ff) * logic_share);
  return budget;
}

synthesis::Resources larger_of(const synthesis::Resources& a, const synthesis::Resources& b) {
  return {std::max(a.lut, b.lut), std::max(a.ff, b.ff),     std::max(a.carry, b.carry),
          std::max(a.dsp, b.dsp), std::max(a.bram, b.bram), std::max(a.uram, b.uram)};
}

// From the needs of the design nearest to `budget` on, the first budget in which the search finds one; empty:
// none within a few steps.
std::string enough_budget(const Network& network, const Estimator& estimator, const Budget& budget,
                          const AllocationCandidate& nearest, const AllocateOptions& options) {
  Budget trial = budget;
  trial.resources = nearest.estimate.resources;
  if (budget.multipliers > 0) trial.multipliers = nearest.estimate.multipliers;
  for (int step = 0; step < 3; ++step) {
    const Found found = search(network, estimator, trial, options);
    const Judge judge(trial, Objective::kLatency);
    if (found.best[0] && judge.fits(found.best[0]->estimate)) {
      const synthesis::Resources& have = trial.resources;
      return fmt::format("lut={},ff={},dsp={},bram={},uram={}", have.lut, have.ff, have.dsp, have.bram,
                         have.uram) +
             (budget.multipliers > 0 ? fmt::format(",multipliers={}", trial.multipliers) : "");
    }
    // What was not short is left as it is; then what is still short is raised.
    trial.resources = larger_of(
        trial.resources, step == 0 || !found.best[0] ? budget.resources : found.best[0]->estimate.resources);
    trial.multipliers = std::max(trial.multipliers, budget.multipliers);
  }
  return "";
}

[[noreturn]] void report_infeasible(const Network& network, const Estimator& estimator, const Budget& budget,
                                    const AllocationCandidate& nearest, const AllocateOptions& options) {
  Diagnostics diagnostics;
  const std::string enough = enough_budget(network, estimator, budget, nearest, options);
  for (const Shortage& item : Judge(budget, Objective::kLatency).shortages(nearest.estimate)) {
    diagnostics.error(ErrorKind::kInfeasible, "network '" + network.name + "'", item.resource,
                      fmt::format("the smallest design needs {}, the budget has {}: {} too few", item.need,
                                  item.have, item.need - item.have),
                      enough.empty() ? "take a larger device" : "a sufficient budget: " + enough);
  }
  diagnostics.raise_if_any();
  throw Error(ErrorKind::kInternal, "an allocation over its budget without a shortage");
}

void check_options(const Network& network, const Budget& budget, const AllocateOptions& options) {
  if (const int bits = element_bits(network); budget.port_bytes * 8 < bits) {
    throw Error(ErrorKind::kInfeasible,
                fmt::format("a memory port of {} bytes holds no element of {} bits", budget.port_bytes, bits),
                "take a device with a wider memory, or a narrower number type");
  }
  if (!(options.logic_share > 0 && options.logic_share <= 1)) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("logic_share {} is not above 0 and at most 1", options.logic_share));
  }
  if (network.layers.empty()) {
    throw Error(ErrorKind::kInvalidInput, "network '" + network.name + "' has no layers to allocate");
  }
  if (!options.streaming && !options.processors) {
    throw Error(ErrorKind::kInvalidInput, "no shape to allocate: allow streaming or processors");
  }
}

}  // namespace

AllocationResult allocate(const Network& network, const Budget& budget, Objective objective,
                          const AllocateOptions& options) {
  check_options(network, budget, options);
  const Estimator estimator(network, budget.family, budget.port);
  Budget limits = planned(budget, options.logic_share);
  Found found = search(network, estimator, limits, options);
  const auto fits = [&] { return found.best[0] && Judge(limits, objective).fits(found.best[0]->estimate); };
  if (found.best[0] && !fits() && options.logic_share < 1) {
    limits = budget;
    found = search(network, estimator, limits, options);
  }
  if (found.ending != Ending::kNone && !fits()) {
    throw Error(ErrorKind::kInfeasible, "the time or memory limit was reached before there was a design",
                "give it more");
  }
  if (!found.best[0]) {
    throw Error(ErrorKind::kUnsupported,
                "no shape of hardware computes network '" + network.name + "'" + found.obstacles,
                "change these layers, or run the model on the overlay (tilewright compile)");
  }
  if (!fits()) report_infeasible(network, estimator, budget, *found.best[0], options);
  const auto result_for = [&](Objective wanted) {
    AllocationResult result;
    result.allocation = found.best[size_t(wanted)]->allocation;
    result.estimate = estimator(result.allocation);
    result.proven_optimal = result.allocation.streaming && found.stages_proven[size_t(wanted)];
    result.evaluated = found.evaluated;
    result.ending = found.ending;
    result.explanation = explain(network, budget, result);
    return result;
  };
  AllocationResult result = result_for(objective);
  const Objective other = Judge(limits, objective).for_other_objective().objective();
  if (!(found.best[0]->allocation == found.best[1]->allocation)) {
    result.for_other_objective.push_back(result_for(other));
  }
  return result;
}

}  // namespace tilewright::pipeline
