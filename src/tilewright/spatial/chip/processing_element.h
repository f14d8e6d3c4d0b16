// One processing element, cycle by cycle: a 1-D convolution of a pixel row with a row of weights, for q
// channels and p filters at once. For every output column it multiplies each of the q*S pixels of the window
// with p weights (one product per cycle), then adds the p partial sums that come from below and hands the
// results up. It works on words that the networks have actually delivered and stalls when one is missing.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/spatial/chip/chip.h"

namespace tilewright {

// Cycles of PEs by what they did; the sum over the fields is PEs times cycles.
struct PeCycles {
  int64_t multiply = 0;    // a product (and its addition)
  int64_t accumulate = 0;  // the addition of a partial sum from below
  int64_t wait_weight = 0, wait_pixel = 0, wait_psum_in = 0, wait_psum_out = 0;
  int64_t finished = 0;  // own work of the pass done, others not
  int64_t unmapped = 0;  // no work in this pass
  bool operator==(const PeCycles&) const = default;
  PeCycles& add(const PeCycles& other, int64_t times);
  int64_t busy() const { return multiply + accumulate; }
  int64_t total() const {
    return busy() + wait_weight + wait_pixel + wait_psum_in + wait_psum_out + finished + unmapped;
  }
};

// Partial sums on their way, in order. A word is reserved when its addition is issued and can be taken from
// the cycle on in which its transfer arrives.
class PsumFifo {
 public:
  explicit PsumFifo(int64_t capacity) : words_(size_t(capacity)) {}
  int64_t room() const { return int64_t(words_.size()) - size_; }
  void push(int64_t value, int64_t available_cycle);
  // The last `count` words arrive together in that cycle.
  void arrive(int64_t count, int64_t available_cycle);
  bool front_available(int64_t cycle) const {
    return size_ > 0 && words_[size_t(first_)].available_cycle <= cycle;
  }
  // How many words at the front can be taken in `cycle`, at most `most`.
  int64_t available(int64_t cycle, int64_t most) const;
  int64_t pop();

 private:
  struct Word {
    int64_t value = 0, available_cycle = 0;
  };
  // index <= capacity
  size_t slot(int64_t index) const {
    const size_t at = size_t(first_ + index);
    return at < words_.size() ? at : at - words_.size();
  }
  std::vector<Word> words_;
  int64_t first_ = 0, size_ = 0;
};

// What a PE does in a pass.
struct PeWork {
  int64_t images = 1, columns = 1;    // output columns F
  int64_t taps = 1, stride = 1;       // S, U
  int64_t channels = 1, filters = 1;  // q, p of this PE's set
  bool takes_psums = true;            // partial sums come from below or from the buffer
};

class ProcessingElement {
 public:
  // `input` is this PE's own; `output` the next PE's or the chain's end. Both outlive the PE.
  ProcessingElement(const RowStationaryChip& chip, const PeWork& work, PsumFifo* input, PsumFifo* output);

  // Words from the networks, usable from the next cycle on. Weights come ordered by window position, then
  // filter; pixels by column, then channel. The caller must respect pixel_room().
  void receive_weight(int16_t weight) { weights_[size_t(weights_received_++)] = weight; }
  int64_t pixel_room() const { return int64_t(pixels_.size()) - (pixels_received_ - pixels_freed_); }
  void receive_pixel(int16_t pixel) { pixels_[size_t(pixels_received_++) % pixels_.size()] = pixel; }

  // Does what `cycle` allows and returns the next cycle that needs a call. In between, the PE is busy with a
  // run of products for which it has all operands; they are counted at once.
  int64_t step(int64_t cycle);
  bool done() const { return image_ == work_.images; }
  const PeCycles& cycles() const { return cycles_; }
  // Partial sums sent up, and accesses of the psum spad: the first product of a psum reads nothing.
  int64_t handed_up() const { return handed_up_; }
  int64_t psum_reads() const { return cycles_.multiply - first_products_ + handed_up_; }
  int64_t psum_writes() const { return cycles_.multiply; }

 private:
  int64_t multiply(int64_t cycle);
  int64_t accumulate(int64_t cycle);
  int64_t multiply_and_accumulate(int64_t cycle);
  // Whether a partial sum can be added now; counts the stall if not.
  bool can_accumulate(int64_t cycle);
  void hand_up(int64_t value, int64_t cycle);
  int64_t stall(int64_t PeCycles::*reason, int64_t cycle) {
    ++(cycles_.*reason);
    return cycle + 1;
  }
  void end_of_pixel();
  void end_of_column();

  const PeWork work_;
  const int64_t pipeline_stages_, link_words_;
  const bool shared_adder_;
  bool waits_for_load_;
  const int64_t window_;        // q*S
  const int64_t window_step_;   // pixels from one window to the next
  const int64_t image_pixels_;  // pixels of one image's row that are used
  PsumFifo* const input_;
  PsumFifo* const output_;
  std::vector<int16_t> weights_, pixels_;
  std::vector<int64_t> psums_;
  int64_t weights_received_ = 0, pixels_received_ = 0, pixels_freed_ = 0, pixels_to_free_ = 0;
  int64_t image_ = 0, column_ = 0, position_ = 0, filter_ = 0;  // position_ == window_: accumulating
  int64_t transfer_ = 0;                                        // words of the transfer that is being filled
  int64_t first_products_ = 0, handed_up_ = 0;
  PeCycles cycles_;
};

}  // namespace tilewright
