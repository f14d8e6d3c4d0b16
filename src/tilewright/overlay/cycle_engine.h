// One timed run: the units of the overlay and the events between them.
#pragma once

#include <deque>
#include <vector>

#include "tilewright/overlay/cycle_fetch.h"
#include "tilewright/overlay/cycle_loader.h"
#include "tilewright/overlay/cycle_queues.h"
#include "tilewright/overlay/cycle_simulator.h"
#include "tilewright/overlay/cycle_store.h"
#include "tilewright/overlay/executor.h"
#include "tilewright/overlay/instruction_queues.h"

namespace tilewright::overlay {

class CycleEngine {
 public:
  // `executor` has begun the run, `program` is its split stream.
  CycleEngine(Executor& executor, const InstructionQueues& program, MemoryTiming& memory,
              const CycleOptions& options);
  TimedRun run();

 private:
  // An instruction that has started, as its module remembers it.
  struct Running {
    uint32_t index = 0;
    uint64_t bits = 0;     // word 0
    uint64_t visible = 0;  // could have started but for its tokens
    uint64_t start = 0;
    uint64_t load_token = 0;  // first cycle in which load's token was there; 0 if none was needed
  };
  struct Module {
    uint64_t next_start = kNever, visible = kNever, load_token = 0;  // of the head of its queue
    uint64_t last_done = 0;                                          // the latest
    bool any_done = false;
    uint64_t busy = 0, token = 0;  // cycles
  };

  void refresh(Queue queue);
  uint64_t ready_from(Queue queue, const uint64_t* head) const;
  void refresh_reads();
  void grant_read();
  void grant_store();
  void start(Queue queue, uint64_t cycle);
  void start_load(const Running& running, const uint64_t* in);
  void start_compute(const Running& running, const uint64_t* in);
  void start_store(const Running& running, const uint64_t* in);
  uint64_t alu_time(const uint64_t* in) const;
  void done(Queue queue, const Running& running, uint64_t cycle);
  void count_compute(uint64_t start, uint64_t end);
  void settle_stores();
  void advance_fetch();
  void take_token(Channel channel, uint32_t index, uint64_t cycle);
  void record(uint64_t cycle, const Burst& burst, AxiClient client);
  void push_token(Channel channel, uint32_t index, uint64_t cycle);
  [[noreturn]] void overflow(Channel channel, const TokenQueue::Token& token) const;
  void check_overflows() const;
  [[noreturn]] void report_deadlock() const;
  TimedRun result();

  Executor& executor_;
  const InstructionQueues& program_;
  MemoryTiming& memory_;
  const CycleOptions& options_;

  CommandQueue commands_[kQueues];
  TokenQueue tokens_[kChannels];
  FetchUnit fetch_;
  TensorLoader load_, compute_loader_;
  StoreUnit store_;
  Module module_[kQueues];

  // Load: of its instructions in flight all but the newest are known to be done at load_done_.
  Running loading_;
  uint64_t load_done_[4] = {};
  Running computing_;
  uint64_t* compute_cycles_ = nullptr;      // the counter of what was started last
  uint64_t alu_done_ = 0, other_done_ = 0;  // of the last ALU instruction, of the last other one; 0: none
  bool compute_busy_ = false;               // runs, and the cycle of being done is not known
  std::deque<Running> storing_;

  uint64_t next_read_ = kNever, last_read_grant_ = 0;
  ReadClient* reader_ = nullptr;  // to be granted in next_read_
  bool any_read_ = false;
  uint64_t finish_ = kNever;  // cycle of FINISH
  TimedRun run_;
};

}  // namespace tilewright::overlay
