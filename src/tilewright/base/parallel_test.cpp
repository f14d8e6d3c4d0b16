#include "tilewright/base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/few_threads_testing.h"

namespace tilewright {
namespace {

TEST(ParallelFor, CoversEveryIndexOnce) {
  for (int threads : {0, 1, 2, 7}) {
    for (int64_t count : {0, 1, 5, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      parallel_for(threads, count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++seen[size_t(i)];
      });
      for (const auto& times : seen) EXPECT_EQ(times, 1);
    }
  }
}

// One call per thread, none for nothing, and the caller's own thread where one is enough.
TEST(ParallelForClass, CallsTheBodyOncePerThread) {
  for (int threads = -1; threads < 6; ++threads) {
    for (int64_t count = 0; count < 6; ++count) {
      std::atomic<int> calls = 0, elsewhere = 0;
      parallel_for(threads, count, [&, caller = std::this_thread::get_id()](int64_t begin, int64_t end) {
        ++calls;
        if (std::this_thread::get_id() != caller) ++elsewhere;
        EXPECT_LT(begin, end);
      });
      const int64_t expected = count == 0 ? 0 : std::min<int64_t>(std::max(threads, 1), count);
      EXPECT_EQ(calls, expected) << threads << " threads, " << count;
      EXPECT_EQ(elsewhere, std::max<int64_t>(expected - 1, 0)) << threads << " threads, " << count;
    }
  }
}

TEST(ParallelFor, PassesAnExceptionOn) {
  EXPECT_THROW(parallel_for(3, 9, [](int64_t, int64_t) { throw std::runtime_error("x"); }),
               std::runtime_error);
}

TEST(ParallelFor, GoesOnWithTheThreadsThatStart) {
  EXPECT_TRUE(holds_with_few_threads([] {
    std::vector<std::atomic<int>> seen(1000);
    parallel_for(kManyThreads, int64_t(seen.size()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++seen[size_t(i)];
    });
    return std::all_of(seen.begin(), seen.end(), [](const auto& times) { return times == 1; });
  }));
}

}  // namespace
}  // namespace tilewright
