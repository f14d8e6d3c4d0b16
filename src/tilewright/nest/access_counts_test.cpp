#include "tilewright/nest/access_counts.h"

#include <gtest/gtest.h>

#include "support/nest/count_cases_testing.h"
#include "support/nest/count_walker_testing.h"

namespace tilewright {
namespace {

// Counts of a mapping, checked against the walk.
AccessCounts counts_of(const Workload& workload, const std::string& mapping, CountingNetwork network = {},
                       Accounting accounting = Accounting::kExact) {
  const Mapping parsed = parse_mapping(mapping, "test", workload);
  const std::vector<CountingNetwork> networks(parsed.levels.size(), network);
  const AccessCounts counts = count_accesses(workload, parsed, networks, accounting);
  EXPECT_EQ(counts, walk_accesses(workload, parsed, networks, accounting)) << describe(counts);
  return counts;
}

const SpaceTraffic& traffic(const AccessCounts& counts, int space, int parent) {
  for (const SpaceTraffic& t : counts.traffic) {
    if (t.space == space && t.parent == parent) return t;
  }
  throw Error(ErrorKind::kInternal, "no such traffic");
}

TEST(AccessCounts, EqualTheWalkOnRandomCases) {
  for (uint64_t seed = 0; seed < 8000; ++seed) {
    const CountCase c = random_count_case(seed, 200);
    const AccessCounts closed = count_accesses(c.workload, c.mapping, c.networks, c.accounting);
    const AccessCounts walked = walk_accesses(c.workload, c.mapping, c.networks, c.accounting);
    ASSERT_EQ(closed, walked) << "seed " << seed << "\n"
                              << describe(c) << "closed form: " << describe(closed)
                              << "walk: " << describe(walked);
  }
}

// Three rows of four outputs, kernel 3: the six inputs of a row are fetched once while Q advances.
TEST(AccessCounts, AWindowSlides) {
  ConvShape shape;
  shape.height = {.input = 3, .kernel = 1, .output = 3};
  shape.width = {.input = 6, .kernel = 3, .output = 4};
  const Workload w = conv2d_workload("c", shape);
  const AccessCounts counts =
      counts_of(w, "- {level: dram, temporal: P=3 Q=4}\n- {level: rf, temporal: S=3}\n");
  EXPECT_EQ(counts.operations, 36);
  EXPECT_EQ(counts.steps, 36);
  EXPECT_EQ(traffic(counts, kInputSpace, 0).reads, 3 * 6);
  EXPECT_EQ(traffic(counts, kInputSpace, 0).fills, 3 * 6);
  EXPECT_EQ(traffic(counts, kInputSpace, 1).fills, 36);
  EXPECT_EQ(traffic(counts, kWeightSpace, 0).fills, 3);
  EXPECT_EQ(traffic(counts, kOutputSpace, 0).updates, 12);
  EXPECT_EQ(traffic(counts, kOutputSpace, 0).fills, 0);
  EXPECT_EQ(traffic(counts, kOutputSpace, 1).reads, 24);
  EXPECT_EQ(counts.tile_words, (std::vector<int64_t>{18, 3, 12, 3, 3, 1}));
}

// Q inside S: each S step fetches a row of 13 again, 39 in all. Timeloop says 37.
TEST(AccessCounts, AWindowInsideItsOtherLoopIsFetchedAgain) {
  ConvShape shape;
  shape.width = {.input = 15, .kernel = 3, .output = 13};
  const Workload w = conv2d_workload("c", shape);
  for (const Accounting accounting : {Accounting::kExact, Accounting::kTimeloop}) {
    const AccessCounts counts = counts_of(
        w, "- {level: dram, temporal: S=3 Q=13}\n- {level: buffer}\n- {level: rf}\n", {}, accounting);
    EXPECT_EQ(traffic(counts, kInputSpace, 0).reads, 39);
    EXPECT_EQ(traffic(counts, kInputSpace, 1).reads, 39);
  }
}

// Four instances hold windows of three that overlap by two: six words are read for twelve that arrive.
TEST(AccessCounts, DiagonalSharingReadsTheUnion) {
  ConvShape shape;
  shape.width = {.input = 6, .kernel = 3, .output = 4};
  const Workload w = conv2d_workload("c", shape);
  const std::string mapping = "- {level: dram, spatial: 'y:Q=2 x:Q=2'}\n- {level: rf, temporal: S=3}\n";
  const SpaceTraffic shared = traffic(counts_of(w, mapping), kInputSpace, 0);
  EXPECT_EQ(shared.reads, 6);
  EXPECT_EQ(shared.fills, 12);
  EXPECT_EQ(traffic(counts_of(w, mapping, {false, false}), kInputSpace, 0).reads, 12);
  EXPECT_EQ(traffic(counts_of(w, mapping, {}, Accounting::kTimeloop), kInputSpace, 0).reads, 12);
  // y is the outer loop: each row wants four words.
  EXPECT_EQ(shared.row_fills, 8);
}

// Partial sums of four instances: one update per element with reduction, four without.
TEST(AccessCounts, ReductionAddsOnTheWay) {
  const Workload w = matmul_workload("m", 2, 3, 8);
  const std::string mapping = "- {level: dram, temporal: K=2 M=2 N=3, spatial: 'x:K=4'}\n- {level: rf}\n";
  const SpaceTraffic reduced = traffic(counts_of(w, mapping), kOutputSpace, 0);
  EXPECT_EQ(reduced.drains, 48);
  EXPECT_EQ(reduced.updates, 12);
  EXPECT_EQ(reduced.reads, 6);
  EXPECT_EQ(reduced.fills, 24);
  EXPECT_EQ(traffic(counts_of(w, mapping, {true, false}), kOutputSpace, 0).updates, 48);
}

TEST(AccessCounts, HugeCountsAreExactOrRefused) {
  const int64_t prime = 2147483647;
  const Workload w = matmul_workload("m", prime, 1, 509);
  const Mapping mapping = parse_mapping(
      "- {level: dram, temporal: K=509 M=65536}\n- {level: rf, temporal: M=32768}\n", "test", w);
  const std::vector<CountingNetwork> networks(2);
  const AccessCounts counts = count_accesses(w, mapping, networks);
  EXPECT_EQ(traffic(counts, kInputSpace, 0).reads, prime * 509);
  EXPECT_EQ(traffic(counts, kOutputSpace, 0).updates, prime * 509);
  EXPECT_EQ(traffic(counts, kOutputSpace, 0).reads, prime * 508);
  EXPECT_EQ(counts.steps, prime * 509);

  // Every word fetched serves an operation, so only boxes with their gaps can exceed 2^63: here 2^30 words
  // for every second operation of 2^42.
  Workload gaps;
  gaps.dimensions = {{"A", 4}, {"B", int64_t{1} << 40}};
  gaps.data_spaces = {{"in", {{"r", 1, 0, {{0, int64_t{1} << 30}}}}}, {"out", {}, 8, true}};
  const Mapping loops = parse_mapping(
      "- {level: dram, temporal: B=1099511627776 A=2}\n- {level: rf, temporal: A=2}\n", "test", gaps);
  EXPECT_EQ(traffic(count_accesses(gaps, loops, networks), 0, 0).reads, int64_t{1} << 42);
  EXPECT_THROW(count_accesses(gaps, loops, networks, Accounting::kTimeloop), Error);
}

}  // namespace
}  // namespace tilewright
