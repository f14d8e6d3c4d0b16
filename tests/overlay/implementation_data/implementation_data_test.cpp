// One row of the shipped data through Yosys and nextpnr again; failures of the flow as rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/base/file.h"
#include "tilewright/overlay/implement/implementation_run.h"
#include "tilewright/overlay/rtl/rtl_config.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/synthesis/verilator.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = TILEWRIGHT_SOURCE_DIR;

class ImplementationTools : public testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = synthesis::missing_tools({"yosys", "nextpnr-ice40"});
    if (!missing.empty()) GTEST_SKIP() << missing;
    rows_ = read_implementation_data(kRoot / "models/tune/implementation_ice40.jsonl.gz");
    device_ = find_device("ice40-hx8k", kRoot / "hardware/devices");
    setup_.rtl_folder = kRoot / "rtl";
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    setup_.work_folder = fs::path(testing::TempDir()) / ("implementation_data_" + test);
  }
  void TearDown() override { fs::remove_all(setup_.work_folder); }

  // The placed row that the tools were quickest with.
  const ImplementationRow& quickest() const {
    const auto time = [](const ImplementationRow& row) {
      return row.placed() ? row.targets.synthesis_s + row.targets.place_s : 1e9;
    };
    return *std::min_element(rows_.begin(), rows_.end(),
                             [&](const auto& a, const auto& b) { return time(a) < time(b); });
  }

  std::vector<ImplementationRow> rows_;
  Device device_;
  ImplementationSetup setup_;
};

TEST_F(ImplementationTools, ARowComesOutAsInTheFile) {
  const ImplementationRow& row = quickest();
  if (implementation_tools(device_, setup_) != row.tools)
    GTEST_SKIP() << "other tools than the file's: " << row.tools;
  const ImplementationRow again = reproduce(row, device_, setup_);
  EXPECT_TRUE(same_result(row, again)) << print_implementation_row(row) << "\n"
                                       << print_implementation_row(again);
}

TEST_F(ImplementationTools, TheJobOfWorkersDoesTheSame) {
  const ImplementationRow& row = quickest();
  if (implementation_tools(device_, setup_) != row.tools)
    GTEST_SKIP() << "other tools than the file's: " << row.tools;
  nlohmann::json request{{"hardware", print_overlay_hardware(row.hardware)},
                         {"options", nlohmann::json::parse(synthesis::print_implementation(row.options))},
                         {"device", print_device(device_)},
                         {"tools", row.tools},
                         {"rtl_folder", setup_.rtl_folder.string()},
                         {"work_folder", setup_.work_folder.string()}};
  EXPECT_TRUE(same_result(row, parse_implementation_row(implement_json(request.dump()), "reply")));
  request["tools"] = "Yosys 99";
  EXPECT_THROW(implement_json(request.dump()), Error);
}

TEST_F(ImplementationTools, FailuresAreRows) {
  const ImplementationRow& row = quickest();
  ImplementationSetup capped = setup_;
  capped.cell_cap = 100;
  const ImplementationRow large = implement(row.hardware, {row.options}, device_, capped).front();
  EXPECT_EQ(large.failure, ImplementationFailure::kTooLarge);
  EXPECT_NE(large.failure_text.find("more than the cap of 100"), std::string::npos) << large.failure_text;
  EXPECT_FALSE(large.placed());
  ImplementationSetup hurried = setup_;
  hurried.timeout_s = 0.5;
  const ImplementationRow stopped = implement(row.hardware, {row.options}, device_, hurried).front();
  EXPECT_EQ(stopped.failure, ImplementationFailure::kTimeLimit) << stopped.failure_text;
}

TEST_F(ImplementationTools, TheFixtureIsClean) {
  if (!synthesis::tool_installed("verilator")) GTEST_SKIP() << "verilator is not installed";
  std::vector<fs::path> sources = write_rtl(rows_[0].hardware, setup_.work_folder, kRoot / "rtl");
  sources.push_back(kRoot / "rtl/implementation/compute_fixture.sv");
  EXPECT_EQ(synthesis::lint("compute_fixture", sources), "");
}

}  // namespace
}  // namespace tilewright::overlay
