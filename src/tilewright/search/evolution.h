// A steady-state genetic algorithm on islands, one per lane: parents by tournament, a child by crossover and
// mutation replaces the worst of its island if it is better and new; every few rounds each island's best
// emigrates to the next one. An island on which nothing changes any more keeps its best and starts again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/search/space.h"

namespace tilewright {

template <typename Solution, typename Value>
struct EvolutionOptions : SamplingOptions<Solution, Value> {
  int population = 32;          // solutions of an island, at least 2
  int tournament = 3;           // drawn per parent; the best of them becomes it
  double crossover_rate = 0.8;  // otherwise a child is a mutated copy
  double mutation_rate = 0.3;   // of a crossed child
  int migration_rounds = 8;     // rounds between two emigrations
  int stagnation_children =
      512;  // children in a row without a replacement after which an island starts again

  void verify() const {
    SamplingOptions<Solution, Value>::verify();
    Diagnostics problems;
    const auto refuse = [&](bool bad, const char* field, const char* message) {
      if (bad) problems.error(ErrorKind::kInvalidInput, "evolution options", field, message);
    };
    refuse(population < 2, "population", "must be at least 2");
    refuse(tournament <= 0, "tournament", "must be positive");
    refuse(!(crossover_rate >= 0 && crossover_rate <= 1), "crossover_rate", "must be between 0 and 1");
    refuse(!(mutation_rate >= 0 && mutation_rate <= 1), "mutation_rate", "must be between 0 and 1");
    refuse(migration_rounds <= 0, "migration_rounds", "must be positive");
    refuse(stagnation_children <= 0, "stagnation_children", "must be positive");
    problems.raise_if_any();
  }
};

template <EvolvableSpace S>
class Island {
 public:
  using Solution = typename S::Solution;
  using Value = typename S::Value;
  using Member = Scored<Solution, Value>;
  using Options = EvolutionOptions<Solution, Value>;

  Island(const S& space, const Options& options, uint64_t seed)
      : space_(&space), options_(&options), random_(seed) {
    if (options.start) members_.push_back(*options.start);
  }

  void advance(LaneEvaluator<S>& evaluator) {
    do {
      Solution child = full() ? breed() : space_->sample(random_);
      const bool bred = full();
      const auto value = evaluator.evaluate(child);
      const bool entered = value && admit(Member{std::move(child), *value});
      if (!bred) continue;
      stagnant_ = entered ? 0 : stagnant_ + 1;
      if (stagnant_ >= options_->stagnation_children) start_again();
    } while (evaluator.more());
  }

  std::optional<Member> best() const {
    if (members_.empty()) return std::nullopt;
    return *std::min_element(members_.begin(), members_.end(), better);
  }
  // Adds a member, or replaces the worst, if the new one is not a duplicate and better than that. Returns
  // whether it did.
  bool admit(Member member) {
    for (const Member& other : members_) {
      if (other.value == member.value && other.solution == member.solution) return false;
    }
    if (!full()) {
      members_.push_back(std::move(member));
      return true;
    }
    const auto worst = std::max_element(members_.begin(), members_.end(), better);
    if (!(member.value < worst->value)) return false;
    *worst = std::move(member);
    return true;
  }

 private:
  static bool better(const Member& a, const Member& b) { return a.value < b.value; }
  bool full() const { return members_.size() == size_t(options_->population); }

  const Member& parent() {
    const auto draw = [&]() -> const Member& {
      return members_[size_t(random_.between(0, int64_t(members_.size()) - 1))];
    };
    const Member* best = &draw();
    for (int i = 1; i < options_->tournament; ++i) {
      const Member& other = draw();
      if (other.value < best->value) best = &other;
    }
    return *best;
  }

  Solution breed() {
    const Member& a = parent();
    if (!random_.chance(options_->crossover_rate)) return space_->neighbour(a.solution, random_);
    Solution child = space_->crossover(a.solution, parent().solution, random_);
    return random_.chance(options_->mutation_rate) ? space_->neighbour(child, random_) : child;
  }

  void start_again() {
    stagnant_ = 0;
    const Member kept = *best();
    members_.assign(1, kept);
  }

  const S* space_;
  const Options* options_;
  Random random_;
  std::vector<Member> members_;
  int stagnant_ = 0;
};

// The best solution that any island met. Throws an Error (invalid input) for options out of range.
template <EvolvableSpace S>
SamplingResultOf<S> evolve(const S& space,
                           const EvolutionOptions<typename S::Solution, typename S::Value>& options) {
  options.verify();
  std::vector<Island<S>> islands;
  for (uint64_t seed : lane_seeds(options.seed, options.lanes)) islands.emplace_back(space, options, seed);
  int rounds = 0;
  const auto migrate = [&](const auto&) {
    if (++rounds % options.migration_rounds != 0) return;
    std::vector<std::optional<typename Island<S>::Member>> emigrants;
    for (const Island<S>& island : islands) emigrants.push_back(island.best());
    for (size_t i = 0; i < islands.size(); ++i) {
      if (emigrants[i]) islands[(i + 1) % islands.size()].admit(std::move(*emigrants[i]));
    }
  };
  return SamplingRun<S>(space, options)
      .run([&](int64_t i, LaneEvaluator<S>& evaluator) { islands[size_t(i)].advance(evaluator); }, migrate);
}

}  // namespace tilewright
