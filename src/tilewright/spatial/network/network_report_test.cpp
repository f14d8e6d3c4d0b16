// Totals, tables, files and comparison of a report with known numbers.
#include "tilewright/spatial/network/network_report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tilewright/base/file.h"
#include "tilewright/spatial/network/network_files.h"
#include "tilewright/spatial/network/network_table.h"
#include "tilewright/spatial/network/report_testing.h"

namespace tilewright {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::filesystem::path test_file(const std::string& name, const std::string& content) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("tilewright_" + std::to_string(::getpid()) + "_" + name);
  write_text_file(path, content);
  return path;
}

TEST(Network, EqualWorkloadsShareAShape) {
  const NetworkReport report = small_report();
  EXPECT_EQ(report.network.shapes.size(), 2u);
  EXPECT_EQ(report.network.layers[2].shape, 0);
  EXPECT_EQ(report.network.occurrences(0), 2);
  EXPECT_EQ(report.network.mapped_macs(), 64 + 128 + 64);
  // Another element width is another workload.
  WorkloadNetwork network;
  network.add("a", "Conv", dense_workload("", 1, 8, 8));
  network.add("b", "Conv", dense_workload("", 1, 8, 8, {4, 8, 32}));
  EXPECT_EQ(network.shapes.size(), 2u);
}

TEST(Network, BatchGrowsTheImagesOfEveryKindOfLayer) {
  EXPECT_EQ(with_batch(dense_workload("d", 2, 8, 4), 3, true), dense_workload("d", 6, 8, 4));
  EXPECT_EQ(with_batch(matmul_workload("m", 5, 8, 4), 3, true), matmul_workload("m", 15, 8, 4));
  EXPECT_EQ(with_batch(batched_matmul_workload("m", 2, 5, 8, 4, false), 3, false),
            batched_matmul_workload("m", 6, 5, 8, 4, false));
  EXPECT_EQ(with_batch(batched_matmul_workload("m", 2, 5, 8, 4, true), 3, true),
            batched_matmul_workload("m", 2, 15, 8, 4, true));
  EXPECT_THROW(with_batch(dense_workload("d", 2, 8, 4), 0, true), Error);
  EXPECT_THROW(with_batch(dense_workload("d", 2, 8, 4), INT64_MAX, true), Error);
}

// The batch of a report is what its layers say.
TEST(Network, BatchIsTheSizeOfNUnlessWeightsHaveIt) {
  ConvShape shape;
  shape.batch = 8;
  EXPECT_EQ(batch_size(conv2d_workload("c", shape)), 8);
  EXPECT_EQ(batch_size(dense_workload("d", 3, 8, 4)), 3);
  EXPECT_EQ(batch_size(matmul_workload("m", 5, 8, 4)), 1);
  // Another tool's names: K channels out, N images.
  Workload other = conv2d_workload("c", shape);
  other.dimensions[size_t(*other.find_dimension("M"))].name = "K";
  EXPECT_EQ(batch_size(other), 8);
  EXPECT_EQ(batch_size(with_batch(other, 2, true)), 16);
  NetworkReport report = small_report();
  report.batch = 8;
  EXPECT_TRUE(has(network_table(report), "batch 8, ")) << network_table(report);
  EXPECT_TRUE(has(report_json(report, {}), "\"batch\": 8"));
  report.batch = 0;
  EXPECT_TRUE(has(network_table(report), "batches of several sizes"));
  EXPECT_TRUE(has(report_json(report, {}), "\"batch\": null"));
}

TEST(NetworkReport, TotalsCountEqualLayersAsOftenAsTheyOccur) {
  const NetworkReport report = small_report();
  const RunTotals one = report.totals(report.runs[0]);
  EXPECT_EQ(one.energy, 640 + 2560 + 640);
  EXPECT_EQ(one.macs, 256);
  EXPECT_EQ(one.cycles, 256);
  EXPECT_EQ(one.arithmetic_energy, 256);
  EXPECT_EQ(one.parts[0][1] + one.parts[1][2] + one.arithmetic_energy, one.energy);
  EXPECT_EQ(one.missing, 0);
  EXPECT_TRUE(one.proven);
  const RunTotals two = report.totals(report.runs[1]);
  EXPECT_EQ(two.missing, 1);
  EXPECT_EQ(two.energy, 1024);
  EXPECT_FALSE(two.proven);
}

