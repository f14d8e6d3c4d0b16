// Places tokens in an instruction stream that is written in program order, so that no two modules race: the
// core of random_stream_testing.h.
//
// For every element it tracks the last instruction of each module that wrote or read it, and for each module
// a vector clock: which instructions of the others are done when its next one starts. An access that
// conflicts with one that is not known to be done first takes tokens until it is: one that waits on the
// channel, or one added to the last instruction of the other module. Tokens carry the clock of their pusher.
// A pop always follows its push in program order, so fetch order can never deadlock, however short the
// queues.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/overlay/isa/isa.h"

namespace tilewright::overlay {

class TokenPlacement {
 public:
  enum Part { kLoad, kCompute, kStore, kParts };
  using Clock = std::array<uint32_t, kParts>;  // instruction numbers from 1; 0: none

  // The last accesses to one element.
  struct Touched {
    Clock written{}, read{};
  };
  // What an instruction is about to access.
  struct Accesses {
    std::vector<Touched*> reads, writes;
  };

  // `random` decides where superfluous tokens go.
  explicit TokenPlacement(Random& random) : random_(random) {}

  // Appends an instruction of `part`, after NOPs that take further tokens where it needs several from one
  // side. Its own dependency bits are set here.
  void append(Part part, const Instruction& instruction, const Accesses& accesses);
  // Takes all remaining tokens, waits for load and store, and appends FINISH.
  void finish();

  const std::vector<Instruction>& instructions() const { return instructions_; }
  // The number of the last instruction of a module.
  uint32_t last(Part part) const { return last_[part]; }

 private:
  void add(int part, Instruction instruction);
  void push(int from, int to);
  void pop(int from, int to);
  void order(int from, uint32_t number, int to);
  void drain(int from, int to);

  Random& random_;
  std::vector<Instruction> instructions_;
  std::array<Clock, kParts> clocks_{};
  std::array<uint32_t, kParts> last_{};
  std::array<Dependencies, kParts> pops_{};  // that the next instruction of each module takes
  std::array<std::deque<Clock>, 4> tokens_;  // by channel
  bool chatty_ = true;                       // superfluous tokens
  bool beside_ = false;                      // the last instruction of compute is a GEMM with beside_alu
};

}  // namespace tilewright::overlay
