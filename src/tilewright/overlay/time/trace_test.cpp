#include "tilewright/overlay/time/trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tilewright::overlay {
namespace {

nlohmann::json read(const std::filesystem::path& path) { return nlohmann::json::parse(read_text_file(path)); }

std::filesystem::path file_in_temp(const char* name) {
  return std::filesystem::path(::testing::TempDir()) / name;
}

TEST(Trace, ShowsInstructionsTokensAndLayersOnTheirLanes) {
  const auto path = file_in_temp("trace_lanes.json");
  std::filesystem::remove(path);
  OverlayHardware hardware;
  hardware.name = "an \"overlay\"";
  TraceWriter writer(path, hardware);
  MemoryInstruction load;
  load.x_size = 8;
  GemmInstruction gemm;
  gemm.loop.uop_end = 4;
  gemm.dependencies.pop_prev = true;
  // The second load starts while the first still receives; the GEMM takes the second one's token.
  writer.instruction({OverlayModule::kLoad, 0, 10, 10, 60, load});
  writer.instruction({OverlayModule::kLoad, 1, 13, 13, 80, load});
  writer.token(TokenChannel::kLoadToCompute, 1, 80, 2, 81);
  writer.instruction({OverlayModule::kCompute, 2, 20, 81, 92, gemm});
  writer.section("layer \"a\"", 0, 93);
  EXPECT_FALSE(std::filesystem::exists(path));
  writer.end_run(100);
  writer.instruction({OverlayModule::kCompute, 0, 5, 5, 6, FinishInstruction{}});
  writer.finish();

  std::vector<nlohmann::json> slices, starts, ends;
  const nlohmann::json trace = read(path);
  for (const nlohmann::json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") slices.push_back(event);
    if (event["ph"] == "s") starts.push_back(event);
    if (event["ph"] == "f") ends.push_back(event);
  }
  ASSERT_EQ(slices.size(), 5u);
  const auto expect = [](const nlohmann::json& slice, int lane, int begin, int cycles, const char* name) {
    EXPECT_EQ(slice["tid"], lane);
    EXPECT_EQ(slice["ts"], begin);
    EXPECT_EQ(slice["dur"], cycles);
    EXPECT_EQ(slice["name"], name);
  };
  expect(slices[0], 1, 10, 51, "load.inp");
  expect(slices[1], 1, 61, 20, "load.inp");
  EXPECT_EQ(slices[1]["args"]["started"], 13);
  expect(slices[2], 2, 81, 12, "gemm");
  EXPECT_EQ(slices[2]["args"]["waited"], 61);
  expect(slices[3], 4, 0, 93, "layer \"a\"");
  expect(slices[4], 2, 105, 2, "finish");
  ASSERT_EQ(starts.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(starts[0]["tid"], 1);
  EXPECT_EQ(starts[0]["ts"], 80);  // inside of the slice that pushed
  EXPECT_EQ(ends[0]["tid"], 2);
  EXPECT_EQ(ends[0]["ts"], 81);
  EXPECT_EQ(starts[0]["id"], ends[0]["id"]);
}

TEST(Trace, LeavesNothingBehindWithoutFinish) {
  const auto folder = file_in_temp("trace_unfinished");
  std::filesystem::remove_all(folder);
  create_folder(folder);
  {
    TraceWriter writer(folder / "t.json", OverlayHardware{});
    writer.section("x", 0, 1);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_THROW(TraceWriter("/no/such/folder/t.json", OverlayHardware{}), Error);
}

}  // namespace
}  // namespace tilewright::overlay