TEST(NetworkTable, OneDataflowShowsLayersAndBreakdown) {
  NetworkReport report = small_report();
  report.runs.pop_back();
  report.network.unmapped.push_back({"att", "Einsum", "no loop nest for this operator", 256});
  const std::string text = network_table(report);
  EXPECT_TRUE(has(text, "small on test-array: 4 PEs, batch 1, physical rules, objective energy")) << text;
  EXPECT_TRUE(has(text, "as a")) << text;
  EXPECT_TRUE(has(text, "total of 3")) << text;
  EXPECT_TRUE(has(text, "15.0000")) << text;   // 3840 / 256
  EXPECT_TRUE(has(text, "640.0 ns")) << text;  // 64 cycles at 100 MHz
  EXPECT_TRUE(has(text, "note: node 'att' (Einsum) is left out, 256 MACs")) << text;
  EXPECT_TRUE(has(text, "50.00 % of the model's MACs")) << text;
  EXPECT_TRUE(has(network_table(report, {true}), "a (one):\n    - level: dram\n      temporal: M=8\n"));
}

TEST(NetworkTable, SeveralDataflowsStandSideBySide) {
  const std::string text = network_table(small_report());
  EXPECT_TRUE(has(text, "2 of 3 layers")) << text;
  EXPECT_TRUE(has(text, "note: two cannot run 'b': the buffer holds 3 words, 8 are needed")) << text;
  EXPECT_TRUE(has(text, "1.000")) << text;
}

TEST(ReportFiles, JsonReadsBackAsABaselineOfRatioOne) {
  const NetworkReport report = small_report();
  const auto path = test_file("baseline.json", report_json(report));
  const Baseline baseline = read_baseline(path);
  EXPECT_EQ(baseline.layers.size(), 6u);
  const BaselineComparison same = compare_with_baseline(report, baseline);
  for (const LayerRatio& ratio : same.totals) EXPECT_EQ(ratio.energy, 1);
  EXPECT_TRUE(same.only_here.empty());
  EXPECT_TRUE(same.only_there.empty());
  NetworkReport better = report;
  for (LayerCost& cost : better.runs[0].costs) cost.energy /= 2;
  better.network.layers.pop_back();
  const BaselineComparison changed = compare_with_baseline(better, baseline);
  EXPECT_EQ(changed.totals[0].energy, 0.5);
  EXPECT_EQ(changed.totals[0].cycles, 1);
  EXPECT_EQ(changed.only_there, (std::vector<std::string>{"one: c", "two: c"}));
  EXPECT_TRUE(has(comparison_text(changed, baseline), "all layers")) << comparison_text(changed, baseline);
  better.energy_unit = "pj";
  EXPECT_THROW(compare_with_baseline(better, baseline), Error);
  std::filesystem::remove(path);
}

TEST(ReportFiles, BadBaselinesNameEveryField) {
  const auto no_json = test_file("no.json", "{");
  EXPECT_THROW(read_baseline(no_json), Error);
  const auto wrong = test_file(
      "wrong.json",
      R"({"network": 1, "hardware": "h", "energy_unit": "mac", "runs": [{"layers": [{"energy": "x"}]}, 3]})");
  try {
    read_baseline(wrong);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_GE(error.diagnostics().size(), 5u) << error.what();
  }
  std::filesystem::remove(no_json);
  std::filesystem::remove(wrong);
}

TEST(ReportFiles, CsvHasAsManyFieldsInEveryLine) {
  NetworkReport report = small_report();
  report.network.layers[1].name = "b, \"quoted\"";
  const std::string text = report_csv(report);
  std::vector<size_t> commas;
  size_t count = 0;
  bool inside = false;
  for (const char c : text) {
    if (c == '"') inside = !inside;
    if (c == ',' && !inside) ++count;
    if (c == '\n') commas.push_back(std::exchange(count, 0));
  }
  EXPECT_EQ(commas.size(), 7u);
  for (const size_t fields : commas) EXPECT_EQ(fields, commas[0]) << text;
  EXPECT_TRUE(has(text, "\"b, \"\"quoted\"\"\"")) << text;
}

}  // namespace
}  // namespace tilewright
