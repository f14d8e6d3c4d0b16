#include "tilewright/search/branch_and_bound.h"

#include <gtest/gtest.h>

#include "tilewright/search/search_problems_testing.h"

namespace tilewright {
namespace {

template <typename Problem>
using Options = BranchAndBoundOptions<typename Problem::Solution, typename Problem::Value>;

template <typename Result>
void expect_monotone(const Result& result) {
  ASSERT_FALSE(result.curve.empty());
  EXPECT_EQ(result.curve.back().value, result.end.value);
  for (size_t i = 1; i < result.curve.size(); ++i) {
    const auto &before = result.curve[i - 1], &after = result.curve[i];
    EXPECT_LE(before.seconds, after.seconds);
    EXPECT_LE(before.counts.nodes, after.counts.nodes);
    if (before.value) {
      ASSERT_TRUE(after.value);
      EXPECT_LE(*after.value, *before.value);
    }
    if (before.bound && after.bound) {
      EXPECT_LE(*before.bound, *after.bound);
    }
    if (after.bound && after.value) {
      EXPECT_LE(*after.bound, *after.value);
    }
  }
}

TEST(BranchAndBound, SolvesKnapsacksCheckedAgainstEnumeration) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const Knapsack problem = Knapsack::random(int(seed % 12) + 1, seed);
    Options<Knapsack> options;
    options.checked = true;
    const auto result = branch_and_bound(problem, options);
    EXPECT_EQ(result.status, SearchStatus::kOptimal);
    EXPECT_EQ(result.end.value, problem.brute_force());
    EXPECT_EQ(result.end.bound, result.end.value);
    EXPECT_EQ(result.gap(), 0);
    int64_t profit = 0;
    for (int i = 0; i < problem.items(); ++i)
      profit += (*result.best >> i & 1) ? problem.profits[size_t(i)] : 0;
    EXPECT_EQ(-profit, result.end.value->primary);
    expect_monotone(result);
  }
}

TEST(BranchAndBound, SolvesQuadraticAssignments) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Assignment problem = Assignment::random(7, seed);
    const auto result = branch_and_bound(problem);
    EXPECT_EQ(result.end.value, problem.brute_force()) << "seed " << seed;
    EXPECT_LT(result.end.counts.nodes, 13700) << "nothing was pruned";
  }
}

TEST(BranchAndBound, GivesTheSameAnswerAtAnyThreadCount) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const Assignment problem = Assignment::random(9, seed);
    for (const int64_t nodes : {int64_t(700), SearchLimits::kNone}) {
      Options<Assignment> options;
      options.limits.nodes = nodes;
      options.quantum = 64;
      const auto one = branch_and_bound(problem, options);
      EXPECT_LE(one.end.counts.nodes, nodes);
      for (const int threads : {2, 4}) {
        options.threads = threads;
        const auto many = branch_and_bound(problem, options);
        EXPECT_EQ(many.status, one.status);
        EXPECT_EQ(many.best, one.best);
        EXPECT_EQ(many.end.value, one.end.value);
        EXPECT_EQ(many.end.bound, one.end.bound);
        EXPECT_EQ(many.end.counts, one.end.counts);
        ASSERT_EQ(many.curve.size(), one.curve.size());
        for (size_t i = 0; i < one.curve.size(); ++i) EXPECT_EQ(many.curve[i].counts, one.curve[i].counts);
      }
    }
  }
}

TEST(BranchAndBound, AgreesWhateverLanesQuantumAndMemory) {
  const Assignment problem = Assignment::random(8, 11);
  const int64_t optimum = problem.brute_force();
  for (const int lanes : {1, 3, 16}) {
    for (const int64_t quantum : {1, 50, 100000}) {
      for (const int64_t open : {1, 20, 100000}) {
        Options<Assignment> options;
        options.lanes = lanes;
        options.quantum = quantum;
        options.max_open = open;
        const auto result = branch_and_bound(problem, options);
        EXPECT_EQ(result.status, SearchStatus::kOptimal);
        EXPECT_EQ(result.end.value, optimum) << lanes << " lanes, quantum " << quantum << ", open " << open;
      }
    }
  }
}

