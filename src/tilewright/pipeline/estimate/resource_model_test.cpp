#include "tilewright/pipeline/estimate/resource_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tilewright/pipeline/estimate/estimate.h"
#include "tilewright/pipeline/estimate/memory_cells.h"
#include "tilewright/pipeline/estimate/resource_features.h"

namespace tilewright::pipeline {
namespace {

struct MeasuredRun {
  std::string component, line;
  synthesis::DeviceFamily family = synthesis::DeviceFamily::kXc7;
  netlist::Parameters parameters;
  synthesis::Resources counted;
};

std::vector<MeasuredRun> measured() {
  const std::filesystem::path file =
      std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "bench" / "pipeline_calibration" / "measured.txt";
  std::ifstream in(file);
  std::vector<MeasuredRun> runs;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    MeasuredRun run;
    run.line = line;
    std::istringstream words(line);
    std::string family, item;
    words >> run.component >> family;
    if (family == "xcup") run.family = synthesis::DeviceFamily::kXcup;
    while (words >> item) {
      const size_t equals = item.find('=');
      const std::string name = item.substr(0, equals), value = item.substr(equals + 1);
      const bool number = value.find_first_not_of("-0123456789") == std::string::npos;
      if (name == "lut")
        run.counted.lut = std::stoll(value);
      else if (name == "ff")
        run.counted.ff = std::stoll(value);
      else if (name == "dsp")
        run.counted.dsp = std::stoll(value);
      else if (name == "bram")
        run.counted.bram = std::stoll(value);
      else if (name == "uram")
        run.counted.uram = std::stoll(value);
      else if (number)
        run.parameters[name] = int64_t(std::stoll(value));
      else
        run.parameters[name] = value;
    }
    runs.push_back(run);
  }
  return runs;
}

TEST(ResourceModel, MeetsTheMeasuredComponents) {
  const std::vector<MeasuredRun> runs = measured();
  ASSERT_GE(runs.size(), 30u);
  std::vector<double> errors;
  for (const MeasuredRun& run : runs) {
    const synthesis::Resources e = component_resources(run.component, run.parameters, run.family);
    EXPECT_EQ(e.dsp, run.counted.dsp) << run.line;
    EXPECT_EQ(e.bram, run.counted.bram) << run.line;
    EXPECT_EQ(e.uram, run.counted.uram) << run.line;
    for (const auto& [estimate, count] : {std::pair{e.lut, run.counted.lut}, {e.ff, run.counted.ff}}) {
      errors.push_back(std::abs(double(estimate - count)) / double(std::max<int64_t>(1, count)));
      EXPECT_LE(std::abs(double(estimate - count)), 20 + 0.3 * double(count))
          << run.line << ", estimated " << estimate;
    }
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LE(errors[errors.size() / 2], 0.06);
}

TEST(ResourceModel, MemoriesTakeWholeCells) {
  EXPECT_EQ(block_rams(512, 36), 1);
  EXPECT_EQ(block_rams(513, 36), 2);
  EXPECT_EQ(block_rams(16384, 1), 1);
  EXPECT_EQ(block_rams(2048, 9), 1);
  EXPECT_EQ(block_rams(2048, 10), 2);
  EXPECT_EQ(block_rams(0, 8), 0);
  EXPECT_EQ(ultra_rams(4096, 72), 1);
  EXPECT_EQ(ultra_rams(4097, 73), 4);
  EXPECT_EQ(lut_rams(32, 6), 4);
  EXPECT_EQ(lut_rams(64, 3), 4);
}

TEST(ResourceModel, EveryModelHasItsWeights) {
  for (const std::string& name : modelled_components()) {
    EXPECT_FALSE(resource_coefficients(name).lut.empty()) << name;
    EXPECT_FALSE(resource_coefficients(name).ff.empty()) << name;
  }
  EXPECT_TRUE(resource_coefficients("no_such_component").lut.empty());
}

}  // namespace
}  // namespace tilewright::pipeline
