// For each buffer, sorts those already placed whose lifetimes meet its own by address and takes the first gap
// between them that is large enough.
#include "tilewright/overlay/lower/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "tilewright/base/integer_math.h"

namespace tilewright::overlay {

uint64_t place_buffers(std::vector<LiveBuffer>& buffers, uint64_t base, uint64_t alignment) {
  const auto align = [&](uint64_t address) { return round_up(address, alignment); };
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return buffers[a].first != buffers[b].first ? buffers[a].first < buffers[b].first
                                                : buffers[a].bytes > buffers[b].bytes;
  });
  uint64_t end = align(base);
  std::vector<size_t> placed;
  for (const size_t index : order) {
    LiveBuffer& buffer = buffers[index];
    std::vector<size_t> rivals;
    for (const size_t other : placed) {
      if (buffers[other].last >= buffer.first && buffer.last >= buffers[other].first) rivals.push_back(other);
    }
    std::sort(rivals.begin(), rivals.end(),
              [&](size_t a, size_t b) { return buffers[a].address < buffers[b].address; });
    uint64_t address = align(base);
    for (const size_t rival : rivals) {
      if (address + uint64_t(buffer.bytes) <= buffers[rival].address) break;
      address = std::max(address, align(buffers[rival].address + uint64_t(buffers[rival].bytes)));
    }
    buffer.address = address;
    end = std::max(end, align(address + uint64_t(buffer.bytes)));
    placed.push_back(index);
  }
  return end;
}

}  // namespace tilewright::overlay
