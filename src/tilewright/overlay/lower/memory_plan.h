// Placement of activations in DRAM: buffers whose lifetimes do not meet share memory.
#pragma once

#include <cstdint>
#include <vector>

namespace tilewright::overlay {

struct LiveBuffer {
  int64_t bytes = 0;
  int first = 0, last = 0;  // layers during which the content matters, both included
  uint64_t address = 0;     // result
};

// First fit in order of `first`, larger buffers before smaller ones. Addresses are multiples of `alignment`
// from `base` on. Returns the end of the memory used.
uint64_t place_buffers(std::vector<LiveBuffer>& buffers, uint64_t base, uint64_t alignment);

}  // namespace tilewright::overlay
