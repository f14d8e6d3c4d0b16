// Each part against the slowest way to say the same: byte by byte, access by access, instruction by
// instruction.
#include "tilewright/overlay/referee/hazard_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright::overlay {
namespace {

DramRows random_rows(Random& random) {
  const auto draw = [&](int64_t most) { return uint64_t(random.between(0, most)); };
  return {draw(40), draw(6), draw(9), draw(4)};
}

std::set<uint64_t> bytes_of(const DramRows& rows) {
  std::set<uint64_t> bytes;
  for (uint64_t y = 0; y < rows.rows; ++y) {
    for (uint64_t b = 0; b < rows.row_bytes; ++b) bytes.insert(rows.first + y * rows.stride_bytes + b);
  }
  return bytes;
}

bool meet(const DramRows& a, const DramRows& b) {
  const std::set<uint64_t> bytes = bytes_of(a);
  for (const uint64_t byte : bytes_of(b)) {
    if (bytes.count(byte) != 0) return true;
  }
  return false;
}

TEST(DramRowsClass, OverlapWhereTheyShareAByte) {
  const int64_t cases = test_cases(20000);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  int64_t overlapping = 0;
  for (int64_t i = 0; i < cases; ++i) {
    const DramRows a = random_rows(random), b = random_rows(random);
    const bool expected = meet(a, b);
    overlapping += expected;
    ASSERT_EQ(overlap(a, b), expected)
        << "seed " << test_seed() << ": " << a.first << " " << a.row_bytes << " " << a.stride_bytes << " "
        << a.rows << " and " << b.first << " " << b.row_bytes << " " << b.stride_bytes << " " << b.rows;
  }
  EXPECT_GT(overlapping, cases / 20);
  EXPECT_LT(overlapping, cases / 2);
}

// All accesses, none forgotten.
class EveryAccess {
 public:
  std::optional<uint32_t> load(const HappensBefore& order, Queue module, const DramRows& rows) {
    loads_.push_back({module, order.now(module), rows});
    for (const auto& store : stores_) {
      if (store.position > order.known(module, kStoreQueue) && meet(store.rows, rows)) return store.position;
    }
    return {};
  }
  // Of several, the one of the first module.
  std::optional<std::pair<Queue, uint32_t>> store(const HappensBefore& order, const DramRows& rows) {
    stores_.push_back({kStoreQueue, order.now(kStoreQueue), rows});
    for (const Queue module : {kLoadQueue, kComputeQueue}) {
      for (const auto& load : loads_) {
        if (load.module == module && load.position > order.known(kStoreQueue, module) &&
            meet(load.rows, rows)) {
          return std::pair{module, load.position};
        }
      }
    }
    return {};
  }

 private:
  std::vector<DramTracker::Load> loads_, stores_;
};

TEST(DramTrackerClass, FindsEveryRaceAndNoOther) {
  const int64_t cases = test_cases(400);
  RecordProperty("cases", int(cases));
  int64_t races = 0, accesses = 0;
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = test_seed() + uint64_t(i);
    Random random(seed);
    HappensBefore order;
    DramTracker tracker;
    EveryAccess every;
    for (uint32_t step = 0; step < 40; ++step) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", step " << step);
      const Queue module = Queue(random.between(0, kQueues - 1));
      const ChannelWiring wires = kWiring[module];
      for (const Channel channel : {wires.pop_prev, wires.pop_next}) {
        if (channel != kNoChannel && order.tokens(channel) > 0 && random.chance(0.5))
          order.pop(module, channel);
      }
      order.begin(module, step);
      const DramRows rows = random_rows(random);
      if (module == kStoreQueue) {
        const std::optional<DramTracker::Load> found = tracker.store(order, rows);
        const auto expected = every.store(order, rows);
        ASSERT_EQ(found.has_value(), expected.has_value());
        if (found) {
          EXPECT_EQ((std::pair{found->module, found->position}), *expected);
        }
        races += found.has_value();
      } else {
        const std::optional<uint32_t> found = tracker.load(order, module, rows);
        ASSERT_EQ(found, every.load(order, module, rows));
        races += found.has_value();
      }
      ++accesses;
      for (const Channel channel : {wires.push_prev, wires.push_next}) {
        if (channel != kNoChannel && random.chance(0.5)) order.push(module, channel);
      }
    }
  }
  EXPECT_GT(races, accesses / 20);
  EXPECT_LT(races, accesses * 3 / 4);
}

// One event at a time, whichever is possible, until none is.
bool ends(const std::vector<TokenStep>& stream, size_t depth) {
  std::vector<bool> done(stream.size());
  size_t fetched = 0;
  int tokens[kChannels + 1] = {};
  for (bool progress = true; progress;) {
    progress = false;
    size_t waiting[kQueues] = {};
    for (size_t i = 0; i < fetched; ++i) waiting[stream[i].module] += !done[i];
    if (fetched < stream.size() && waiting[stream[fetched].module] + 1 <= depth) {
      ++fetched;
      progress = true;
      continue;
    }
    bool blocked[kQueues] = {};
    for (size_t i = 0; i < fetched && !progress; ++i) {
      const TokenStep& step = stream[i];
      if (done[i] || std::exchange(blocked[step.module], true)) continue;
      const ChannelWiring wires = kWiring[step.module];
      const bool prev = step.pop_prev && wires.pop_prev != kNoChannel;
      const bool next = step.pop_next && wires.pop_next != kNoChannel;
      if ((prev && tokens[wires.pop_prev] == 0) || (next && tokens[wires.pop_next] == 0)) continue;
      if (prev) --tokens[wires.pop_prev];
      if (next) --tokens[wires.pop_next];
      if (step.push_prev) ++tokens[wires.push_prev];
      if (step.push_next) ++tokens[wires.push_next];
      done[i] = progress = true;
    }
  }
  return std::find(done.begin(), done.end(), false) == done.end();
}

TEST(CompletesClass, AgreesWithOneEventAtATime) {
  const int64_t cases = test_cases(5000);
  RecordProperty("cases", int(cases));
  int64_t completed = 0;
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = test_seed() + uint64_t(i);
    Random random(seed);
    std::vector<TokenStep> stream;
    for (int64_t n = random.between(1, 14); n > 0; --n) {
      const auto bit = [&](double p) { return random.chance(p); };
      stream.push_back({Queue(random.between(0, kQueues - 1)), bit(0.3), bit(0.3), bit(0.5), bit(0.5)});
    }
    const size_t depth = size_t(random.between(1, 4));
    const bool expected = ends(stream, depth);
    completed += expected;
    ASSERT_EQ(completes(stream, depth), expected) << "seed " << seed;
  }
  EXPECT_GT(completed, cases / 10);
  EXPECT_LT(completed, cases * 9 / 10);
}

// Three loads wait for a token that compute pushes after them: a queue of three is enough, one of two is
// not.
TEST(Completes, NeedsRoomForAllThatWait) {
  std::vector<TokenStep> stream(3, {kLoadQueue, false, true, false, false});
  for (int i = 0; i < 3; ++i) stream.push_back({kComputeQueue, false, false, true, false});
  EXPECT_TRUE(completes(stream, 3));
  EXPECT_FALSE(completes(stream, 2));
}

}  // namespace
}  // namespace tilewright::overlay