TEST(BranchAndBound, StopsAtItsLimitsWithAValidBound) {
  const Assignment problem = Assignment::random(9, 4);
  const int64_t optimum = *branch_and_bound(problem).end.value;
  for (const int64_t limit : {1, 2, 17, 100, 1000}) {
    Options<Assignment> options;
    options.limits.nodes = limit;
    const auto result = branch_and_bound(problem, options);
    EXPECT_EQ(result.end.counts.nodes, limit);
    EXPECT_EQ(result.status, result.best ? SearchStatus::kFeasible : SearchStatus::kStopped);
    EXPECT_LE(*result.end.bound, optimum);
    EXPECT_GE(result.end.value.value_or(optimum), optimum);
    expect_monotone(result);
  }
  Options<Assignment> options;
  options.limits.evaluations = 5;
  const auto result = branch_and_bound(problem, options);
  EXPECT_GE(result.end.counts.evaluations, 5);
  EXPECT_LE(result.end.counts.evaluations, 5 + options.lanes);
  EXPECT_EQ(result.status, SearchStatus::kFeasible);
  EXPECT_GT(result.gap(), 0);
}

TEST(BranchAndBound, StopsInTimeAndWhenToldTo) {
  const Knapsack problem = Knapsack::random(60, 5);
  Options<Knapsack> options;
  options.limits.seconds = 1e-9;
  EXPECT_EQ(branch_and_bound(problem, options).status, SearchStatus::kStopped);
  options.limits.seconds = std::numeric_limits<double>::infinity();
  int calls = 0;
  options.watcher = [&](const SearchPoint<Knapsack::Value>& point, const uint64_t* best) {
    EXPECT_EQ(point.value.has_value(), best != nullptr);
    return ++calls < 2;
  };
  const auto result = branch_and_bound(problem, options);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(result.end.counts.rounds, 2);
}

TEST(BranchAndBound, ProvesThatNothingExists) {
  Knapsack problem = Knapsack::random(5, 1);
  problem.capacity = -1;
  const auto result = branch_and_bound(problem);
  EXPECT_EQ(result.status, SearchStatus::kInfeasible);
  EXPECT_FALSE(result.best || result.end.value || result.end.bound);
}

TEST(BranchAndBound, KeepsAStartingSolutionThatIsOptimalAndReplacesAWorseOne) {
  const Assignment problem = Assignment::random(7, 3);
  const auto optimum = branch_and_bound(problem);
  Options<Assignment> options;
  options.checked = true;
  Assignment::Solution known{};
  options.start = Scored<Assignment::Solution, int64_t>{known, *optimum.end.value};
  const auto kept = branch_and_bound(problem, options);
  EXPECT_EQ(*kept.best, known);
  EXPECT_LT(kept.end.counts.nodes, optimum.end.counts.nodes);
  options.start->value += 1;
  const auto replaced = branch_and_bound(problem, options);
  EXPECT_EQ(replaced.end.value, optimum.end.value);
  EXPECT_NE(*replaced.best, known);
}

// A tree that a hash draws: 0 to 5 children, edges that cost 0 to 3 (many ties), leaves at any depth, dead
// ends, and bounds that are now and then below the parent's.
struct DrawnTree {
  using Value = int64_t;
  using Solution = uint64_t;
  struct Node {
    uint64_t name = 0;
    int depth = 0;
    int64_t cost = 0;
  };
  uint64_t seed = 0;

  template <typename Sink>
  void roots(Sink& sink) const {
    sink.branch(0, [&] { return Node{seed}; });
  }
  template <typename Sink>
  void expand(const Node& node, Sink& sink) const {
    Random random(node.name);
    for (int64_t children = random.between(node.depth < 2 ? 1 : 0, 5); children > 0; --children) {
      const Node child{random.next(), node.depth + 1, node.cost + random.between(0, 3)};
      if (child.depth == 7 || random.chance(0.05)) {
        if (random.chance(0.7)) sink.leaf(child.cost, [&] { return child.name; });
      } else {
        sink.branch(child.cost - random.between(0, 2), [&] { return child; });
      }
    }
  }
};

