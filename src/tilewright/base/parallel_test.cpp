#include "tilewright/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

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

TEST(ParallelFor, PassesAnExceptionOn) {
  EXPECT_THROW(parallel_for(3, 9, [](int64_t, int64_t) { throw std::runtime_error("x"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace tilewright
