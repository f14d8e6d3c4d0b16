#include "tilewright/flow/explore/study_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

ExplorationReport made_up() {
  ExplorationReport report;
  report.model = "net";
  report.device = "part";
  for (const int bits : {8, 2}) {
    WidthReport w;
    w.operand_bits = bits;
    w.knobs = {"array", "colour"};
    w.importance = {0.75, 0.25};
    w.macs = 1000000;
    w.fitting = 400;
    w.evaluated = 40;
    for (int i = 0; i < 40; ++i) {
      ExploredCandidate c;
      c.hardware = "w" + std::to_string(bits) + "-" + std::to_string(i);
      const int array = 1 + i % 8;
      c.values = {array, i / 8};
      c.cycles = 1000000 / array;
      c.latency_s = double(c.cycles) / 1e8;
      c.bound_s = c.latency_s / 2;
      c.utilisation = 0.1 * array;
      c.clock_mhz = 100;
      c.lut = 1000 * array;
      c.on_front = i < 8;
      w.candidates.push_back(c);
    }
    report.widths.push_back(w);
  }
  return report;
}

TEST(StudyTables, LearnFromCandidates) {
  const tune::SampleTable table = exploration_table(made_up());
  EXPECT_EQ(table.features, (std::vector<std::string>{"array", "colour", "operand_bits"}));
  EXPECT_EQ(table.samples(), 80u);
  const std::vector<std::string> learnable = learnable_targets(table);
  EXPECT_NE(std::find(learnable.begin(), learnable.end(), "lut"), learnable.end());
  const ImportanceReport report = study_importance(table, {"gops", "lut"}, 1);
  ASSERT_EQ(report.predictions.size(), 2u);
  EXPECT_GT(report.predictions[0].boosted.within, 0.9);
  for (const tune::FeatureImportance& one : report.importance) EXPECT_GT(one.share[0], 0.9);
  const Page page = importance_page(table, report, "page");
  ASSERT_EQ(page.sections.size(), 3u);
  EXPECT_EQ(page.sections[1].charts.at(0).series, (std::vector<std::string>{"w8a8", "w2a2"}));
  ASSERT_GE(page.sections[1].rows.size(), 1u);
  EXPECT_EQ(*page.sections[1].rows[0][0].text(), "array");
  EXPECT_NE(to_string(table, report).find("| gops | 80 (16) |"), std::string::npos)
      << to_string(table, report);
}

TEST(StudyTables, ImplementedRowsKeepOnlyWhatTheFlowCameTo) {
  overlay::ImplementationRow placed, failed;
  placed.targets.fmax_mhz = 50;
  placed.targets.gops = 0.5;
  placed.targets.lut = 900;
  failed = placed;
  failed.failure = overlay::ImplementationFailure::kNotRouted;
  failed.targets.fmax_mhz = failed.targets.gops = 0;
  overlay::ImplementationRow refused;
  refused.failure = overlay::ImplementationFailure::kRefused;
  const tune::SampleTable table = implementation_table({placed, failed, refused});
  table.verify();
  EXPECT_EQ(table.rows_with("fmax"), std::vector<size_t>{0});
  EXPECT_EQ(table.rows_with("lut"), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(table.configurations[0], table.configurations[1]);
  const std::vector<std::string>& features = table.features;
  const size_t products = size_t(std::find(features.begin(), features.end(), "products") - features.begin());
  ASSERT_LT(products, features.size());
  EXPECT_GE(products, features.size() - table.derived);
  EXPECT_EQ(table.rows[products], float(placed.hardware.macs_per_uop()));
  EXPECT_EQ(learnable_targets(table), std::vector<std::string>{}) << "one configuration";
}

TEST(ExplorationReport, ShowsFrontAndWork) {
  const ExplorationReport report = made_up();
  EXPECT_DOUBLE_EQ(report.widths[0].work_saved(), 0.9);
  const std::string text = to_string(report);
  EXPECT_NE(text.find("w2a2: 0 candidates, 400 fit; 40 tuned"), std::string::npos) << text;
  EXPECT_NE(text.find("90.0 % of the work saved"), std::string::npos) << text;
  const Page page = exploration_page(report);
  ASSERT_GE(page.sections.size(), 3u);
  EXPECT_EQ(page.sections[0].rows.size(), 80u);
  EXPECT_EQ(page.sections.back().id, "knobs");
}

// Seven trials of thousands save nothing that is known.
TEST(ExplorationReport, ClaimsNoSavedWorkWhileCandidatesAreLeft) {
  ExplorationReport report = made_up();
  report.widths[0].alive = 300;
  const std::string text = to_string(report);
  EXPECT_EQ(text.find("of the work saved", text.find("w8a8")),
            text.find("of the work saved", text.find("w2a2")))
      << text;
  for (const PageFact& fact : exploration_page(report).facts)
    EXPECT_EQ(fact.name.find("saved"), std::string::npos);
}

// No bars for what trees have not learned.
TEST(StudyTables, NothingLearnedIsSaidInsteadOfDrawn) {
  tune::SampleTable table = exploration_table(made_up());
  for (double& value : table.targets["lut"]) value = 500;
  const ImportanceReport report = study_importance(table, {"lut"}, 1);
  const Page page = importance_page(table, report, "page");
  ASSERT_EQ(page.sections.size(), 2u);
  EXPECT_TRUE(page.sections[1].charts.empty());
  EXPECT_NE(page.sections[1].note.find("Nothing was learned"), std::string::npos);
  EXPECT_NE(importance_bars(table, report.importance, "lut").document().find("nothing was learned"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewright
