// Cycles by hand, from the rules in hardware/memory_model.h.
#include "tilewright/hardware/memory_timing.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

constexpr uint64_t kRow = 8192;       // bytes of a row
constexpr uint64_t kSame = 8 * kRow;  // from a row to the next one of the same bank, with 8 banks

std::unique_ptr<MemoryTiming> timing(const char* name) { return make_memory_timing(find_memory_model(name)); }

TEST(MemoryTiming, Ideal) {
  const auto m = timing("ideal");
  EXPECT_EQ(m->read(10, 0, 4).first_beat, 11u);  // 11 12 13 14
  EXPECT_EQ(m->read(11, 0, 2).first_beat, 15u);  // bus taken until 14
  EXPECT_EQ(m->read(40, 0, 1).first_beat, 41u);
  EXPECT_EQ(m->write(12, 0, 8), 13u);  // writes do not meet reads
}

TEST(MemoryTiming, FixedLatencyAndInterval) {
  const auto m = timing("fixed:20:3");
  const ReadTiming first = m->read(5, 0, 4);
  EXPECT_EQ(first.first_beat, 25u);  // 25 28 31 34
  EXPECT_EQ(first.interval, 3u);
  EXPECT_EQ(m->read(6, 0, 1).first_beat, 37u);
  EXPECT_EQ(m->read(30, 0, 1).first_beat, 50u);
  EXPECT_EQ(m->write(30, 0, 1), 50u);
}

TEST(MemoryTiming, FixedEfficiencyLeavesTheBusIdleAfterABurst) {
  const auto m = timing("fixed:20:1:90");
  EXPECT_EQ(m->read(0, 0, 64).first_beat, 20u);     // 20..83, then ceil(64 * 10 / 90) = 8 idle
  EXPECT_EQ(m->read(1, 4096, 9).first_beat, 92u);   // 92..100, then 1 idle
  EXPECT_EQ(m->read(2, 8192, 1).first_beat, 102u);  // 102, then 1 idle
  EXPECT_EQ(m->read(3, 8192, 1).first_beat, 104u);
  // Beats 4..19 were written as they came, then 2 idle; the next 16 take the bus in 22..37.
  EXPECT_EQ(m->write(19, 0, 16), 39u);
  EXPECT_EQ(m->write(35, 0, 16), 57u);
  EXPECT_EQ(m->write(90, 0, 16), 110u);  // the bus is long free
}

// Controller 10, activate 3, cas 3, precharge 3.
TEST(MemoryTiming, DdrClosedRowOpenRowAndConflict) {
  const auto m = timing("ddr");
  EXPECT_EQ(m->read(0, 0, 4).first_beat, 16u);         // no row open: 0 + 10 + 3 + 3; beats 16..19
  EXPECT_EQ(m->read(100, 4096, 4).first_beat, 113u);   // hit: 100 + 10 + 3; beats 113..116
  EXPECT_EQ(m->read(200, kSame, 4).first_beat, 219u);  // conflict: 200 + 10 + 3 + 3 + 3; beats 219..222
  EXPECT_EQ(m->read(201, 0, 4).first_beat, 231u);      // conflict: precharge at 222, + 3 + 3 + 3
}

TEST(MemoryTiming, DdrRowHitsFollowEachOtherWithoutAGap) {
  const auto m = timing("ddr");
  EXPECT_EQ(m->read(0, 0, 8).first_beat, 16u);  // 16..23
  EXPECT_EQ(m->read(1, 64, 8).first_beat, 24u);
  EXPECT_EQ(m->read(2, 128, 8).first_beat, 32u);
}

TEST(MemoryTiming, DdrBanksWorkInParallel) {
  const auto m = timing("ddr");
  m->read(0, 0, 16);                                   // 16..31
  EXPECT_EQ(m->read(1, kRow, 4).first_beat, 32u);      // bank 1 opens meanwhile
  EXPECT_EQ(m->read(2, 2 * kRow, 4).first_beat, 36u);  // bank 2 too
  const auto one_bank = timing("ddr");
  one_bank->read(0, 0, 16);
  EXPECT_EQ(one_bank->read(1, kSame, 4).first_beat, 31u + 9u);  // precharge waits for the last beat
}

TEST(MemoryTiming, DdrTurnaround) {
  const auto m = timing("ddr");
  EXPECT_EQ(m->read(0, 0, 4).first_beat, 16u);  // 16..19
  // Arrives in 2, row open: could be at 15; the bus turns after 19: 20 and 21 idle, beats 22 and 23.
  EXPECT_EQ(m->write(2, 64, 2), 24u);
  // Arrives in 3: 24..27 idle.
  EXPECT_EQ(m->read(3, 128, 1).first_beat, 28u);
  // Write, then write: no turn but from the read; 29 and 30 idle, beat 31; then beat 32.
  EXPECT_EQ(m->write(4, 192, 1), 32u);
  EXPECT_EQ(m->write(5, 256, 1), 33u);
}

TEST(MemoryTiming, DdrWriteRecovery) {
  const auto m = timing("ddr");
  EXPECT_EQ(m->write(0, 0, 2), 18u);  // beats 16 and 17
  // Precharge at 17 + 3 = 20; 20 + 3 + 3 + 3.
  EXPECT_EQ(m->read(4, kSame, 1).first_beat, 29u);
}

TEST(MemoryTiming, DdrBeatInterval) {
  MemoryModel model = find_memory_model("ddr");
  model.ddr.beat_interval = 2;
  const auto m = make_memory_timing(model);
  const ReadTiming first = m->read(0, 0, 3);  // 16 18 20
  EXPECT_EQ(first.first_beat, 16u);
  EXPECT_EQ(first.interval, 2u);
  EXPECT_EQ(m->read(0, 24, 1).first_beat, 22u);
  EXPECT_EQ(m->write(1, 48, 2), 29u);  // 24 25 idle, beats 26 28
}

TEST(MemoryTiming, RefusesAModelThatBreaksItsRules) {
  MemoryModel model;
  model.latency = 0;
  EXPECT_THROW(make_memory_timing(model), Error);
}

}  // namespace
}  // namespace tilewright
