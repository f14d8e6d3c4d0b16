// The bench itself: content with a right component, and finds a wrong one.
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/pipeline/component_bench_testing.h"
#include "support/pipeline/frame_case_testing.h"
#include "support/pipeline/rtl_testing.h"
#include "tilewright/base/file.h"

namespace tilewright::pipeline {
namespace {

namespace fs = std::filesystem;

TEST(ComponentBench, RightComponentsPass) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  FrameCase narrow(1, 3, 2, 1), wide(777, 1, 0, 2), plain(64, 5, 1, 0);
  BenchOptions options;
  options.rtl = rtl_options();
  const BenchResult result = run_bench({&narrow, &wide, &plain}, options);
  for (const std::string& problem : result.problems) ADD_FAILURE() << problem;
  EXPECT_EQ(result.cycles, 3u * 3 * 3000);
  EXPECT_GT(result.beats, 5000u);
}

// A component that is changed by `from` -> `to` in its source.
std::string problems_of(const std::string& from, const std::string& to) {
  const fs::path folder =
      fs::temp_directory_path() / ("tilewright-bench-" + std::to_string(::getpid()) + "-" + to.substr(0, 4));
  fs::create_directories(folder / "pipeline");
  for (const char* part : {"checks", "harness"}) {
    fs::copy(fs::path(TILEWRIGHT_SOURCE_DIR) / "rtl" / part, folder / part, fs::copy_options::recursive);
  }
  std::string source = read_text_file(TILEWRIGHT_SOURCE_DIR "/rtl/pipeline/tw_stream_frame.sv");
  const size_t at = source.find(from);
  EXPECT_NE(at, std::string::npos);
  write_text_file(folder / "pipeline" / "tw_stream_frame.sv", source.replace(at, from.size(), to));
  FrameCase one(8, 3, 2, 1);
  BenchOptions options;
  options.rtl = rtl_options();
  options.rtl.rtl_folder = folder;
  options.rtl.cache_folder = folder / "cache";
  std::string all;
  for (const std::string& problem : run_bench({&one}, options).problems) all += problem + "\n";
  fs::remove_all(folder);
  return all;
}

TEST(ComponentBench, FindsWrongHandshakes) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  const std::string ready = problems_of("&& (!keeping || free);", "&& free;");
  EXPECT_NE(ready.find("'in_ready' is 0 in RTL and 1 in the model"), std::string::npos) << ready;
  const std::string valid = problems_of("else if (out_ready) out_valid", "else out_valid");
  EXPECT_NE(valid.find("'out_valid' is 0 in RTL and 1 in the model"), std::string::npos) << valid;
  EXPECT_NE(valid.find("tw_handshake_checker.sv"), std::string::npos) << valid;  // the RTL's own assertion
}

TEST(ComponentBench, FindsWrongData) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  const std::string data = problems_of("out_data <= in_data", "out_data <= ~in_data");
  EXPECT_NE(data.find("an unexpected beat"), std::string::npos) << data;
}

}  // namespace
}  // namespace tilewright::pipeline
