// Routing by one table look-up per instruction.
#include "tilewright/overlay/execute/instruction_queues.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "tilewright/overlay/execute/executor.h"

namespace tilewright::overlay {

void InstructionQueues::reject(const IsaLayout& layout, uint32_t index, uint64_t word, uint64_t count) {
  if (layout.wide && layout.version.get(&word) != 1) {
    fail_instruction(index, "",
                     "instruction version " + std::to_string(layout.version.get(&word)) + " is unknown",
                     "the wide instruction set has version 1");
  }
  const uint64_t op = word & 7;
  if (op == uint64_t(IsaOpcode::kFinish)) {
    fail_instruction(index, "FINISH", std::to_string(count - index - 1) + " instructions follow it",
                     "FINISH must be the last");
  }
  fail_instruction(index, "", "opcode " + std::to_string(op) + " is unknown");
}

// Splits the stream into the queues; everything that does not depend on execution is checked here.
void InstructionQueues::split(const IsaLayout& layout, const std::byte* stream, uint64_t count) {
  const size_t bytes = size_t(layout.words) * 8;
  // Queue by opcode + 8 * (memory type): INP and WGT loads go to load, all others to compute.
  uint8_t route[64];
  for (int type = 0; type < 8; ++type) {
    uint8_t* row = route + type * 8;
    std::fill(row, row + 8, uint8_t(kQueues));
    row[int(IsaOpcode::kLoad)] = loads_early(MemoryType(type)) ? kLoadQueue : kComputeQueue;
    row[int(IsaOpcode::kStore)] = kStoreQueue;
    row[int(IsaOpcode::kGemm)] = row[int(IsaOpcode::kAlu)] = kComputeQueue;
  }
  for (std::vector<uint32_t>& queue : indices) {
    if (queue.size() < count) queue.resize(count);
  }
  // Every index goes to all three queues and each queue keeps it or not: no branch, no memory in the chain.
  uint32_t *to_load = indices[kLoadQueue].data(), *to_compute = indices[kComputeQueue].data();
  uint32_t* to_store = indices[kStoreQueue].data();
  const BitField type = layout.memory.memory_type;
  const std::byte* p = stream;
  for (uint64_t i = 0; i + 1 < count; ++i, p += bytes) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    const uint8_t q = route[(word & 7) | type.get(&word) << 3];
    if (q >= kQueues || (layout.wide && layout.version.get(&word) != 1)) [[unlikely]] {
      reject(layout, uint32_t(i), word, count);
    }
    *to_load = *to_compute = *to_store = uint32_t(i);
    to_load += q == kLoadQueue;
    to_compute += q == kComputeQueue;
    to_store += q == kStoreQueue;
  }
  uint64_t last = 0;
  if (count > 0) std::memcpy(&last, stream + (count - 1) * bytes, 8);
  if (count > 0 && layout.wide && layout.version.get(&last) != 1)
    reject(layout, uint32_t(count - 1), last, count);
  if (count == 0 || (last & 7) != uint64_t(IsaOpcode::kFinish)) {
    throw Error(ErrorKind::kInvalidInput,
                "the program of " + std::to_string(count) + " instructions has no FINISH",
                "end it with FINISH");
  }
  *to_compute++ = uint32_t(count - 1);
  length[kLoadQueue] = size_t(to_load - indices[kLoadQueue].data());
  length[kComputeQueue] = size_t(to_compute - indices[kComputeQueue].data());
  length[kStoreQueue] = size_t(to_store - indices[kStoreQueue].data());
}

const char* queue_name(Queue queue) {
  static constexpr const char* kNames[] = {"load", "compute", "store"};
  return kNames[queue];
}

const char* channel_name(Channel channel) {
  static constexpr const char* kNames[] = {"load->compute", "compute->load", "compute->store",
                                           "store->compute", "no channel"};
  return kNames[channel];
}

Diagnostic deadlock_of(Queue queue, uint32_t index, Channel channel, size_t left) {
  return {ErrorKind::kInvalidInput, "instruction " + std::to_string(index),
          std::string(queue_name(queue)) + " queue",
          std::string("deadlock: it waits for a token on ") + channel_name(channel) +
              " that nothing will push; " + std::to_string(left) + " instructions are left in this queue",
          "check the push and pop bits of both modules"};
}

}  // namespace tilewright::overlay
