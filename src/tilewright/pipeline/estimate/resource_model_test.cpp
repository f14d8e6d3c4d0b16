#include "tilewright/pipeline/estimate/resource_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "support/pipeline/measured_runs_testing.h"
#include "tilewright/pipeline/estimate/estimate.h"
#include "tilewright/pipeline/estimate/resource_features.h"
#include "tilewright/synthesis/memory_cells.h"

namespace tilewright::pipeline {
namespace {

std::vector<MeasuredRun> measured() {
  return read_measured_runs(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "bench" / "pipeline_calibration" /
                            "measured.txt");
}

double error_percent(int64_t estimate, int64_t count) {
  return 100 * std::abs(double(estimate - count)) / double(std::max<int64_t>(1, count));
}

ErrorBand band(std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  const auto quantile = [&](double share) { return errors[size_t(share * double(errors.size() - 1) + 0.5)]; };
  return {quantile(0.5), quantile(0.9), errors.back()};
}

void expect_band(const ErrorBand& stated, const std::vector<double>& errors, const char* what) {
  ASSERT_FALSE(errors.empty());
  const ErrorBand found = band(errors);
  EXPECT_NEAR(stated.median_percent, found.median_percent, 0.2) << what;
  EXPECT_NEAR(stated.nine_of_ten_percent, found.nine_of_ten_percent, 0.2) << what;
  EXPECT_NEAR(stated.worst_percent, found.worst_percent, 0.2) << what;
}

// The band that designs are printed with is that of the runs kept from the fit: a table that was fitted to
// other runs, or by hand, has another one.
TEST(ResourceModel, StatesTheErrorsOfTheRunsKeptFromTheFit) {
  using synthesis::DeviceFamily;
  for (const auto family :
       {DeviceFamily::kXc7, DeviceFamily::kXcup, DeviceFamily::kEcp5, DeviceFamily::kIce40}) {
    std::vector<double> lut, ff;
    int64_t components = 0;
    for (const MeasuredRun& run : measured()) {
      if (run.family != family || !held_out(run)) continue;
      if (run.component == "rom_walker" && run.counted.lut <= 1) continue;
      ++components;
      const synthesis::Resources e = component_resources(run.component, run.parameters, run.family);
      if (run.counted.lut >= 50) lut.push_back(error_percent(e.lut, run.counted.lut));
      if (run.counted.ff >= 50) ff.push_back(error_percent(e.ff, run.counted.ff));
    }
    EXPECT_EQ(error_band(family).components, components);
    expect_band(error_band(family).lut, lut, "LUT");
    expect_band(error_band(family).ff, ff, "FF");
    EXPECT_LE(error_band(family).lut.median_percent, family == DeviceFamily::kEcp5 ? 20 : 10);
    EXPECT_LE(error_band(family).ff.median_percent, 5);
  }
}

TEST(ResourceModel, CountsTheBlocksOfNearlyAllMeasuredComponents) {
  const std::vector<MeasuredRun> runs = measured();
  ASSERT_GE(runs.size(), 390u);
  int64_t off = 0;
  for (const MeasuredRun& run : runs) {
    const synthesis::Resources e = component_resources(run.component, run.parameters, run.family);
    // Of constants, columns that say the same in every word vanish, which the sizes do not say; and memories
    // of several blocks one after the other end in a smaller one.
    if (5 * e.bram > 6 * run.counted.bram) ++off;
    EXPECT_LE(run.counted.bram, e.bram) << run.configuration;
    if (run.component != "rom_walker") {
      EXPECT_EQ(e.bram, run.counted.bram) << run.configuration;
    }
    EXPECT_EQ(e.dsp, run.counted.dsp) << run.configuration;
    EXPECT_EQ(e.uram, run.counted.uram) << run.configuration;
  }
  EXPECT_LE(off, 4);
}

TEST(ResourceModel, EveryComponentWasMeasured) {
  std::set<std::string> seen;
  for (const MeasuredRun& run : measured()) {
    seen.insert(run.component + " " + synthesis::family_name(run.family));
  }
  for (const std::string& name : modelled_components()) {
    EXPECT_EQ(seen.count(name + " xc7"), 1u) << name;
    EXPECT_EQ(seen.count(name + " xcup"), 1u) << name;
    EXPECT_EQ(seen.count(name + " ice40"), 1u) << name;
  }
}

TEST(MeasuredRuns, RefuseOtherLines) {
  const MeasuredRun run = parse_measured_run("stream_fork xcup WIDTH=8 lut=6 ff=10 dsp=0 bram=0 uram=0");
  EXPECT_EQ(run.family, synthesis::DeviceFamily::kXcup);
  EXPECT_EQ(run.configuration, "stream_fork xcup WIDTH=8");
  EXPECT_EQ(run.counted.ff, 10);
  for (const char* line : {"stream_fork ice4 WIDTH=8 lut=6 ff=10 dsp=0 bram=0 uram=0",
                           "stream_fork xcup WIDTH lut=6 ff=10 dsp=0 bram=0 uram=0",
                           "stream_fork xcup WIDTH=8 lut=six ff=10 dsp=0 bram=0 uram=0",
                           "stream_fork xcup WIDTH=8 lut=6 ff=10"}) {
    EXPECT_THROW(parse_measured_run(line), Error) << line;
  }
}

TEST(ResourceModel, MemoriesTakeWholeCells) {
  EXPECT_EQ(synthesis::block_rams(512, 36), 1);
  EXPECT_EQ(synthesis::block_rams(513, 36), 2);
  EXPECT_EQ(synthesis::block_rams(16384, 1), 1);
  EXPECT_EQ(synthesis::block_rams(2048, 9), 1);
  EXPECT_EQ(synthesis::block_rams(2048, 10), 2);
  EXPECT_EQ(synthesis::block_rams(0, 8), 0);
  EXPECT_EQ(synthesis::ultra_rams(4096, 72), 1);
  EXPECT_EQ(synthesis::ultra_rams(4097, 73), 4);
  EXPECT_EQ(synthesis::ultra_rams(25395, 8), 1);
  EXPECT_EQ(synthesis::ultra_rams(2646, 64), 1);
  EXPECT_EQ(synthesis::block_ram_rows(512, 72), 1);
  EXPECT_EQ(synthesis::block_ram_rows(40000, 1), 3);
  using synthesis::DeviceFamily;
  EXPECT_EQ(synthesis::lut_rams(32, 6, DeviceFamily::kXc7), 4);
  EXPECT_EQ(synthesis::lut_rams(64, 3, DeviceFamily::kXc7), 4);
  EXPECT_EQ(synthesis::lut_rams(32, 14, DeviceFamily::kXcup), 8);
  EXPECT_EQ(synthesis::lut_rams(64, 8, DeviceFamily::kXcup), 16);
  // As Yosys cuts them: a little more than the fewest cells where that spares rows.
  EXPECT_EQ(synthesis::block_rams(2747, 64, DeviceFamily::kIce40), 48);
  EXPECT_EQ(synthesis::block_rams(3101, 32, DeviceFamily::kIce40), 26);
}

TEST(ResourceModel, EveryModelHasItsWeights) {
  for (const auto family : {synthesis::DeviceFamily::kXc7, synthesis::DeviceFamily::kXcup,
                            synthesis::DeviceFamily::kEcp5, synthesis::DeviceFamily::kIce40}) {
    for (const std::string& name : modelled_forms()) {
      EXPECT_FALSE(resource_coefficients(name, family).lut.empty()) << name;
      EXPECT_FALSE(resource_coefficients(name, family).ff.empty()) << name;
    }
    EXPECT_TRUE(resource_coefficients("no_such_component", family).lut.empty());
  }
}

}  // namespace
}  // namespace tilewright::pipeline
