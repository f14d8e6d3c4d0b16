// Samples are independent, of a few orders of the nodes in turn; the beam keeps the partial placements of
// least bound, then of greatest probability, of all continuations at once.
#include "tilewright/cgra/learn/policy_mapper.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/cgra/route/route_places.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cgra {
namespace {

PlacementModel checked_model(const MappingProblem& problem, const Deadline& deadline) {
  Diagnostics diagnostics;
  problem.verify(diagnostics);
  diagnostics.raise_if_any();
  return compile_model(problem, &deadline);
}

PlacementInstance compile_instance(const MappingProblem& problem, const Deadline& deadline) {
  return compile_instance(checked_model(problem, deadline), PlacementOrder::kLongestTail);
}

// One order of the nodes with all that depends on it. Stays where it is: the environment refers to the
// instance.
struct Ordered {
  PlacementInstance instance;
  EncodedGraph graph;
  PlacementEnvironment environment;

  Ordered(const PolicyWeights& weights, PlacementInstance made)
      : instance(std::move(made)), graph(encode_graph(weights, instance)), environment(instance, {}) {}
  Ordered(const Ordered&) = delete;
  Ordered& operator=(const Ordered&) = delete;
};

// Orders in turn, each compiled when it is first asked for.
class Orders {
 public:
  Orders(const PolicyWeights& weights, const MappingProblem& problem, const Deadline& deadline, uint64_t seed)
      : weights_(&weights), model_(checked_model(problem, deadline)), random_(seed) {}

  Ordered& of_turn(int64_t turn) {
    const size_t at = size_t(turn) % kSampleOrders;
    if (at == made_.size()) {
      std::vector<int> later;
      for (int node = 0; at > 0 && node < model_.nodes; ++node)
        later.push_back(int(random_.between(0, kOrderNoiseCycles)));
      made_.push_back(std::make_unique<Ordered>(
          *weights_, compile_instance(model_, PlacementOrder::kLongestTail, later)));
    }
    return *made_[at];
  }

 private:
  const PolicyWeights* weights_;
  PlacementModel model_;
  Random random_;
  std::vector<std::unique_ptr<Ordered>> made_;
};

// Takes placements one by one and keeps the shortest that can be routed.
class Collector {
 public:
  Collector(const MappingProblem& problem, const Deadline& deadline)
      : problem_(&problem), deadline_(deadline), watch_(deadline) {}
  void bound(int least_makespan) { result_.lower_bound = least_makespan; }
  bool ended() { return result_.makespan == result_.lower_bound || watch_.expired(); }
  MappingResult& result() { return result_; }

  void offer(const PlacementEnvironment& environment) {
    ++result_.counts.evaluations;
    if (!environment.complete()) return;
    ++result_.counts.valid;
    if (result_.mapping && environment.makespan() >= result_.makespan) return;
    GraphMapping mapping{.ii = problem_->ii, .places = environment.places(), .routes = {}};
    if (problem_->rules.routed) {
      RoutingResult routes = route_places(*problem_, mapping, {.deadline = &deadline_});
      if (routes.status != SearchStatus::kFeasible) return;
      mapping.routes = std::move(routes.routes);
    }
    result_.mapping = std::move(mapping);
    result_.makespan = environment.makespan();
    record();
  }

  MappingResult finish() {
    result_.seconds = deadline_.seconds();
    result_.ending = deadline_.ending();
    if (result_.mapping) {
      result_.status =
          result_.makespan == result_.lower_bound ? SearchStatus::kOptimal : SearchStatus::kFeasible;
    }
    drop_if_invalid(*problem_, result_);
    record();
    return std::move(result_);
  }

 private:
  void record() {
    SearchPoint<int> point{deadline_.seconds(), result_.counts, {}, result_.lower_bound};
    if (result_.mapping) point.value = result_.makespan;
    result_.curve.push_back(point);
  }