TEST(BranchAndBound, AgreesWithEnumerationOnDrawnTreesAtAnyThreadCount) {
  int infeasible = 0;
  int64_t pruned = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const DrawnTree problem{seed * 7919};
    Options<DrawnTree> options;
    options.lanes = int(seed % 5) + 1;
    options.quantum = int64_t(seed % 7) * 10 + 1;
    options.max_open = int64_t(seed % 3) * 40 + 1;
    const auto one = branch_and_bound(problem, options);
    EXPECT_EQ(one.end.value, check_tree(problem).best);
    expect_monotone(one);
    Options<DrawnTree> cut = options;
    for (cut.limits.nodes = 1; cut.limits.nodes < one.end.counts.nodes; cut.limits.nodes *= 2) {
      const auto stopped = branch_and_bound(problem, cut);
      expect_monotone(stopped);
      if (stopped.status == SearchStatus::kOptimal) {
        EXPECT_EQ(stopped.end.value, one.end.value);
      }
      if (stopped.end.bound && one.end.value) {
        EXPECT_LE(*stopped.end.bound, *one.end.value);
      }
    }
    // A limit just large enough leaves nothing open.
    cut.lanes = 1;
    cut.limits.nodes = SearchLimits::kNone;
    const auto alone = branch_and_bound(problem, cut);
    cut.limits.nodes = alone.end.counts.nodes;
    EXPECT_EQ(branch_and_bound(problem, cut).status, alone.status);
    infeasible += one.status == SearchStatus::kInfeasible ? 1 : 0;
    pruned += one.end.counts.pruned;
    for (const int threads : {2, 4}) {
      options.threads = threads;
      const auto many = branch_and_bound(problem, options);
      EXPECT_EQ(many.best, one.best);
      EXPECT_EQ(many.end.counts, one.end.counts);
    }
  }
  EXPECT_GT(infeasible, 0);
  EXPECT_GT(pruned, 1000);
}

TEST(BranchAndBound, RefusesOptionsOutOfRangeAllAtOnce) {
  Options<Knapsack> options;
  options.threads = 0;
  options.quantum = -1;
  try {
    branch_and_bound(Knapsack::random(3, 1), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    EXPECT_EQ(error.diagnostics().size(), 2u);
  }
}

TEST(CheckTree, CatchesABoundThatIsTooHigh) {
  Options<Knapsack> options;
  options.checked = true;
  int caught = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Knapsack problem = Knapsack::random(8, seed);
    EXPECT_EQ(check_tree(problem).best, problem.brute_force());
    problem.bound_error = 3;
    try {
      branch_and_bound(problem, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInternal);
      EXPECT_NE(std::string(error.what()).find("is above a leaf below it"), std::string::npos)
          << error.what();
      ++caught;
    }
  }
  EXPECT_EQ(caught, 10);
}

// Items in pairs of equals: taking the second of a pair without the first adds nothing. Bits of the sets of
// both children differ; with `wrong` any child dominates its sibling.
struct PairedChoice {
  using Value = int64_t;
  using Solution = uint32_t;
  struct Node {
    int pair = 0;
    uint32_t set = 0;
    int64_t value = 0;
  };
  std::vector<int64_t> gains;
  bool wrong = false;

  template <typename Sink>
  void roots(Sink& sink) const {
    sink.branch(-1000, [] { return Node{}; });
  }
  template <typename Sink>
  void expand(const Node& node, Sink& sink) const {
    for (uint32_t choice = 0; choice < 4; ++choice) {
      const int64_t value =
          node.value - gains[size_t(node.pair)] * (choice & 1) - gains[size_t(node.pair)] * (choice >> 1);
      const Node child{node.pair + 1, node.set | choice << (2 * node.pair), value};
      if (size_t(child.pair) == gains.size()) {
        sink.leaf(value, [&] { return child.set; });
      } else {
        sink.branch(-1000, [&] { return child; });
      }
    }
  }
  bool dominates(const Node& a, const Node& b) const { return wrong || a.value == b.value; }
};

TEST(BranchAndBound, DropsDominatedChildren) {
  PairedChoice problem{{3, -2, 5, 1, -7, 2}};
  Options<PairedChoice> options;
  options.checked = true;
  const auto result = branch_and_bound(problem, options);
  EXPECT_EQ(result.end.value, -22);
  EXPECT_EQ(result.end.counts.nodes, 1 + 3 + 9 + 27 + 81 + 243);
  problem.wrong = true;
  EXPECT_THROW(branch_and_bound(problem, options), Error);
}

}  // namespace
}  // namespace tilewright
