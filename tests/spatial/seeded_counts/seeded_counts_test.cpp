// Bugs planted into the closed forms (CMakeLists.txt lists them): the comparison with the walker finds each.
#include <gtest/gtest.h>

#include <cstdio>

#include "support/nest/count_cases_testing.h"
#include "support/nest/count_walker_testing.h"

namespace tilewright {

// One closed form per planted bug; number 0 is sound.
#define BUG(number, name)                                                                          \
  namespace bug_##number {                                                                         \
    AccessCounts count_accesses(const Workload& workload, const Mapping& mapping,                  \
                                std::span<const CountingNetwork> networks, Accounting accounting); \
  }
#include "bug_table.inc"
#undef BUG

namespace {

struct PlantedBug {
  const char* name;
  AccessCounts (*count)(const Workload&, const Mapping&, std::span<const CountingNetwork>, Accounting);
};
constexpr PlantedBug kBugs[] = {
#define BUG(number, name) {name, bug_##number::count_accesses},
#include "bug_table.inc"
#undef BUG
};

TEST(SeededCounts, EveryPlantedBugIsFound) {
  constexpr uint64_t kCases = 2000;
  std::vector<CountCase> cases;
  std::vector<AccessCounts> walked;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    cases.push_back(random_count_case(seed, 200));
    const CountCase& c = cases.back();
    walked.push_back(walk_accesses(c.workload, c.mapping, c.networks, c.accounting));
  }
  EXPECT_GE(std::size(kBugs), 21u);
  for (const PlantedBug& bug : kBugs) {
    // Three finds are enough; the sound one sees every case.
    int found = 0, first = -1;
    for (size_t i = 0; i < cases.size() && found < 3; ++i) {
      const CountCase& c = cases[i];
      bool differs = true;
      try {
        differs = !(bug.count(c.workload, c.mapping, c.networks, c.accounting) == walked[i]);
      } catch (const Error&) {
        // An overflow that no sound count has.
      }
      if (differs && found++ == 0) first = int(i);
    }
    if (found == 0) {
      std::printf("%-60s not found in %d cases\n", bug.name, int(kCases));
    } else {
      std::printf("%-60s found first with seed %d\n", bug.name, first);
    }
    if (&bug == kBugs) {
      EXPECT_EQ(found, 0);
    } else {
      EXPECT_GE(found, 1) << bug.name;
    }
  }
}

}  // namespace
}  // namespace tilewright
