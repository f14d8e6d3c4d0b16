// Deadlines: parts end with their whole, memory ends the whole, and a search under one keeps its best.
#include "tilewright/search/deadline.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "support/limits_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/process_memory.h"
#include "tilewright/base/random.h"
#include "tilewright/search/random_search.h"
#include "tilewright/search/tuning/tuner.h"

namespace tilewright {
namespace {

TEST(Deadline, PartsEndWithTheWholeAndNotTheOtherWayRound) {
  const Deadline whole;
  const Deadline part(Deadline::kNoLimit, &whole), over(0, &whole);
  EXPECT_FALSE(part.over());
  EXPECT_TRUE(over.over());
  EXPECT_EQ(over.ending(), Ending::kTime);
  EXPECT_FALSE(whole.over());
  whole.expire();
  EXPECT_TRUE(part.expired());
  EXPECT_EQ(part.ending(), Ending::kRequest);
  EXPECT_EQ(part.left(), 0);
  EXPECT_THROW(part.check(), Expired);
  const Deadline minute(60);
  EXPECT_LE(Deadline(3600, &minute).limit(), 60);
  EXPECT_LE(Deadline(1, &minute).limit(), 1);
}

TEST(Deadline, MemoryEndsTheWhole) {
  Deadline whole;
  whole.limit_memory(resident_bytes() + (int64_t{32} << 20));
  const Deadline part(Deadline::kNoLimit, &whole);
  EXPECT_TRUE(part.fits(1 << 20));
  EXPECT_FALSE(part.fits(0x1p26));
  EXPECT_FALSE(part.over());
  std::vector<char> large(size_t{64} << 20, 1);
  EXPECT_EQ(std::memchr(large.data(), 2, large.size()), nullptr);  // in memory, every page of it
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(part.over());
  EXPECT_EQ(whole.ending(), Ending::kMemory);
  const Deadline other;
  EXPECT_FALSE(finishes(other, [] { throw std::bad_alloc(); }));
  EXPECT_EQ(other.ending(), Ending::kMemory);
}

// Numbers whose cost takes a while.
struct SlowNumbers {
  using Solution = int;
  using Value = int;
  double step_s = 0;
  Solution sample(Random& random) const { return int(random.between(0, 1000)); }
  std::optional<Value> cost(const Solution& number) const {
    const double start = thread_cpu_seconds();
    while (thread_cpu_seconds() - start < step_s) {
    }
    return number;
  }
};

TEST(SearchLimitsClass, SamplingEndsInTimeWhateverAStepTakes) {
  Random random(test_seed());
  const int64_t cases = test_cases(20);
  for (int64_t i = 0; i < cases; ++i) {
    const Deadline deadline(0.001 * double(random.between(1, 40)));
    const SlowNumbers space{1e-6 * double(int64_t{1} << random.between(0, 14))};
    SamplingOptionsOf<SlowNumbers> options;
    options.lanes = 1;
    options.limits.deadline = &deadline;
    options.seed = random.next();
    const double start = thread_cpu_seconds();
    const auto result = random_search(space, options);
    EXPECT_LE(thread_cpu_seconds() - start, deadline.limit() + 4 * space.step_s + 0.05)
        << "seed " << test_seed() << ", case " << i;
    EXPECT_EQ(result.end.counts.evaluations > 0, result.best.has_value());
  }
  RecordProperty("cases", int(cases));
}

// A line of knobs whose measurement takes a while and ends with the deadline, as ScheduleProblem does.
class SlowProblem : public TuningProblem {
 public:
  SlowProblem(double step_s, const Deadline& deadline)
      : space_({{"x", {0, 1, 2, 3, 4, 5, 6, 7}}, {"y", {0, 1, 2, 3, 4, 5, 6, 7}}}),
        step_s_(step_s),
        deadline_(deadline) {}
  const KnobSpace& space() const override { return space_; }
  ProgramFeatures features(KnobSpace::Point) const override { return {}; }
  double bound(KnobSpace::Point) const override { return 0; }
  std::vector<Measurement> measure(std::span<const KnobSpace::Point> points) override {
    std::vector<Measurement> done;
    for (const KnobSpace::Point point : points) {
      if (deadline_.over()) break;
      const double start = thread_cpu_seconds();
      while (thread_cpu_seconds() - start < step_s_) {
      }
      done.push_back({point, 1.0 + double(point), "", false});
    }
    return done;
  }

 private:
  KnobSpace space_;
  double step_s_;
  const Deadline& deadline_;
};

TEST(SearchLimitsClass, TuningEndsInTimeAndKeepsWhatWasMeasured) {
  Random random(test_seed() + 1);
  const int64_t cases = test_cases(20);
  for (int64_t i = 0; i < cases; ++i) {
    const Deadline deadline(0.001 * double(random.between(1, 30)));
    SlowProblem problem(0.001 * double(random.between(1, 5)), deadline);
    TuningOptions options;
    options.method = TuningMethod(random.between(0, 2));
    options.trials = 64;
    options.batch = int(random.between(1, 40));
    options.seed = random.next();
    options.deadline = &deadline;
    const double start = thread_cpu_seconds();
    const TuningResult result = tune_problem(problem, options);
    EXPECT_LE(thread_cpu_seconds() - start, deadline.limit() + 0.06)
        << "seed " << test_seed() << ", case " << i;
    EXPECT_EQ(result.end.best.has_value(), !result.trials.empty());
  }
  RecordProperty("cases", int(cases));
}

}  // namespace
}  // namespace tilewright
