// How a program is divided among the three modules, and how tokens connect them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/overlay/isa/isa_layout.h"

namespace tilewright::overlay {

enum Queue { kLoadQueue, kComputeQueue, kStoreQueue, kQueues };
enum Channel {
  kLoadToCompute,
  kComputeToLoad,
  kComputeToStore,
  kStoreToCompute,
  kChannels,
  kNoChannel = kChannels
};

// Which channel each dependency bit of each module means; kNoChannel where the module has no neighbour.
struct ChannelWiring {
  Channel pop_prev, pop_next, push_prev, push_next;
};
inline constexpr ChannelWiring kWiring[] = {
    {kNoChannel, kComputeToLoad, kNoChannel, kLoadToCompute},
    {kLoadToCompute, kStoreToCompute, kComputeToLoad, kComputeToStore},
    {kComputeToStore, kNoChannel, kStoreToCompute, kNoChannel}};
// The queue whose instructions push on a channel, and the one whose take from it.
inline constexpr Queue pusher_of(Channel channel) {
  return channel == kLoadToCompute ? kLoadQueue : channel == kStoreToCompute ? kStoreQueue : kComputeQueue;
}
inline constexpr Queue popper_of(Channel channel) {
  return channel == kComputeToLoad ? kLoadQueue : channel == kComputeToStore ? kStoreQueue : kComputeQueue;
}
// Of word 0 of an instruction, in both encodings.
inline constexpr uint64_t kPopPrev = 1 << 3, kPopNext = 1 << 4, kPushPrev = 1 << 5, kPushNext = 1 << 6;

// The indices of a program by queue.
struct InstructionQueues {
  // Buffers only grow; `length` says how much of each is this program's.
  std::vector<uint32_t> indices[kQueues];
  size_t length[kQueues] = {};

  // Splits `count` instructions at `stream`. Errors (invalid input), each naming the instruction: unknown
  // opcode or version; no FINISH, or one that is not the last.
  void split(const IsaLayout& layout, const std::byte* stream, uint64_t count);

 private:
  [[noreturn]] static void reject(const IsaLayout& layout, uint32_t index, uint64_t word, uint64_t count);
};

const char* queue_name(Queue queue);
const char* channel_name(Channel channel);
// Instruction `index` heads `queue`, with `left` instructions from it on, and waits for a token on `channel`
// for ever.
Diagnostic deadlock_of(Queue queue, uint32_t index, Channel channel, size_t left);

}  // namespace tilewright::overlay
