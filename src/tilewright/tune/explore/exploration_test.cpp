// A synthetic backend: latency has a closed law above its bound, one knob matters, one does not, and a corner
// of the space fails.
#include "tilewright/tune/explore/exploration.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/tune/explore/study.h"
#include "tilewright/tune/fleet/thread_executor.h"

namespace tilewright::tune {
namespace {

namespace fs = std::filesystem;

class Machines : public ExplorationBackend {
 public:
  explicit Machines(double size = 1) : size_(size) {
    space_ = KnobSpace({Knob::integers("array", {1, 2, 4, 8, 16}), Knob::integers("buffer", {1, 2, 4, 8}),
                        Knob::integers("colour", {0, 1, 2, 3, 4, 5, 6, 7})},
                       [](const std::vector<int64_t>& v) { return v[0] + v[1] > 2; });
  }
  const KnobSpace& space() const override { return space_; }
  const std::vector<std::string>& resources() const override {
    static const std::vector<std::string> names = {"cells", "blocks"};
    return names;
  }
  std::vector<Need> needs(KnobSpace::Point point) const override {
    const std::vector<int64_t> v = space_.values(point);
    return {{int64_t(size_ * double(20 * v[0] + v[2])), 300}, {int64_t(size_ * double(5 * v[1])), 41}};
  }
  CandidateFacts judge(KnobSpace::Point point) const override {
    CandidateFacts facts;
    const std::vector<Need> all = needs(point);
    for (size_t r = 0; r < all.size(); ++r) {
      const double share = double(all[r].need) / double(all[r].have);
      if (share > facts.utilisation) facts.scarcest = int(r);
      facts.utilisation = std::max(facts.utilisation, share);
    }
    facts.clock_mhz = 100;
    facts.bound_s = 1e6 / double(space_.values(point)[0]) / 1e8;
    return facts;
  }
  std::string content(KnobSpace::Point point) const override {
    return "rtl " + std::to_string(point == changed_ ? -1 : int64_t(point));
  }
  Job job(KnobSpace::Point point, int64_t trials) const override {
    return {"p" + std::to_string(point), "machine",
            nlohmann::json{{"point", point}, {"trials", trials}}.dump(), 60};
  }
  CandidateResult read_reply(const std::string& reply) const override {
    CandidateResult result;
    result.cycles = nlohmann::json::parse(reply).at("cycles").get<int64_t>();
    result.trials = 1;
    result.details = reply;
    return result;
  }
  virtual int64_t cycles(KnobSpace::Point point) const {
    const std::vector<int64_t> v = space_.values(point);
    return int64_t(1e6 / double(v[0]) * (1 + 0.4 / double(v[1] * v[1])));
  }
  JobKind kind() const {
    return {"machine", [this](const std::string& request) {
              const auto point = nlohmann::json::parse(request).at("point").get<KnobSpace::Point>();
              ++jobs;
              if (space_.value(point, 1) == 8) {
                throw Error(ErrorKind::kInfeasible, "this buffer never works");
              }
              return nlohmann::json{{"cycles", cycles(point)}}.dump();
            }};
  }

  mutable std::atomic<int> jobs{0};
  KnobSpace::Point changed_ = ~KnobSpace::Point{0};

 protected:
  KnobSpace space_;