  const MappingProblem* problem_;
  const Deadline& deadline_;
  DeadlineWatch watch_;
  MappingResult result_;
};

// What `search` gives to the collector by the time it ends, or the time does.
MappingResult collect(const MappingProblem& problem, const GraphMapperOptions& options,
                      const std::function<void(const Deadline&, Collector&)>& search) {
  const Deadline deadline(options.limits.seconds, options.limits.deadline);
  Collector collector(problem, deadline);
  finishes(deadline, [&] { search(deadline, collector); });
  return collector.finish();
}

// Plays episodes with `choose` until a limit, each in the environment of its turn.
void sample(Collector& collector, int64_t samples,
            const std::function<PlacementEnvironment&(int64_t)>& environment_of,
            const std::function<int(const PlacementEnvironment&, int64_t)>& choose) {
  for (int64_t i = 0; i < samples && !collector.ended(); ++i) {
    PlacementEnvironment& environment = environment_of(i);
    environment.reset();
    while (!environment.done() && !collector.ended()) {
      environment.step(choose(environment, i));
      ++collector.result().counts.nodes;
    }
    collector.offer(environment);
  }
}

int64_t wanted_samples(const GraphMapperOptions& options, int64_t usual) {
  if (options.limits.evaluations != SearchLimits::kNone) return options.limits.evaluations;
  return options.limits.timed() ? SearchLimits::kNone : usual;
}

struct Partial {
  PlacementEnvironment environment;
  double log_probability = 0;
};
struct Continuation {
  size_t partial = 0;
  int row = 0, bound = 0;
  double log_probability = 0;
  bool operator<(const Continuation& other) const {
    return bound != other.bound ? bound < other.bound : log_probability > other.log_probability;
  }
};

void beam(const PolicyWeights& weights, const PlacementInstance& instance, int width, Collector& collector) {
  const EncodedGraph graph = encode_graph(weights, instance);
  std::vector<Partial> front{{PlacementEnvironment(instance, {}), 0}};
  PolicyOutput output;
  while (!front.empty() && !collector.ended()) {
    std::vector<Continuation> all;
    for (size_t i = 0; i < front.size() && !collector.ended(); ++i) {
      const PlacementEnvironment& environment = front[i].environment;
      if (environment.done()) {
        collector.offer(environment);
        continue;
      }
      evaluate_policy(weights, graph, environment, 1, output);
      ++collector.result().counts.nodes;
      const int16_t* added = environment.action_features() + kBound * environment.rows();
      for (int row = 0; row < environment.rows(); ++row) {
        const float share = output.probabilities[size_t(row)];
        if (share > 0) {
          all.push_back(
              {i, row, environment.bound() + added[row], front[i].log_probability + std::log(double(share))});
        }
      }
    }
    const size_t kept = std::min(all.size(), size_t(width));
    std::partial_sort(all.begin(), all.begin() + std::ptrdiff_t(kept), all.end());
    std::vector<Partial> next;
    next.reserve(kept);
    for (size_t i = 0; i < kept; ++i) {
      next.push_back({front[all[i].partial].environment, all[i].log_probability});
      next.back().environment.step(all[i].row);
    }
    front = std::move(next);
  }
}

}  // namespace

MappingResult map_with_policy(const PolicyWeights& weights, const MappingProblem& problem,
                              const GraphMapperOptions& options, const PolicySearchOptions& search) {
  return collect(problem, options, [&](const Deadline& deadline, Collector& collector) {
    if (search.beam > 0) {
      const PlacementInstance instance = compile_instance(problem, deadline);
      collector.bound(instance.bound);
      return beam(weights, instance, search.beam, collector);
    }
    Orders orders(weights, problem, deadline, options.seed);
    Random random(options.seed);
    PolicyOutput output;
    // A block of turns takes each order once; the next block shifts the temperatures against the orders.
    const auto temperature = [](int64_t turn) {
      return kSampleTemperatures[(turn + turn / kSampleOrders) % std::ssize(kSampleTemperatures)];
    };
    collector.bound(orders.of_turn(0).instance.bound);
    sample(
        collector, wanted_samples(options, search.samples),
        [&](int64_t turn) -> PlacementEnvironment& { return orders.of_turn(turn).environment; },
        [&](const PlacementEnvironment& environment, int64_t turn) {
          evaluate_policy(weights, orders.of_turn(turn).graph, environment, temperature(turn), output);
          return draw_row(output, random);
        });
  });
}

MappingResult map_with_random_actions(const MappingProblem& problem, const GraphMapperOptions& options) {
  return collect(problem, options, [&](const Deadline& deadline, Collector& collector) {
    const PlacementInstance instance = compile_instance(problem, deadline);
    collector.bound(instance.bound);
    PlacementEnvironment environment(instance, {});
    Random random(options.seed);
    sample(
        collector, wanted_samples(options, 1), [&](int64_t) -> PlacementEnvironment& { return environment; },
        [&](const PlacementEnvironment& played, int64_t) { return played.random_row(random); });
  });
}

}  // namespace tilewright::cgra
