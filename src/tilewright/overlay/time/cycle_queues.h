// Timing of command queues and token channels: what was pushed when, and when it can be taken.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tilewright/overlay/time/burst_generator.h"

namespace tilewright::overlay {

// A FIFO2 of instructions; its indices are those of InstructionQueues.
class CommandQueue {
 public:
  explicit CommandQueue(int depth)
      : depth_(uint64_t(depth)), pushed_at_(size_t(depth)), started_at_(size_t(depth)) {}

  uint64_t pushed() const { return pushed_; }
  uint64_t started() const { return started_; }
  bool empty() const { return started_ == pushed_; }
  // The first cycle in which it has room; kNever until more has been started.
  uint64_t room_from() const {
    if (pushed_ < depth_) return 0;
    return started_ > pushed_ - depth_ ? started_at_[pushed_ & (depth_ - 1)] + 1 : kNever;
  }
  void push(uint64_t cycle) { pushed_at_[pushed_++ & (depth_ - 1)] = cycle; }
  // Of a queue that is not empty: the first cycle in which its head is visible.
  uint64_t head_from() const {
    const uint64_t visible = pushed_at_[started_ & (depth_ - 1)] + 2;
    return started_ == 0 ? visible : std::max(visible, started_at_[(started_ - 1) & (depth_ - 1)] + 1);
  }
  void start(uint64_t cycle) { started_at_[started_++ & (depth_ - 1)] = cycle; }

 private:
  const uint64_t depth_;
  std::vector<uint64_t> pushed_at_, started_at_;  // of the last `depth_` of each
  uint64_t pushed_ = 0, started_ = 0;
};

// One token channel. Pushes may be announced ahead of time; a GEMM beside an ALU instruction may overtake it.
class TokenQueue {
 public:
  static constexpr size_t kMost = 255;
  struct Token {
    uint64_t cycle = 0;   // of the push
    uint64_t pusher = 0;  // its position in its queue
  };
  // Returns whether it came before one that had been announced.
  bool push(uint64_t cycle, uint64_t pusher) {
    size_t at = tokens_.size();
    while (at > head_ && tokens_[at - 1].cycle > cycle) --at;
    const bool overtakes = at != tokens_.size();
    tokens_.insert(tokens_.begin() + ptrdiff_t(at), {cycle, pusher});
    return overtakes;
  }
  // The first cycle in which a token can be taken; kNever while none has been pushed.
  uint64_t from() const { return head_ == tokens_.size() ? kNever : tokens_[head_].cycle + 1; }
  // The push that found kMost tokens there if the head is not taken before `cycle`; null if none did.
  const Token* overflow_by(uint64_t cycle) const {
    const size_t at = head_ + kMost;
    return at < tokens_.size() && tokens_[at].cycle < cycle ? &tokens_[at] : nullptr;
  }
  Token pop() {
    const Token token = tokens_[head_++];
    if (head_ == kCompactAt) {
      tokens_.erase(tokens_.begin(), tokens_.begin() + ptrdiff_t(head_));
      head_ = 0;
    }
    return token;
  }

 private:
  static constexpr size_t kCompactAt = 4096;
  std::vector<Token> tokens_;
  size_t head_ = 0;  // first one that has not been taken
};

}  // namespace tilewright::overlay
