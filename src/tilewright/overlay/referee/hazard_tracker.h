// Happens-before between the load, compute and store modules. Each module numbers its instructions; a token
// carries what its pusher knew to be finished, and the pop that takes it (tokens are anonymous and first in,
// first out) learns it. Two accesses to one element by different modules, one of them a write, race when the
// later module does not know that the earlier one has finished.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tilewright/overlay/execute/instruction_queues.h"

namespace tilewright::overlay {

// A module is identified by the queue of its instructions.
const char* module_name(Queue module);

class HappensBefore {
 public:
  using Clock = std::array<uint32_t, kQueues>;

  // Starts the next instruction of `module`, number `instruction` of the stream.
  void begin(Queue module, uint32_t instruction) {
    executed_[module].push_back(instruction);
    ++clock_[module][module];
  }
  void push(Queue module, Channel channel) { tokens_[channel].push_back(clock_[module]); }
  void pop(Queue module, Channel channel);
  size_t tokens(Channel channel) const { return tokens_[channel].size(); }
  // The position of the running instruction in its module, from 1.
  uint32_t now(Queue module) const { return clock_[module][module]; }
  // The position up to which `module` knows `other` to have finished.
  uint32_t known(Queue module, Queue other) const { return clock_[module][other]; }
  // Stream index of position `at` (from 1) of `module`.
  uint32_t instruction(Queue module, uint32_t at) const { return executed_[module][at - 1]; }

 private:
  Clock clock_[kQueues] = {};
  std::deque<Clock> tokens_[kChannels];
  std::vector<uint32_t> executed_[kQueues];
};

// The last accesses to every element of one scratchpad by its writer and its reader module.
class ElementTracker {
 public:
  ElementTracker(int64_t depth, Queue writer, Queue reader)
      : writer_(writer), reader_(reader), written_(size_t(depth)), read_(size_t(depth)) {}

  // Position of the conflicting access of the other module, if this one races with it.
  std::optional<uint32_t> write(const HappensBefore& order, uint32_t element) {
    const uint32_t other = read_[element];
    written_[element] = order.now(writer_);
    return other > order.known(writer_, reader_) ? std::optional<uint32_t>(other) : std::nullopt;
  }
  std::optional<uint32_t> read(const HappensBefore& order, uint32_t element) {
    const uint32_t other = written_[element];
    read_[element] = order.now(reader_);
    return other > order.known(reader_, writer_) ? std::optional<uint32_t>(other) : std::nullopt;
  }
  bool ever_written(uint32_t element) const { return written_[element] != 0; }
  Queue writer() const { return writer_; }
  Queue reader() const { return reader_; }

 private:
  Queue writer_, reader_;
  std::vector<uint32_t> written_, read_;
};

// Rows of bytes in DRAM.
struct DramRows {
  uint64_t first = 0, row_bytes = 0, stride_bytes = 0, rows = 0;
  uint64_t end() const { return rows == 0 ? first : first + (rows - 1) * stride_bytes + row_bytes; }
};
bool overlap(const DramRows& a, const DramRows& b);

// Loads and stores that the other side does not know to be finished.
class DramTracker {
 public:
  struct Load {
    Queue module;
    uint32_t position;
    DramRows rows;
  };
  // Position of an unfinished store whose bytes `module` loads.
  std::optional<uint32_t> load(const HappensBefore& order, Queue module, const DramRows& rows);
  // An unfinished load whose bytes the store module overwrites.
  std::optional<Load> store(const HappensBefore& order, const DramRows& rows);

 private:
  struct Store {
    uint32_t position;
    DramRows rows;
  };
  std::deque<Store> stores_;
  std::deque<Load> loads_[kQueues];
};

// Whether the stream of modules and dependency bits runs to its end when fetch stops at a full command queue
// of `depth`.
struct TokenStep {
  Queue module;
  bool pop_prev, pop_next, push_prev, push_next;
};
bool completes(const std::vector<TokenStep>& stream, size_t queue_depth);

}  // namespace tilewright::overlay
