// The two properties of banks, over random access patterns, every start and every element.
#include "tilewright/netlist/banking.h"

#include <gtest/gtest.h>

#include <set>

#include "tilewright/base/error.h"
#include "tilewright/base/random.h"

namespace tilewright::netlist {
namespace {

// Calls `visit` for every index of a box.
template <typename Visit>
void for_each_index(const std::vector<int64_t>& sizes, Visit&& visit) {
  std::vector<int64_t> index(sizes.size(), 0);
  for (;;) {
    visit(index);
    size_t d = 0;
    while (d < sizes.size() && ++index[d] == sizes[d]) index[d++] = 0;
    if (d == sizes.size()) return;
  }
}

std::vector<AccessDimension> random_pattern(Random& random) {
  std::vector<AccessDimension> pattern(size_t(random.between(1, 3)));
  for (AccessDimension& own : pattern) {
    own.lanes = random.between(1, 5);
    own.stride = random.between(1, 6);
    own.extent = (own.lanes - 1) * own.stride + random.between(1, 12);
  }
  return pattern;
}

TEST(Banking, ParallelAccessesNeverMeet) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<AccessDimension> pattern = random_pattern(random);
    const Banking banking = choose_banks(pattern);
    std::vector<int64_t> starts, lanes;
    for (const AccessDimension& own : pattern) {
      starts.push_back(own.extent - (own.lanes - 1) * own.stride);
      lanes.push_back(own.lanes);
    }
    for_each_index(starts, [&](const std::vector<int64_t>& start) {
      std::set<int64_t> used;
      for_each_index(lanes, [&](const std::vector<int64_t>& lane) {
        std::vector<int64_t> index = start;
        for (size_t d = 0; d < index.size(); ++d) index[d] += lane[d] * pattern[d].stride;
        ASSERT_TRUE(used.insert(banking.bank(index)).second) << "round " << round;
        ASSERT_LT(banking.bank(index), banking.banks());
      });
    });
  }
}

TEST(Banking, EveryElementHasAWordOfItsOwn) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const std::vector<AccessDimension> pattern = random_pattern(random);
    const Banking banking = choose_banks(pattern);
    std::vector<int64_t> extents;
    for (const AccessDimension& own : pattern) extents.push_back(own.extent);
    std::set<std::pair<int64_t, int64_t>> used;
    for_each_index(extents, [&](const std::vector<int64_t>& index) {
      const int64_t word = banking.word(index);
      ASSERT_LT(word, banking.words_per_bank()) << "round " << round;
      ASSERT_TRUE(used.insert({banking.bank(index), word}).second) << "round " << round;
    });
  }
}

// No fewer banks along one dimension could do, as a power of two.
TEST(Banking, TakesTheFewestBanks) {
  for (int64_t lanes = 1; lanes <= 16; ++lanes) {
    const AccessDimension dimension{64, lanes, 3};
    const int64_t banks = choose_banks({&dimension, 1}).banks();
    EXPECT_GE(banks, lanes);
    EXPECT_LT(banks, 2 * lanes);
  }
}

TEST(Banking, RefusesLanesOutside) {
  for (const AccessDimension& wrong : {AccessDimension{4, 3, 2}, {0, 1, 1}, {4, 0, 1}, {4, 1, 0}}) {
    EXPECT_THROW(choose_banks({&wrong, 1}), Error);
  }
}

}  // namespace
}  // namespace tilewright::netlist
