// One random mapspace whose every mapping is costed by the walker
// (tests/support/nest/count_walker_testing.h), against the mapper's answer.
#pragma once

#include <cstdint>

namespace tilewright {

struct ExhaustiveTally {
  int64_t mapspaces = 0, mappings = 0;
  int64_t imperfect = 0, constrained = 0, with_ports = 0, with_limit = 0, levels[5] = {}, objectives[3] = {};
  int64_t timeloop = 0, checked = 0;
  void print() const;
};

// Draws mapspaces from the seed until one has 1,000 valid mappings or more, up to a limit that is itself
// drawn, log-uniform, up to `most`; and compares. Reports differences to the running test with the seed.
void compare_with_walker(uint64_t seed, int64_t most, ExhaustiveTally& tally);

}  // namespace tilewright
