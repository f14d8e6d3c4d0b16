// Vector clocks (Fidge 1988, Mattern 1989): a pop raises its module's clock to the token's, component by
// component. Each row of a transfer is compared with the one row of the other side that decides whether they
// overlap. completes() replays queues and token counts only.
#include "tilewright/overlay/referee/hazard_tracker.h"

#include <algorithm>

namespace tilewright::overlay {

const char* module_name(Queue module) {
  static constexpr const char* kNames[] = {"load", "compute", "store"};
  return kNames[module];
}

void HappensBefore::pop(Queue module, Channel channel) {
  const Clock& token = tokens_[channel].front();
  for (int m = 0; m < kQueues; ++m) clock_[module][m] = std::max(clock_[module][m], token[m]);
  tokens_[channel].pop_front();
}

bool overlap(const DramRows& a, const DramRows& b) {
  if (a.rows == 0 || b.rows == 0 || a.row_bytes == 0 || b.row_bytes == 0) return false;
  if (a.end() <= b.first || b.end() <= a.first) return false;
  for (uint64_t y = 0; y < a.rows; ++y) {
    const uint64_t first = a.first + y * a.stride_bytes, end = first + a.row_bytes;
    if (end <= b.first || first >= b.end()) continue;
    // The row of b that ends first after `first`; there is one, for b itself ends after `first`.
    const uint64_t past = b.first + b.row_bytes;
    uint64_t row = 0;
    if (first >= past && b.stride_bytes > 0) row = (first - past) / b.stride_bytes + 1;
    if (b.first + row * b.stride_bytes < end) return true;
  }
  return false;
}

std::optional<uint32_t> DramTracker::load(const HappensBefore& order, Queue module, const DramRows& rows) {
  // Load hears of stores only through compute, so compute knows all that load knows.
  const uint32_t settled = order.known(kLoadQueue, kStoreQueue);
  while (!stores_.empty() && stores_.front().position <= settled) stores_.pop_front();
  std::optional<uint32_t> conflict;
  for (const Store& store : stores_) {
    if (store.position > order.known(module, kStoreQueue) && overlap(store.rows, rows)) {
      conflict = store.position;
      break;
    }
  }
  loads_[module].push_back({module, order.now(module), rows});
  return conflict;
}

std::optional<DramTracker::Load> DramTracker::store(const HappensBefore& order, const DramRows& rows) {
  stores_.push_back({order.now(kStoreQueue), rows});
  for (std::deque<Load>& loads : loads_) {
    while (!loads.empty() && loads.front().position <= order.known(kStoreQueue, loads.front().module)) {
      loads.pop_front();
    }
    for (const Load& load : loads) {
      if (overlap(load.rows, rows)) return load;
    }
  }
  return {};
}

bool completes(const std::vector<TokenStep>& stream, size_t queue_depth) {
  std::deque<const TokenStep*> queues[kQueues];
  uint64_t tokens[kChannels + 2] = {};
  size_t fetched = 0;
  for (bool progress = true; progress;) {
    progress = false;
    while (fetched < stream.size() && queues[stream[fetched].module].size() < queue_depth) {
      queues[stream[fetched].module].push_back(&stream[fetched]);
      ++fetched;
      progress = true;
    }
    for (int m = 0; m < kQueues; ++m) {
      const ChannelWiring wires = kWiring[m];
      while (!queues[m].empty()) {
        const TokenStep& step = *queues[m].front();
        const bool prev = step.pop_prev && wires.pop_prev != kNoChannel;
        const bool next = step.pop_next && wires.pop_next != kNoChannel;
        if ((prev && tokens[wires.pop_prev] == 0) || (next && tokens[wires.pop_next] == 0)) break;
        if (prev) --tokens[wires.pop_prev];
        if (next) --tokens[wires.pop_next];
        if (step.push_prev) ++tokens[wires.push_prev];
        if (step.push_next) ++tokens[wires.push_next];
        queues[m].pop_front();
        progress = true;
      }
    }
  }
  return fetched == stream.size() && queues[0].empty() && queues[1].empty() && queues[2].empty();
}

}  // namespace tilewright::overlay
