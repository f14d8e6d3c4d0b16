// Studies whose RTL changes after they were made: what is tuned again, and what is not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "tilewright/base/file.h"
#include "tilewright/flow/candidate_job.h"
#include "tilewright/flow/exploration.h"
#include "tilewright/flow/exploration_testing.h"
#include "tilewright/tune/study.h"
#include "tilewright/tune/thread_executor.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kCandidates = 6;

// A study of six candidates, made on a copy of the RTL.
class ChangedRtlTest : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path folder =
        fs::path(testing::TempDir()) / ("changed_rtl" + std::to_string(::getpid()) + "_study");
    fs::remove_all(folder);
    fs::create_directories(folder / "rtl");
    fs::copy(fs::path(TILEWRIGHT_SOURCE_DIR) / "rtl/overlay", folder / "rtl/overlay");
    request_.network = small_network();
    request_.model_name = "small";
    request_.device = zynq();
    request_.operand_bits = {8};
    request_.folder = folder / "study";
    request_.rtl_folder = folder / "rtl";
    request_.trials = 2;
    request_.candidates = kCandidates;
    first_ = explore_overlays(request_, executor());
    ASSERT_EQ(jobs_.exchange(0), kCandidates);
  }
  void TearDown() override { fs::remove_all(request_.rtl_folder.parent_path()); }

  std::function<std::unique_ptr<tune::Executor>(const fs::path&)> executor() {
    return [this](const fs::path&) {
      tune::JobKind kind = candidate_job();
      kind.handler = [this, answer = kind.handler](const std::string& request) {
        ++jobs_;
        return answer(request);
      };
      return tune::make_thread_executor({kind}, 1);
    };
  }

  // Tunes what has changed and returns how many that were.
  int again() {
    const ExplorationReport report = explore_changed(request_, executor());
    const int jobs = jobs_.exchange(0);
    EXPECT_EQ(report.widths.at(0).evaluated, kCandidates);
    EXPECT_EQ(report.widths.at(0).known, kCandidates - jobs);
    EXPECT_EQ(front(report), front(first_));  // nothing of the simulator has changed
    return jobs;
  }
  static std::vector<std::pair<KnobSpace::Point, int64_t>> front(const ExplorationReport& report) {
    std::vector<std::pair<KnobSpace::Point, int64_t>> members;
    for (const ExploredCandidate& c : report.widths.at(0).candidates) {
      if (c.on_front) members.emplace_back(c.point, c.cycles);
    }
    return members;
  }

  void change_a_source() const {
    const fs::path file = request_.rtl_folder / "overlay/tokens.sv";
    write_text_file(file, read_text_file(file) + "// changed\n");
  }
  std::vector<tune::CandidateResult> lines() const { return tune::read_candidates(request_.folder / "w8a8"); }

  ExplorationRequest request_;
  ExplorationReport first_;
  std::atomic<int> jobs_{0};
};

TEST_F(ChangedRtlTest, AChangedSourceTouchesAllAndIsDoneOnce) {
  EXPECT_EQ(again(), 0);
  change_a_source();
  EXPECT_EQ(again(), kCandidates);
  EXPECT_EQ(again(), 0);
}

TEST_F(ChangedRtlTest, WhatWasStoppedGoesOnWithTheRest) {
  change_a_source();
  int finished = 0;
  const ExplorationWatcher stop{[&](int, const tune::ExplorationProgress&) -> bool {
    if (++finished == 2) throw Error(ErrorKind::kInvalidInput, "stopped");
    return true;
  }};
  EXPECT_THROW(explore_changed(request_, executor(), stop), Error);
  jobs_ = 0;
  EXPECT_EQ(again(), kCandidates - 2);
  EXPECT_EQ(lines().size(), size_t(2 * kCandidates));
}

// A parameter of the package changes for some: their content is that of another package.
TEST_F(ChangedRtlTest, AChangedParameterTouchesItsCandidatesAlone) {
  const std::vector<tune::CandidateResult> all = lines();
  ASSERT_EQ(all.size(), size_t(kCandidates));
  const fs::path file = request_.folder / "w8a8/candidates.jsonl";
  std::string text = read_text_file(file);
  for (const size_t changed : {size_t(1), size_t(4)}) {
    ASSERT_NE(all[changed].content, all[0].content);
    text.replace(text.find(all[changed].content), all[0].content.size(), all[0].content);
  }
  write_text_file(file, text);
  EXPECT_EQ(again(), 2);
  const std::vector<tune::CandidateResult> now = lines();
  ASSERT_EQ(now.size(), size_t(kCandidates + 2));
  std::map<KnobSpace::Point, std::string> fresh;
  for (size_t i = size_t(kCandidates); i < now.size(); ++i) fresh[now[i].point] = now[i].content;
  EXPECT_EQ(fresh, (std::map<KnobSpace::Point, std::string>{{all[1].point, all[1].content},
                                                            {all[4].point, all[4].content}}));
}

}  // namespace
}  // namespace tilewright
