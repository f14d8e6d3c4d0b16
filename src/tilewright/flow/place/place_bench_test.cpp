#include "tilewright/flow/place/place_bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "tilewright/cgra/graph/graph_file.h"

namespace tilewright {
namespace {

constexpr double kSecondsEach = 1e-5;  // of the stand-in for a policy

// Finds nothing, and takes as long as so many evaluations are to take.
cgra::MappingResult find_nothing(const cgra::MappingProblem&, const cgra::GraphMapperOptions& options) {
  cgra::MappingResult result;
  result.counts.evaluations = options.limits.evaluations;
  const double seconds = kSecondsEach * double(std::min<int64_t>(options.limits.evaluations, 50000));
  for (const std::clock_t start = std::clock(); double(std::clock() - start) < seconds * CLOCKS_PER_SEC;) {
  }
  return result;
}

PlaceBenchRequest request(std::initializer_list<std::pair<const char*, int>> graphs) {
  PlaceBenchRequest made;
  for (const auto& [name, ii] : graphs) {
    cgra::MappingProblem problem;
    problem.graph =
        cgra::read_graph_file(std::string(TILEWRIGHT_SOURCE_DIR) + "/models/cgra/" + name + ".json").graph;
    problem.fabric = find_fabric("streaming-engine", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
    problem.ii = ii;
    problem.rules = cgra::usual_rules(problem.fabric);
    made.graphs.push_back({name, problem});
  }
  made.policy = {"policy", "", find_nothing};
  made.evaluations = {20, 50};
  made.processor_seconds = 0.005;
  made.seeds = 2;
  return made;
}

TEST(PlaceBench, EveryMethodHasEveryBudgetOnEveryGraph) {
  const PlaceBenchRequest asked = request({{"vector_add", 2}, {"multiply_add", 2}});
  const PlaceBenchReport report = bench_methods(asked);
  std::map<std::string, int> reference;
  ASSERT_EQ(report.graphs.size(), 2u);
  for (const BenchReference& graph : report.graphs) {
    ASSERT_TRUE(graph.proven) << graph.graph;
    EXPECT_GT(graph.makespan, 1);
    EXPECT_EQ(graph.reference, graph.makespan);
    reference[graph.graph] = graph.reference;
  }
  using Counts = std::map<std::pair<std::string, std::string>, int>;
  Counts runs, missing, optimal;
  std::map<std::pair<std::string, std::string>, double> gaps;
  for (const BenchRun& run : report.runs) {
    const std::pair key{run.method, run.budget};
    ++runs[key];
    missing[key] += run.makespan == 0;
    optimal[key] += run.makespan == reference.at(run.graph);
    gaps[key] += run.gap;
    const bool draws = run.method != "exact" && run.method != "list" && run.method != "branch-and-bound";
    EXPECT_LT(run.seed, draws ? 2u : 1u) << run.method;
    EXPECT_GE(run.processor_seconds, 0);
    const double expected = double(run.makespan) / reference.at(run.graph) - 1;
    EXPECT_NEAR(run.gap, run.makespan == 0 ? 1 : expected, 1e-12) << run.method;
    if (draws && run.budget != "time") {
      EXPECT_LE(run.evaluations, std::stoll(run.budget));
    }
    EXPECT_GE(run.evaluations, run.method == "policy" ? 1 : 0);
  }
  Counts expected{{{"exact", "own"}, 2}};
  for (const char* budget : {"20", "50", "time"}) {
    for (const char* method : {"random", "annealing", "evolution", "policy"}) expected[{method, budget}] = 4;
    for (const char* method : {"list", "branch-and-bound"}) expected[{method, budget}] = 2;
  }
  EXPECT_EQ(runs, expected);
  EXPECT_EQ(missing.at({"policy", "20"}), 4);
  ASSERT_EQ(report.summary.size(), expected.size());
  for (const BenchSummary& row : report.summary) {
    const std::pair key{row.method, row.budget};
    EXPECT_EQ(row.runs, runs.at(key));
    EXPECT_EQ(row.missing, missing.at(key)) << row.method;
    EXPECT_EQ(row.at_reference, optimal.at(key)) << row.method;
    EXPECT_NEAR(row.gap, gaps.at(key) / row.runs, 1e-12);
  }
}

TEST(PlaceBench, TablesQuoteNames) {
  PlaceBenchReport report;
  report.runs = {{"annealing", "a \"b\", c", "20", 3, 7, 0.25, 20, 0.5},
                 {"policy", "d", "time", 0, 0, 1, 9, 0.125}};
  EXPECT_EQ(bench_csv(report),
            "method,graph,budget,seed,makespan_cycles,gap,evaluations,processor_seconds\n"
            "annealing,\"a \"\"b\"\", c\",20,3,7,0.250000,20,0.500000\n"
            "policy,\"d\",time,0,,1.000000,9,0.125000\n");
}

// A budget of time is filled: of the 20,000 evaluations of the stand-in that fit, most are taken. Where the
// processor time of a process is limited its clock is coarse, and a machine may be taken away for a moment:
// both make a pilot look slow.
TEST(PlaceBench, TimeIsFilled) {
  PlaceBenchRequest asked = request({{"vector_add", 2}});
  asked.evaluations = {};
  asked.seeds = 1;
  asked.processor_seconds = 0.2;
  int64_t most = 0;
  for (int tries = 0; tries < 5 && most <= 10000; ++tries) {
    for (const BenchRun& run : bench_methods(asked).runs) {
      if (run.method == "policy") most = std::max(most, run.evaluations);
    }
  }
  EXPECT_GT(most, 10000);
  EXPECT_LE(most, 20000);
}

// Without time for the exact mapper, gaps are relative to what is proven of the shortest mapping.
TEST(PlaceBench, GapsAreOverABoundWhereNoOptimumIsKnown) {
  PlaceBenchRequest asked = request({{"ifft", 6}});
  asked.most_seconds = 1e-9;
  asked.evaluations = {20};
  asked.seeds = 1;
  const PlaceBenchReport report = bench_methods(asked);
  ASSERT_EQ(report.graphs.size(), 1u);
  EXPECT_FALSE(report.graphs[0].proven);
  EXPECT_EQ(report.graphs[0].makespan, 0);
  EXPECT_GE(report.graphs[0].reference, 1);
  EXPECT_EQ(report.runs[0].method, "exact");
  EXPECT_EQ(report.runs[0].gap, 1);
  for (const BenchRun& run : report.runs) EXPECT_GE(run.gap, 0) << run.method;
}

}  // namespace
}  // namespace tilewright
