#include "tilewright/search/pareto_search.h"

#include <gtest/gtest.h>

#include <set>

#include "tilewright/base/random.h"
#include "tilewright/search/check_tree.h"

namespace tilewright {
namespace {

// One machine of each stage, minimising the sums of N costs.
template <size_t N>
struct Stages {
  using Value = std::array<int64_t, N>;
  using Solution = uint32_t;  // two bits per stage
  struct Node {
    size_t stage = 0;
    uint32_t choice = 0;
    Value sum{};
  };
  std::vector<std::array<Value, 4>> costs;

  static Stages random(int stages, uint64_t seed) {
    Random r(seed);
    Stages s;
    s.costs.resize(size_t(stages));
    for (auto& stage : s.costs) {
      for (Value& machine : stage) {
        for (int64_t& cost : machine) cost = r.between(0, 20);
      }
    }
    return s;
  }
  template <typename Sink>
  void roots(Sink& sink) const {
    sink.branch(bound(Node{}), [] { return Node{}; });
  }
  template <typename Sink>
  void expand(const Node& node, Sink& sink) const {
    for (size_t machine = 0; machine < 4; ++machine) {
      Node child{node.stage + 1, node.choice | uint32_t(machine) << (2 * node.stage), node.sum};
      for (size_t i = 0; i < N; ++i) child.sum[i] += costs[node.stage][machine][i];
      if (child.stage == costs.size()) {
        sink.leaf(child.sum, [&] { return child.choice; });
      } else {
        sink.branch(bound(child), [&] { return child; });
      }
    }
  }
  Value bound(const Node& node) const {
    Value sum = node.sum;
    for (size_t stage = node.stage; stage < costs.size(); ++stage) {
      Value least = costs[stage][0];
      for (const Value& machine : costs[stage]) least = lower(least, machine);
      for (size_t i = 0; i < N; ++i) sum[i] += least[i];
    }
    return sum;
  }
  Value value(uint32_t choice) const {
    Value sum{};
    for (size_t stage = 0; stage < costs.size(); ++stage) {
      for (size_t i = 0; i < N; ++i) sum[i] += costs[stage][choice >> (2 * stage) & 3][i];
    }
    return sum;
  }
};

template <size_t N>
void compare_with_enumeration(uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const int stages = int(seed % 5) + 2;
  const auto problem = Stages<N>::random(stages, seed);
  EXPECT_EQ(check_tree(problem).leaves, int64_t(1) << (2 * stages));
  std::set<typename Stages<N>::Value> all, front;
  for (uint32_t choice = 0; choice < uint32_t(1) << (2 * stages); ++choice) all.insert(problem.value(choice));
  for (const auto& point : all) {
    bool dominated = false;
    for (const auto& other : all) dominated |= other != point && bounds_from_below(other, point);
    if (!dominated) front.insert(point);
  }
  ParetoOptions<Stages<N>> options;
  options.quantum = 8;
  const auto one = pareto_search(problem, options);
  EXPECT_EQ(one.status, SearchStatus::kOptimal);
  std::set<typename Stages<N>::Value> found;
  for (const auto& member : one.front.members()) {
    found.insert(member.point);
    EXPECT_EQ(problem.value(member.payload), member.point);
  }
  EXPECT_EQ(found, front);
  options.threads = 3;
  const auto three = pareto_search(problem, options);
  EXPECT_EQ(three.counts, one.counts);
  ASSERT_EQ(three.front.size(), one.front.size());
  for (size_t i = 0; i < one.front.size(); ++i) {
    EXPECT_EQ(three.front.members()[i].payload, one.front.members()[i].payload);
  }
}

TEST(ParetoSearch, EqualsEnumeration) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    compare_with_enumeration<2>(seed);
    compare_with_enumeration<3>(seed);
  }
}

TEST(ParetoSearch, StopsAtItsLimits) {
  const auto problem = Stages<2>::random(8, 1);
  ParetoOptions<Stages<2>> options;
  options.limits.nodes = 40;
  const auto result = pareto_search(problem, options);
  EXPECT_EQ(result.status, SearchStatus::kFeasible);
  EXPECT_EQ(result.counts.nodes, 40);
  options.limits.nodes = 2;
  EXPECT_EQ(pareto_search(problem, options).status, SearchStatus::kStopped);
}

}  // namespace
}  // namespace tilewright
