// Random networks of all widths on all devices for both objectives: the search finds a design that the
// builder takes and that computes the network, or says what the device is short of.
#include <gtest/gtest.h>

#include "generator_case.h"
#include "support/random_seed_testing.h"
#include "tilewright/flow/design/design_page.h"
#include "tilewright/flow/design/generate.h"

namespace tilewright::pipeline {
namespace {

TEST(GeneratorClass, EveryDesignOfTheSearchIsBuiltAndComputesTheNetwork) {
  GeneratorCounts counts;
  AllocateOptions options;
  options.nodes = 100;
  options.evaluations = 100;
  const int64_t cases = test_cases(3);
  for (int64_t i = 0; i < cases; ++i) {
    GeneratorCase one(test_seed() * 100'000 + uint64_t(i), counts);
    one.run(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / "devices", options);
  }
  RecordProperty("cases", int(counts.networks));
  EXPECT_EQ(counts.failures(), 0) << "seed " << test_seed() << "\n" << counts.first_problem;
  EXPECT_GT(counts.designs, counts.networks);
}

void expect_designs_or_refusals(GraphKind kind) {
  GeneratorCounts counts;
  AllocateOptions options;
  options.nodes = options.evaluations = 20;
  const int64_t cases = test_cases(8);
  for (int64_t i = 0; i < cases; ++i) {
    GeneratorCase one(test_seed() * 100'000 + uint64_t(i), counts, kind);
    one.run(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / "devices", options);
  }
  testing::Test::RecordProperty("cases", int(counts.networks - counts.refused));
  EXPECT_EQ(counts.failures(), 0) << "seed " << test_seed() << "\n" << counts.first_problem;
}

TEST(GeneratorClass, UnusualGraphsAreComputedOrRefused) { expect_designs_or_refusals(GraphKind::kUnusual); }
TEST(GeneratorClass, BranchesAndMovedElementsAreComputedOrRefused) {
  expect_designs_or_refusals(GraphKind::kBranchy);
}

// Of a page's roofline; returns how many marks it has.
size_t expect_marks_below_the_roof(const Page& page) {
  size_t marks = 0;
  for (const PageSection& section : page.sections) {
    const auto column = [&](const std::string& id) {
      size_t at = 0;
      while (section.columns.at(at).id != id) ++at;
      return at;
    };
    for (const PageChart& chart : section.charts) {
      if (chart.kind != PageChartKind::kRoofline) continue;
      const auto expect_below = [&](const double* intensity, const double* rate, const std::string& what) {
        if (intensity == nullptr || rate == nullptr) return;
        ++marks;
        const double roof =
            std::min(chart.values.at("macs_per_cycle"), *intensity * chart.values.at("bytes_per_cycle"));
        EXPECT_LE(*rate, roof * 1.001) << what;
      };
      for (const auto& row : section.rows) {
        expect_below(row[column(chart.columns.at("x"))].number(), row[column(chart.columns.at("y"))].number(),
                     *row[column("layer")].text());
      }
      if (chart.values.contains("whole_x")) {
        expect_below(&chart.values.at("whole_x"), &chart.values.at("whole_y"), "the whole design");
      }
    }
  }
  return marks;
}

// In simulated cycles, as the report states them; and the report's roofline has no mark above its roof.
TEST(GenerateClass, NoObjectiveIsBeatenByTheOtherAndNoMarkIsAboveTheRoof) {
  const int64_t cases = test_cases(3);
  int64_t compared = 0;
  size_t marks = 0;
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = test_seed() * 100'000 + 50'000 + uint64_t(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = drawn_graph(seed);
    GenerateRequest request;
    request.device = find_device(i % 2 == 0 ? "xc7z020" : "f1-vu9p",
                                 std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / "devices");
    request.budget = device_budget(request.device);
    request.allocate.nodes = request.allocate.evaluations = 100;
    std::vector<DesignReport> reports;
    for (const Objective objective : {Objective::kLatency, Objective::kThroughput}) {
      request.objective = objective;
      try {
        reports.push_back(generate(graph, request).report);
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::kInfeasible) << error.what();
      }
    }
    if (reports.size() != 2) continue;
    ++compared;
    EXPECT_LE(reports[0].cycles(), reports[1].cycles());
    EXPECT_LE(reports[1].interval(), reports[0].interval());
    for (const DesignReport& report : reports) {
      marks += expect_marks_below_the_roof(design_page(report));
    }
  }
  EXPECT_TRUE(compared == 0 || marks > 0);
  RecordProperty("cases", int(compared));
}

}  // namespace
}  // namespace tilewright::pipeline
