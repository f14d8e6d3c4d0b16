// Random programs on random hardware and memories, by seed: the event-driven engine against others. Failures
// are those of GoogleTest and name the seed.
#pragma once

#include <cstdint>

namespace tilewright::overlay {

// Cycles, all counters and every transaction equal those of the literal reference; counters add up.
void expect_literal_reference(uint64_t first_seed, uint64_t count);
// Memory and work equal those of the functional simulator; without execution the time is the same.
void expect_functional_memory(uint64_t first_seed, uint64_t count);

}  // namespace tilewright::overlay
