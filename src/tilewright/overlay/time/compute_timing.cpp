// Requantize is walked step by step: which parameters are kept and which destinations are in flight depends
// on every index. Only the steps of the last seven cycles matter, and they sit in a small ring.
#include "tilewright/overlay/time/compute_timing.h"

#include <algorithm>

namespace tilewright::overlay {
namespace {

constexpr uint64_t kGemmTail = 7, kAluTail = 3, kFirstIssue = 3;
constexpr uint64_t kMulSlice = 5, kMulTail = 2;
constexpr uint64_t kRequantizeTail = 6;  // from issue to write; that long a slice is in flight
constexpr uint64_t kLookupTail = 7;      // the same with a table at the end
// Of a row: from its last issue to the unit that has its sums, and from there to its parameters.
constexpr uint64_t kRowSums = 4, kRowMax = 1, kRowDivide = 17, kRowNorm = 25;

// Of `rows` rows of `issues` slices. While the unit works on a row the next one is issued; the row is written
// after that, then the unit takes the next one.
uint64_t rows_duration(uint64_t rows, uint64_t issues, uint64_t writes, uint64_t unit) {
  const uint64_t first = kFirstIssue - 1 + issues + kRowSums + unit;
  if (rows == 1) return first + writes - 1;
  return std::max(first, kFirstIssue + 2 * issues) + (rows - 2) * (writes + std::max(unit, issues)) + writes +
         unit + writes - 1;
}

class RequantizeWalk {
 public:
  RequantizeWalk(uint64_t slices, uint64_t tail) : slices_(slices), tail_(tail) {}

  void step(uint32_t dst, uint32_t src) {
    if (!kept_ || kept_src_ != src) {
      wait([src](uint32_t d) { return d - src < kParameterElements; });
      next_ += kParameterElements;
      kept_ = true;
      kept_src_ = src;
    }
    wait([dst](uint32_t d) { return d == dst; });
    next_ += slices_;
    ring_[++newest_ % kRing] = {dst, next_ - 1};
    if (dst - kept_src_ < kParameterElements) kept_ = false;
  }
  uint64_t last_issue() const { return next_ - 1; }

 private:
  static constexpr size_t kRing = 8;
  struct Step {
    uint32_t dst = 0;
    uint64_t last_issue = 0;  // 0: none
  };

  // Moves on to the first cycle in which no slice in flight has a destination that `meets`.
  template <typename Meets>
  void wait(const Meets& meets) {
    for (size_t back = 0; back < tail_; ++back) {
      const Step& step = ring_[(newest_ - back) % kRing];
      if (step.last_issue == 0 || step.last_issue + tail_ < next_) return;
      // Older steps have left by then.
      if (meets(step.dst)) {
        next_ = step.last_issue + tail_ + 1;
        return;
      }
    }
  }

  const uint64_t slices_, tail_;
  uint64_t next_ = kFirstIssue;  // cycle, from the start, in which the next slice could be issued
  bool kept_ = false;
  uint32_t kept_src_ = 0;
  Step ring_[kRing];
  size_t newest_ = kRing;
};

}  // namespace

uint64_t step_count(const LoopNest& loop) {
  if (loop.uop_begin >= loop.uop_end) return 0;
  return uint64_t{loop.uop_end - loop.uop_begin} * loop.iter_out * loop.iter_in;
}

uint64_t gemm_duration(uint64_t steps) { return steps == 0 ? 1 : steps + kGemmTail; }

uint64_t alu_duration(AluOpcode opcode, const LoopNest& loop, uint64_t slices) {
  const uint64_t steps = step_count(loop);
  if (steps == 0) return 1;
  if (works_on_rows(opcode)) {
    const uint64_t unit = opcode == AluOpcode::kRowMax      ? kRowMax
                          : opcode == AluOpcode::kRowDivide ? kRowDivide
                                                            : kRowNorm;
    return rows_duration(loop.iter_out, steps / loop.iter_out * slices, kParameterElements * slices, unit);
  }
  if (opcode == AluOpcode::kMul) return kMulSlice * steps * slices + kMulTail;
  return steps * slices + kAluTail;
}

uint64_t requantize_duration(const LoopNest& loop, std::span<const MicroOp> uops, uint64_t slices,
                             bool lookup, const std::function<void()>& tick) {
  if (step_count(loop) == 0) return 1;
  const uint64_t tail = lookup ? kLookupTail : kRequantizeTail;
  RequantizeWalk walk(slices, tail);
  for (uint32_t y = 0; y < loop.iter_out; ++y) {
    for (uint32_t x = 0; x < loop.iter_in; ++x) {
      if (tick) tick();
      const uint32_t dst = y * loop.dst_factor_out + x * loop.dst_factor_in;
      const uint32_t src = y * loop.src_factor_out + x * loop.src_factor_in;
      for (uint32_t u = loop.uop_begin; u < loop.uop_end; ++u)
        walk.step(uops[u].dst + dst, uops[u].src + src);
    }
  }
  return walk.last_issue() + tail;
}

}  // namespace tilewright::overlay