 private:
  double size_;
};

class Folder {
 public:
  Folder() : path(fs::path(testing::TempDir()) / ("study" + std::to_string(::getpid()))) {
    fs::remove_all(path);
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

ExplorationResult run(const Machines& machines, ExplorationOptions options, const KnownResults& known = {},
                      const ExplorationHooks& hooks = {}) {
  const auto executor = make_thread_executor({machines.kind()}, 2);
  return explore(machines, screen(machines, 1), *executor, options, known, hooks);
}

// All that fit, measured one by one.
ExplorationFront exhaustive(const Machines& machines) {
  std::vector<CandidateResult> all;
  for (const Candidate& c : screen(machines, 1).fitting) {
    if (machines.space().value(c.point, 1) == 8) continue;
    all.push_back({c.point, "", machines.cycles(c.point), "", 1, 0, ""});
  }
  return front_of(machines, all);
}

bool same_front(const ExplorationFront& a, const ExplorationFront& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a.members()[i].point != b.members()[i].point) return false;
  }
  return true;
}

TEST(Screening, JudgesEveryValidPoint) {
  const Machines machines;
  const Screening one = screen(machines, 1), two = screen(machines, 3);
  EXPECT_EQ(one.points, 160);
  EXPECT_EQ(one.valid, 152);
  int64_t fitting = 0;
  for (KnobSpace::Point p = 0; p < 160; ++p) {
    const bool fits = machines.space().valid(p) && machines.judge(p).utilisation <= 1;
    fitting += fits ? 1 : 0;
    EXPECT_EQ(one.find(p) != nullptr, fits);
  }
  EXPECT_EQ(int64_t(one.fitting.size()), fitting);
  EXPECT_EQ(one.short_of[0], one.valid - fitting);
  EXPECT_EQ(two.fitting.size(), one.fitting.size());
  EXPECT_EQ(two.short_of, one.short_of);
}

TEST(Screening, SaysWhatATooSmallDeviceLacks) {
  const Machines machines(20);
  try {
    require_fitting(machines, screen(machines, 1), "tiny");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
    const std::string text = error.what();
    EXPECT_NE(text.find("device 'tiny' (cells): the smallest of 152 candidates needs"), std::string::npos)
        << text;
    EXPECT_NE(text.find("the device has 300"), std::string::npos) << text;
  }
}

TEST(Exploration, EndsWithTheTrueFront) {
  const Machines machines;
  ExplorationOptions options;
  options.round = 4;
  const ExplorationResult result = run(machines, options);
  EXPECT_TRUE(result.exhausted);
  EXPECT_EQ(result.end.alive, 0);
  EXPECT_TRUE(same_front(result.front, exhaustive(machines)));
  EXPECT_GT(result.end.pruned, 0);
  EXPECT_GT(result.end.failed, 0);
  EXPECT_EQ(result.end.evaluated + result.end.pruned, int64_t(screen(machines, 1).fitting.size()));
}

TEST(Exploration, FindsTheFastestEarly) {
  const Machines machines;
  ExplorationOptions options;
  options.round = 4;
  options.candidates = 40;
  const ExplorationResult result = run(machines, options);
  EXPECT_EQ(result.end.evaluated, 40);
  EXPECT_LE(result.end.best_s, 1.02 * exhaustive(machines).members()[0].point[0]);
}

// A space whose bounds prune nothing: only what the model learned tells good candidates from bad ones.
class Slopes : public Machines {
 public:
  Slopes() {
    space_ = KnobSpace(
        {Knob::integers("a", {0, 1, 2, 3, 4, 5, 6, 7}), Knob::integers("b", {0, 1, 2, 3, 4, 5, 6, 7}),
         Knob::integers("c", {0, 1, 2, 3, 4, 5, 6, 7})},
        [](const std::vector<int64_t>&) { return true; });
  }
  std::vector<Need> needs(KnobSpace::Point) const override { return {{30, 300}, {4, 40}}; }
  CandidateFacts judge(KnobSpace::Point) const override {
    return {.utilisation = 0.1, .clock_mhz = 100, .bound_s = 1e-9};
  }
  int64_t cycles(KnobSpace::Point point) const override {
    const std::vector<int64_t> v = space_.values(point);
    return 1000 << (v[0] + v[1]) / 2;
  }
};

TEST(Exploration, DrawsNearTheFront) {
  const Slopes machines;
  const auto mean_of_the_later = [&](double epsilon) {
    double sum = 0;
    int64_t count = 0;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      ExplorationOptions options;
      options.round = 1;  // a candidate drawn evenly leaves none to be drawn by what was learned
      options.epsilon = epsilon;
      options.candidates = 60;
      options.seed = seed;
      const ExplorationResult result = run(machines, options);
      for (size_t i = 30; i < result.evaluated.size(); ++i, ++count)
        sum += std::log2(result.evaluated[i].cycles);
    }
    return sum / double(count);
  };
  // Drawn evenly it is the mean of the space, 3.25 doublings above the least.
  EXPECT_LT(mean_of_the_later(0), mean_of_the_later(1) - 1.5);
}

TEST(Exploration, LearnsWhichKnobMatters) {
  const Machines machines;
  ExplorationOptions options;
  options.round = 8;
  options.epsilon = 1;
  options.candidates = 60;
  const ExplorationResult result = run(machines, options);
  EXPECT_GT(result.importance[1], 0.6);
  EXPECT_LT(result.importance[2], 0.2);
}

TEST(Exploration, GoesOnAsIfItHadNotBeenStopped) {
  const Machines machines;
  ExplorationOptions options;
  options.round = 4;
  options.candidates = 40;
  const ExplorationResult whole = run(machines, options);
  for (const int rounds : {1, 3, 7}) {
    Folder folder;
    {
      Study study(folder.path, R"({"question": 1})");
      ExplorationHooks hooks;
      hooks.keep = [&](const std::vector<CandidateResult>& results) { study.keep(results); };
      hooks.progress = [&](const ExplorationProgress& p) { return p.evaluated < 4 * rounds; };
      run(machines, options, study.known(), hooks);
    }
    // What a kill leaves of the line it was writing.
    const std::string lines = read_text_file(folder.path / "candidates.jsonl");
    write_text_file(folder.path / "candidates.jsonl", lines + R"({"point": 3, "con)");
    const Study study(folder.path, R"({"question": 1})");
    const int before = machines.jobs;
    const ExplorationResult rest = run(machines, options, study.known());
    EXPECT_EQ(rest.end.known, int64_t(study.known().size()));
    EXPECT_EQ(machines.jobs - before, 40 - rest.end.known);
    ASSERT_EQ(rest.evaluated.size(), whole.evaluated.size());
    for (size_t i = 0; i < rest.evaluated.size(); ++i) {
      EXPECT_EQ(rest.evaluated[i].point, whole.evaluated[i].point);
    }
    EXPECT_TRUE(same_front(rest.front, whole.front));
  }
}

TEST(Exploration, TakesUpAllThatIsKnownHoweverShortTheTime) {
  const Machines machines;
  ExplorationOptions options;
  options.round = 4;
  options.candidates = 40;
  const ExplorationResult whole = run(machines, options);
  KnownResults known;
  for (const CandidateResult& result : whole.evaluated) known[result.point] = result;
  options.candidates = 0;
  options.budget_s = 1e-9;
  const int before = machines.jobs;
  const ExplorationResult again = run(machines, options, known);
  EXPECT_EQ(machines.jobs, before);
  EXPECT_EQ(again.evaluated.size(), whole.evaluated.size());
  EXPECT_TRUE(same_front(again.front, whole.front));
}

TEST(Exploration, DoesChangedCandidatesAgainAndNoOthers) {
  Machines machines;
  ExplorationOptions options;
  options.candidates = 24;
  Folder folder;
  Study study(folder.path, "{}");
  ExplorationHooks hooks;
  hooks.keep = [&](const std::vector<CandidateResult>& results) { study.keep(results); };
  run(machines, options, {}, hooks);
  KnownResults known;
  for (CandidateResult& result : read_candidates(folder.path)) known.emplace(result.point, std::move(result));
  ASSERT_EQ(known.size(), 24u);
  EXPECT_EQ(unchanged(known, machines).size(), 24u);
  machines.changed_ = known.begin()->first;
  const KnownResults kept = unchanged(known, machines);
  EXPECT_EQ(kept.size(), 23u);
  EXPECT_EQ(kept.count(machines.changed_), 0u);
  const int before = machines.jobs;
  EXPECT_EQ(run(machines, options, kept).end.known, 23);
  EXPECT_EQ(machines.jobs - before, 1);
}

// A first round that fails as a whole says nothing about the rest; a space that fails as a whole does.
TEST(Exploration, GoesOnWhereTheFirstCandidatesFail) {
  const Machines machines;
  const auto fails_at_first = [&](int first) {
    auto calls = std::make_shared<std::atomic<int>>(0);
    return make_thread_executor({{"machine",
                                  [&machines, calls, first](const std::string& request) -> std::string {
                                    if ((*calls)++ < first) {
                                      throw Error(ErrorKind::kInfeasible, "no tile fits");
                                    }
                                    return machines.kind().handler(request);
                                  }}},
                                1);
  };
  ExplorationOptions options;
  options.round = 3;
  const ExplorationResult result =
      explore(machines, screen(machines, 1), *fails_at_first(7), options, {}, {});
  EXPECT_GE(result.end.failed, 7);
  EXPECT_FALSE(result.front.empty());
  EXPECT_TRUE(result.exhausted);
  try {
    explore(machines, screen(machines, 1), *fails_at_first(1000), options, {}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
    EXPECT_NE(std::string(error.what()).find("can run the network: no tile fits"), std::string::npos)
        << error.what();
  }
}

TEST(Exploration, WhatWasInterruptedIsNoResult) {
  const Machines machines;
  const auto executor = make_thread_executor(
      {{"machine",
        [](const std::string&) -> std::string { throw InterruptedError("a worker of another version"); }}},
      1);
  ExplorationHooks hooks;
  hooks.keep = [](const std::vector<CandidateResult>&) { ADD_FAILURE() << "kept"; };
  try {
    explore(machines, screen(machines, 1), *executor, {}, {}, hooks);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a worker of another version"), std::string::npos)
        << error.what();
  }
}

TEST(Exploration, RefusesOptionsOutOfRange) {
  const Machines machines;
  ExplorationOptions options;
  options.round = 0;
  options.epsilon = 2;
  options.importance = {1};
  try {
    run(machines, options);
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const char* field : {"round", "epsilon", "importance"}) {
      EXPECT_NE(text.find(field), std::string::npos) << text;
    }
  }
}

TEST(Study, RefusesAnotherQuestionAndASecondCoordinator) {
  Folder folder;
  const auto message = [&](const std::string& question) {
    try {
      const Study study(folder.path, question);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(R"({"device": "a", "seed": 1})"), "");
  EXPECT_EQ(message(R"({"device": "a", "seed": 1})"), "");
  EXPECT_NE(message(R"({"device": "b", "seed": 1})").find(R"((device): it was made with "a", not with "b")"),
            std::string::npos);
  const Study first(folder.path, R"({"device": "a", "seed": 1})");
  EXPECT_NE(message(R"({"device": "a", "seed": 1})"), "");
}

TEST(Study, SaysWhichLineIsDamaged) {
  Folder folder;
  { const Study study(folder.path, "{}"); }
  write_text_file(folder.path / "candidates.jsonl", "{\"point\": 1}\n");
  try {
    read_candidates(folder.path);
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("candidates.jsonl:1"), std::string::npos) << text;
    EXPECT_NE(text.find("cycles"), std::string::npos) << text;
  }
  EXPECT_THROW(read_question(folder.path / "nothing"), Error);
}

// Without a candidate that works there is nothing to explore, unless somebody stopped it before one was
// found.
TEST(Exploration, OnlyAStoppedOneMayEndWithoutAResult) {
  const Machines machines;
  const JobKind failing{"machine", [](const std::string&) -> std::string {
                          throw Error(ErrorKind::kInfeasible, "nothing works");
                        }};
  const auto executor = make_thread_executor({failing}, 1);
  ExplorationOptions options;
  options.candidates = 4;
  ExplorationHooks hooks;
  EXPECT_THROW(explore(machines, screen(machines, 1), *executor, options, {}, hooks), Error);
  hooks.progress = [](const ExplorationProgress& at) { return at.evaluated == 0; };
  const ExplorationResult result = explore(machines, screen(machines, 1), *executor, options, {}, hooks);
  EXPECT_FALSE(result.evaluated.empty());
  EXPECT_TRUE(result.front.empty());
}

}  // namespace
}  // namespace tilewright::tune
