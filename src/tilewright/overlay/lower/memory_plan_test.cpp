#include "tilewright/overlay/lower/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/base/random.h"

namespace tilewright::overlay {
namespace {

TEST(MemoryPlan, BuffersThatLiveTogetherAreApart) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<LiveBuffer> buffers(size_t(random.between(1, 30)));
    int64_t sum = 0;
    for (LiveBuffer& buffer : buffers) {
      buffer.bytes = random.between(1, 5000);
      buffer.first = int(random.between(0, 20));
      buffer.last = buffer.first + int(random.between(0, 5));
      sum += buffer.bytes + 256;
    }
    const uint64_t end = place_buffers(buffers, 4096, 256);
    EXPECT_LE(end, uint64_t(4096 + sum));
    for (size_t i = 0; i < buffers.size(); ++i) {
      const LiveBuffer& a = buffers[i];
      EXPECT_EQ(a.address % 256, 0u);
      EXPECT_GE(a.address, 4096u);
      EXPECT_LE(a.address + uint64_t(a.bytes), end);
      for (size_t j = 0; j < i; ++j) {
        const LiveBuffer& b = buffers[j];
        if (a.last < b.first || b.last < a.first) continue;
        EXPECT_TRUE(a.address + uint64_t(a.bytes) <= b.address || b.address + uint64_t(b.bytes) <= a.address);
      }
    }
  }
}

TEST(MemoryPlan, AChainNeedsTwoBuffers) {
  std::vector<LiveBuffer> chain;
  for (int i = 0; i < 50; ++i) chain.push_back({1024, i, i + 1});
  EXPECT_EQ(place_buffers(chain, 0, 64), 2048u);
}

}  // namespace
}  // namespace tilewright::overlay
