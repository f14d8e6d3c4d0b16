// Studies that are taken up after the RTL, or a model that they rest on, has changed: what is tuned again,
// and what is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "tilewright/base/file.h"
#include "tilewright/flow/explore/candidate_job.h"
#include "tilewright/flow/explore/exploration.h"
#include "tilewright/flow/explore/exploration_testing.h"
#include "tilewright/overlay/implement/area_coefficients.h"
#include "tilewright/tune/explore/study.h"
#include "tilewright/tune/fleet/thread_executor.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kCandidates = 6;

// A study of six candidates, made on a copy of the RTL.
class KeptStudyTest : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path folder =
        fs::path(testing::TempDir()) / ("changed_rtl" + std::to_string(::getpid()) + "_study");
    fs::remove_all(folder);
    fs::create_directories(folder / "rtl");
    fs::copy(fs::path(TILEWRIGHT_SOURCE_DIR) / "rtl/overlay", folder / "rtl/overlay");
    request_.network = small_network();
    request_.model_name = "small \xe9";  // a file's name may be no UTF-8
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

  std::function<std::unique_ptr<tune::JobExecutor>(const fs::path&)> executor() {
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
    const fs::path file = request_.rtl_folder / "overlay/tw_overlay_tokens.sv";
    write_text_file(file, read_text_file(file) + "// changed\n");
  }
  std::vector<tune::CandidateResult> lines() const { return tune::read_candidates(request_.folder / "w8a8"); }

  ExplorationRequest request_;
  ExplorationReport first_;
  std::atomic<int> jobs_{0};
};

TEST_F(KeptStudyTest, AChangedSourceTouchesAllAndIsDoneOnce) {
  EXPECT_EQ(again(), 0);
  change_a_source();
  EXPECT_EQ(again(), kCandidates);
  EXPECT_EQ(again(), 0);
}

TEST_F(KeptStudyTest, WhatWasStoppedGoesOnWithTheRest) {
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

// A run that has no time to look at the space does not take away what others found.
TEST_F(KeptStudyTest, ARunWithoutTimeKeepsWhatWasFound) {
  request_.budget_s = 1e-9;
  const ExplorationReport report = explore_overlays(request_, executor());
  EXPECT_EQ(jobs_, 0);
  EXPECT_EQ(report.ending, Ending::kTime);
  EXPECT_EQ(report.widths.at(0).evaluated, kCandidates);
  EXPECT_EQ(report.widths[0].known, kCandidates);
  EXPECT_EQ(report.widths[0].work_saved(), 0);
  EXPECT_EQ(report.widths[0].fastest.hardware, first_.widths.at(0).fastest.hardware);
  EXPECT_EQ(front(report), front(first_));
  EXPECT_EQ(to_json(read_exploration(request_.folder)), to_json(report));
}

// What is not asked about stays in the report, and a width for which nothing was found is in nobody's way.
TEST_F(KeptStudyTest, OtherWidthsStayInTheReport) {
  ExplorationReport report = first_;
  for (const int bits : {4, 2}) {
    WidthReport& other = report.widths.emplace_back();
    other.operand_bits = bits;
    other.failure = "no time";
    other.exhausted = bits == 2;
  }
  report.widths[0].exhausted = true;
  write_text_file(request_.folder / "front.json", to_json(report));
  request_.operand_bits = {8, 4};
  const ExplorationReport now = explore_changed(request_, executor());
  EXPECT_EQ(jobs_, 0);
  ASSERT_EQ(now.widths.size(), 3u);
  EXPECT_EQ(front(now), front(first_));
  for (size_t w = 0; w < now.widths.size(); ++w) {
    EXPECT_EQ(now.widths[w].operand_bits, report.widths[w].operand_bits);
    EXPECT_EQ(now.widths[w].exhausted, report.widths[w].exhausted);
    EXPECT_EQ(now.widths[w].failure, report.widths[w].failure);
  }
  EXPECT_EQ(to_json(read_exploration(request_.folder)), to_json(now));
  request_.operand_bits = {4};
  try {
    explore_changed(request_, executor());
    ADD_FAILURE() << "nothing was there to be looked at again";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    EXPECT_NE(std::string(error.what()).find("holds no candidates of these operand widths"),
              std::string::npos)
        << error.what();
  }
}

// Everything that was found is to be seen: where layers stand before and after tuning, how the search came to
// its fastest overlay, the front, and which knob mattered.
TEST_F(KeptStudyTest, ThePageShowsWhatWasFound) {
  const WidthReport& w = first_.widths.at(0);
  ASSERT_EQ(w.best_so_far_s.size(), size_t(kCandidates));
  EXPECT_TRUE(std::is_sorted(w.best_so_far_s.rbegin(), w.best_so_far_s.rend()));
  EXPECT_EQ(w.best_so_far_s.back(), w.candidates.at(0).latency_s);
  EXPECT_EQ(w.fastest.hardware, w.candidates[0].hardware);
  ASSERT_EQ(w.fastest.layers.size(), 3u);
  const int64_t times[] = {1, 1, 2};  // the network has the last layer twice
  int64_t cycles = 0;
  const std::string page = read_text_file(request_.folder / "page.html");
  for (size_t l = 0; l < w.fastest.layers.size(); ++l) {
    const OperatingPoint& layer = w.fastest.layers[l];
    cycles += times[l] * layer.cycles;
    EXPECT_LE(layer.cycles, layer.before_cycles);
    EXPECT_LE(double(layer.macs) / double(layer.cycles), w.fastest.macs_per_cycle);
    EXPECT_GE(layer.bytes, 1);
    const std::string row =
        fmt::format("[{},\"{}\",{},{},", l + 1, layer.name, layer.before_cycles, layer.cycles);
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
  EXPECT_EQ(cycles, w.candidates[0].cycles);
  for (const char* title :
       {"Roofline of the fastest overlay", "Best latency so far", "Latency against the scarcest resource",
        "What decides how far latency lies above its bound"}) {
    EXPECT_NE(page.find(title), std::string::npos) << title;
  }
  EXPECT_EQ(to_json(read_exploration(request_.folder)), to_json(first_));
}

// A parameter of the package changes for some: their content is that of another package.
TEST_F(KeptStudyTest, AChangedParameterTouchesItsCandidatesAlone) {
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

// Areas decide which candidates fit and which are drawn: a study of another fit is another study.
TEST_F(KeptStudyTest, AStudyOfAnotherAreaModelIsRefused) {
  const fs::path file = request_.folder / "w8a8/study.json";
  const std::string question = read_text_file(file), digest = overlay::area_model_digest();
  ASSERT_NE(question.find(digest), std::string::npos) << question;
  std::string other = question;
  other.replace(other.find(digest), digest.size(), "fit of long ago");
  write_text_file(file, other);
  const std::string expected =
      "(area_model): it was made with \"fit of long ago\", not with \"" + digest + "\"";
  for (const bool changed_only : {false, true}) {
    try {
      changed_only ? explore_changed(request_, executor()) : explore_overlays(request_, executor());
      ADD_FAILURE() << "areas of two fits in one study";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(jobs_, 0);
  write_text_file(file, question);
  EXPECT_EQ(again(), 0);
}

}  // namespace
}  // namespace tilewright
