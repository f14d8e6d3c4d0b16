// Both shapes are searched for both objectives, the best one is taken. What is short is said for the
// allocation that comes nearest to the budget.
#include "tilewright/pipeline/allocate/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "tilewright/base/words/named_values.h"
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
  for (const auto& [name, value] : named_values(text)) {
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

std::array<double, 6> Judge::shares(const synthesis::Resources& need, int64_t multipliers) const {
  const synthesis::Resources& have = budget_.resources;
  const auto share = [](int64_t n, int64_t h) { return n <= 0 ? 0 : double(n) / std::max(0.5, double(h)); };
  return {share(need.lut, have.lut),   share(need.ff, have.ff),
          share(need.dsp, have.dsp),   share(need.bram, have.bram),
          share(need.uram, have.uram), budget_.multipliers > 0 ? share(multipliers, budget_.multipliers) : 0};
}

double Judge::pressure(const synthesis::Resources& need, int64_t multipliers) const {
  const std::array<double, 6> all = shares(need, multipliers);
  return *std::max_element(all.begin(), all.end());
}

bool Judge::better(const Estimate& a, const Estimate& b) const {
  const double pressure_a = pressure(a), pressure_b = pressure(b);
  if ((pressure_a <= 1) != (pressure_b <= 1)) return pressure_a <= 1;
  if (pressure_a > 1) return pressure_a < pressure_b;
  if (cycles(a) != cycles(b)) return cycles(a) < cycles(b);
  return cost(a.resources, a.multipliers) < cost(b.resources, b.multipliers);
}

double Judge::cost(const synthesis::Resources& need, int64_t multipliers) const {
  if (enough_cycles_ == 0) return pressure(need, multipliers);
  return double(need.*sparing_) / std::max(0.5, double(budget_.resources.*sparing_));
}

synthesis::Resources smaller_of(const synthesis::Resources& a, const synthesis::Resources& b) {
  return {std::min(a.lut, b.lut), std::min(a.ff, b.ff),     0,
          std::min(a.dsp, b.dsp), std::min(a.bram, b.bram), std::min(a.uram, b.uram)};
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

// Estimates are off by less than this; so many designs are worth a simulation: of long ones, fewer.
constexpr double kNearEnough = 1.5;
constexpr size_t kMostNear = 8, kMostNearOfLong = 2;
constexpr int64_t kShortCycles = 200'000;

constexpr int64_t kBlocksOfLayer = 4, kBlocksOfLayerIce40 = 10;  // that a finish may take

constexpr Objective kObjectives[] = {Objective::kLatency, Objective::kThroughput};

// Of both shapes, by objective.
struct Found {
  std::optional<AllocationCandidate> best[2];
  std::vector<AllocationCandidate> all;  // the best of each search that fit
  bool stages_proven[2] = {false, false};
  int64_t evaluated = 0;
  std::string obstacles;
  Ending ending = Ending::kNone;  // of the first search that did not come to its end

  void take(const std::optional<AllocationCandidate>& candidate, const Judge& judge) {
    if (!candidate) return;
    judge.keep(best[size_t(judge.objective())], *candidate);
    if (judge.fits(candidate->estimate)) all.push_back(*candidate);
  }
};

// Whether finishes may multiply in tables.
bool may_use_tables(const Network& network, const AllocateOptions& options) {
  return options.lut_multipliers && network.number == NumberType::kInteger;
}

// Whether finishes may take a large share of the blocks.
bool few_blocks(const Network& network, const Budget& budget) {
  const bool ice40 = budget.family == synthesis::DeviceFamily::kIce40;
  const int64_t of_layer = ice40 ? kBlocksOfLayerIce40 : kBlocksOfLayer;
  return budget.resources.dsp < of_layer * int64_t(network.layers.size());
}

Budget with_tables(Budget budget) {
  budget.finish_multiplier = Multiplier::kLut;
  return budget;
}

// Every search gets an equal part of the time that is left. `alone`: of the other objective, only what comes
// along is kept.
Found search(const Network& network, const Estimator& estimator, const Budget& budget,
             const AllocateOptions& options, Objective wanted = Objective::kLatency, bool alone = false) {
  Found found;
  std::vector<Budget> budgets = {budget};
  const bool tables = may_use_tables(network, options);
  if (tables && few_blocks(network, budget)) budgets.push_back(with_tables(budget));
  int64_t searches =
      std::ssize(budgets) * ((options.streaming ? (alone ? 1 : 2) : 0) + (options.processors ? 1 : 0));
  const Deadline whole(Deadline::kNoLimit, options.deadline);
  const auto timed = [&](auto run, const Judge& judge) {
    const Deadline part(whole.left() / double(std::max<int64_t>(1, searches--)), &whole);
    AllocateOptions own = options;
    own.deadline = &part;
    const ShapeSearch shape = run(network, estimator, judge, own);
    if (found.ending == Ending::kNone) found.ending = part.ending();
    return shape;
  };
  const Objective first = alone ? wanted : kObjectives[0];
  for (size_t b = 0; b < budgets.size(); ++b) {
    for (const Objective objective : kObjectives) {
      if (alone && objective != wanted) continue;
      const Judge judge(budgets[b], objective, options);
      const auto take = [&](const ShapeSearch& shape) {
        found.take(shape.best, judge);
        found.take(shape.other, judge.for_other_objective());
        found.evaluated += shape.evaluated;
        if (b == 0 && objective == first && !shape.best) found.obstacles += shape.obstacle;
      };
      if (options.streaming) {
        const ShapeSearch stages = timed(search_stages, judge);
        bool& proven = found.stages_proven[size_t(objective)];
        proven = stages.proven && (b == 0 || proven);
        take(stages);
      }
      // The next image begins when one is done: on processors both objectives are the same.
      if (options.processors && objective == first) take(timed(search_processors, judge));
    }
    if (tables && budgets.size() == 1 && found.all.empty()) budgets.push_back(with_tables(budget));
  }
  return found;
}

Budget planned(Budget budget, double logic_share) {
  budget.resources.lut = int64_t(double(budget.resources.lut) * logic_share);
  budget.resources.ff = int64_t(double(budget.resources.ff) * logic_share);
  return budget;
}

Budget part_of(Budget budget, int64_t quarters) {
  for (int64_t* amount : {&budget.resources.lut, &budget.resources.ff, &budget.resources.dsp,
                          &budget.resources.bram, &budget.resources.uram})
    *amount = *amount * quarters / 4;
  if (budget.multipliers > 0) budget.multipliers = std::max<int64_t>(1, budget.multipliers * quarters / 4);
  return budget;
}

// What parts of the budget suffice for: a search with more of everything may miss it.
void add_smaller(const Network& network, const Estimator& estimator, const Budget& limits,
                 const AllocateOptions& options, Found& found) {
  AllocateOptions quick = options;  // what the sweep finds is nearly always what the longer search would
  quick.nodes /= 8;
  quick.evaluations /= 4;
  for (const int64_t quarters : {3, 2, 1}) {
    if (options.over()) return;
    const Found less = search(network, estimator, part_of(limits, quarters), quick);
    if (less.all.empty()) return;
    for (const AllocationCandidate& candidate : less.all) {
      for (const Objective objective : kObjectives) found.take(candidate, Judge(limits, objective));
    }
    found.evaluated += less.evaluated;
  }
}

// Of designs that are fast enough, one that needs less of what is spared: a search for the fastest design
// balances its shares of the budget, so the budget is lowered as long as that finds one.
void spare(const Network& network, const Estimator& estimator, const Budget& limits, Objective objective,
           const AllocateOptions& options, Found& found) {
  const Judge judge(limits, objective, options);
  AllocateOptions quick = options;
  quick.nodes /= 8;
  quick.evaluations /= 4;
  for (const double share : {0.85, 0.93, 0.97}) {
    for (;;) {
      const Estimate& best = found.best[size_t(objective)]->estimate;
      const int64_t need = best.resources.*options.sparing;
      if (options.over() || need == 0 || judge.cycles(best) > options.enough_cycles) return;
      Budget less = limits;
      less.resources.*options.sparing = int64_t(double(need) * share);
      const Found own = search(network, estimator, less, quick, objective, true);
      found.evaluated += own.evaluated;
      const auto& candidate = own.best[size_t(objective)];
      if (!candidate || !Judge(less, objective).fits(candidate->estimate) ||
          judge.cycles(candidate->estimate) > options.enough_cycles) {
        break;
      }
      found.take(candidate, judge);
    }
  }
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

ShapeLimits both_limits(const ShapeLimits& a, const ShapeLimits& b) {
  return {smaller_of(*a.least, *b.least), a.none_fits && b.none_fits};
}

// What holds for all designs with one way to make the products of finishes; nothing where that is not known.
ShapeLimits limits_of_all(const Network& network, const Estimator& estimator, const Budget& budget,
                          const AllocateOptions& options) {
  ShapeLimits stages, processors;
  if (options.streaming) stages = stage_limits(network, estimator, budget, options);
  if (options.processors) {
    processors = processor_limits(network, estimator, budget, options);
    // Where no small array is legal, larger ones may be, of which nothing is known.
    if (!processors.least) return {};
  }
  if (options.over()) return {};
  if (!stages.least) return processors;  // there are none
  if (!processors.least) return stages;
  return both_limits(stages, processors);
}

ShapeLimits all_limits(const Network& network, const Estimator& estimator, const Budget& budget,
                       const AllocateOptions& options) {
  std::optional<ShapeLimits> result;
  std::vector<Budget> budgets = {budget};
  if (may_use_tables(network, options)) budgets.push_back(with_tables(budget));
  for (const Budget& own : budgets) {
    const ShapeLimits limits = limits_of_all(network, estimator, own, options);
    if (!limits.least) return {};
    result = result ? both_limits(*result, limits) : limits;
  }
  return *result;
}

[[noreturn]] void report_infeasible(const Network& network, const Estimator& estimator, const Budget& budget,
                                    const AllocationCandidate& nearest, const AllocateOptions& options) {
  Diagnostics diagnostics;
  const std::string enough = enough_budget(network, estimator, budget, nearest, options);
  const Judge judge(budget, Objective::kLatency);
  Estimate least;
  const ShapeLimits limits = all_limits(network, estimator, budget, options);
  if (limits.least) least.resources = *limits.least;
  const std::vector<Shortage> proven = judge.shortages(least);
  for (Shortage item : judge.shortages(nearest.estimate)) {
    const auto same = std::find_if(proven.begin(), proven.end(), [&](const Shortage& s) {
      return std::string_view(s.resource) == item.resource;
    });
    const bool any = same != proven.end();
    if (any) item = *same;
    diagnostics.error(ErrorKind::kInfeasible, "network '" + network.name + "'", item.resource,
                      fmt::format("{} needs {}, the budget has {}: {} too few",
                                  any                ? "any design"
                                  : limits.none_fits ? "no design fits: the smallest design"
                                                     : "the smallest design",
                                  item.need, item.have, item.need - item.have),
                      enough.empty() ? "take a larger device" : "a sufficient budget: " + enough);
  }
  diagnostics.raise_if_any();
  throw Error(ErrorKind::kInternal, "an allocation over its budget without a shortage");
}

// Those that a simulation may find better than the best by estimates, that one first.
std::vector<const AllocationCandidate*> nearest(const std::vector<AllocationCandidate>& all,
                                                const Judge& judge) {
  std::vector<const AllocationCandidate*> order;
  for (const AllocationCandidate& candidate : all) {
    const bool known = std::any_of(order.begin(), order.end(), [&](const AllocationCandidate* other) {
      return other->allocation == candidate.allocation;
    });
    if (!known) order.push_back(&candidate);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](const AllocationCandidate* a, const AllocationCandidate* b) {
                     return judge.better(a->estimate, b->estimate);
                   });
  // An estimate may say that an image leaves before its slowest stage is done with it.
  const auto cycles = [&](const AllocationCandidate& c) {
    const int64_t interval = c.estimate.interval_cycles;
    return judge.objective() == Objective::kLatency ? std::max(c.estimate.latency_cycles, interval)
                                                    : interval;
  };
  const double least = double(cycles(*order.front()));
  const size_t most = order.front()->estimate.latency_cycles < kShortCycles ? kMostNear : kMostNearOfLong;
  std::erase_if(order,
                [&](const AllocationCandidate* c) { return double(cycles(*c)) >= kNearEnough * least; });
  if (order.size() > most) order.resize(most);
  return order;
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
  const bool alone = options.enough_cycles > 0;
  Found found = search(network, estimator, limits, options, objective, alone);
  const auto fits = [&] { return found.best[0] && Judge(limits, objective).fits(found.best[0]->estimate); };
  if (found.best[0] && !fits() && options.logic_share < 1) {
    limits = budget;
    found = search(network, estimator, limits, options, objective, alone);
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
  if (alone) {
    spare(network, estimator, limits, objective, options, found);
  } else {
    add_smaller(network, estimator, limits, options, found);
  }
  const Judge judge(limits, objective);
  const AllocationCandidate& best = *found.best[size_t(objective)];
  const auto result_of = [&](const AllocationCandidate& candidate) {
    AllocationResult result;
    result.allocation = candidate.allocation;
    result.estimate = estimator(result.allocation);
    result.proven_optimal =
        &candidate == &best && result.allocation.streaming && found.stages_proven[size_t(objective)];
    result.evaluated = found.evaluated;
    result.ending = found.ending;
    result.explanation = explain(network, budget, result);
    return result;
  };
  AllocationResult result = result_of(best);
  if (alone) return result;
  // The same designs for both objectives, so that neither misses what the other finds in simulation.
  for (const Objective own : {objective, judge.for_other_objective().objective()}) {
    for (const AllocationCandidate* candidate : nearest(found.all, Judge(limits, own))) {
      const auto same = [&](const AllocationResult& r) { return r.allocation == candidate->allocation; };
      if (same(result) || std::any_of(result.rivals.begin(), result.rivals.end(), same)) continue;
      result.rivals.push_back(result_of(*candidate));
    }
  }
  return result;
}

}  // namespace tilewright::pipeline
