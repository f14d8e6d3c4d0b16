// The events that a run reports: instructions with their start and end, why they waited, tokens.
#pragma once

#include <cstdint>

#include "tilewright/overlay/isa/isa.h"

namespace tilewright::overlay {

enum class OverlayModule : uint8_t { kFetch = 0, kLoad = 1, kCompute = 2, kStore = 3 };
enum class TokenChannel : uint8_t {
  kLoadToCompute = 0,
  kComputeToLoad = 1,
  kComputeToStore = 2,
  kStoreToCompute = 3
};

struct InstructionSpan {
  OverlayModule module = OverlayModule::kLoad;
  uint32_t index = 0;          // in the program
  uint64_t visible_cycle = 0;  // at the head of its queue, its module ready for it except for tokens
  uint64_t start_cycle = 0, done_cycle = 0;
  Instruction instruction;
};

class CycleObserver {
 public:
  virtual ~CycleObserver() = default;
  // In program order within a module, which is that of start_cycle; modules interleave freely. Of kFetch:
  // start_cycle is the first cycle in the instruction register, done_cycle that of the push into a command
  // queue.
  virtual void instruction(const InstructionSpan& span) = 0;
  // A token pushed by instruction `pusher` in `push_cycle` was taken by instruction `popper` in `pop_cycle`.
  virtual void token(TokenChannel channel, uint32_t pusher, uint64_t push_cycle, uint32_t popper,
                     uint64_t pop_cycle) = 0;
};

}  // namespace tilewright::overlay
