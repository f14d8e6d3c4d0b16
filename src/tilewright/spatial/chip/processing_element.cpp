// The state machine of a PE. A run of p products of one pixel is executed at once when all its weights are
// there: nothing can interrupt it, so the cycles are the same as one by one.
#include "tilewright/spatial/chip/processing_element.h"

#include <algorithm>
#include <limits>

namespace tilewright {
namespace {
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
}

PeCycles& PeCycles::add(const PeCycles& other, int64_t times) {
  multiply += times * other.multiply;
  accumulate += times * other.accumulate;
  wait_weight += times * other.wait_weight;
  wait_pixel += times * other.wait_pixel;
  wait_psum_in += times * other.wait_psum_in;
  wait_psum_out += times * other.wait_psum_out;
  finished += times * other.finished;
  unmapped += times * other.unmapped;
  return *this;
}

void PsumFifo::push(int64_t value, int64_t available_cycle) {
  words_[slot(size_++)] = {value, available_cycle};
}

void PsumFifo::arrive(int64_t count, int64_t available_cycle) {
  for (int64_t k = size_ - count; k < size_; ++k) words_[slot(k)].available_cycle = available_cycle;
}

int64_t PsumFifo::available(int64_t cycle, int64_t most) const {
  int64_t count = 0;
  const int64_t limit = std::min(most, size_);
  while (count < limit && words_[slot(count)].available_cycle <= cycle) ++count;
  return count;
}

int64_t PsumFifo::pop() {
  const int64_t value = words_[size_t(first_)].value;
  first_ = int64_t(slot(1));
  --size_;
  return value;
}

ProcessingElement::ProcessingElement(const RowStationaryChip& chip, const PeWork& work, PsumFifo* input,
                                     PsumFifo* output)
    : work_(work),
      pipeline_stages_(chip.pipeline_stages),
      link_words_(chip.link_words_per_cycle),
      shared_adder_(chip.overlap.shared_adder),
      waits_for_load_(chip.overlap.start_when_loaded),
      window_(work.channels * work.taps),
      window_step_(std::min(work.stride, work.taps) * work.channels),
      image_pixels_(window_step_ * (work.columns - 1) + window_),
      input_(input),
      output_(output),
      weights_(size_t(window_ * work.filters)),
      pixels_(size_t(chip.pixel_spad_words)),
      psums_(size_t(work.filters)) {}

int64_t ProcessingElement::step(int64_t cycle) {
  pixels_freed_ += pixels_to_free_;
  pixels_to_free_ = 0;
  if (done()) return kNever;
  if (waits_for_load_) {
    if (weights_received_ < int64_t(weights_.size())) return stall(&PeCycles::wait_weight, cycle);
    if (pixels_received_ < window_) return stall(&PeCycles::wait_pixel, cycle);
    waits_for_load_ = false;
  }
  if (position_ == window_) return accumulate(cycle);
  if (!shared_adder_ && position_ == window_ - 1) return multiply_and_accumulate(cycle);
  return multiply(cycle);
}

int64_t ProcessingElement::multiply(int64_t cycle) {
  const int64_t pixel_index = image_ * image_pixels_ + column_ * window_step_ + position_;
  if (pixels_received_ <= pixel_index) return stall(&PeCycles::wait_pixel, cycle);
  const int64_t weight_index = position_ * work_.filters + filter_;
  const int64_t run = std::min(weights_received_ - weight_index, work_.filters - filter_);
  if (run <= 0) return stall(&PeCycles::wait_weight, cycle);
  const int32_t pixel = pixels_[size_t(pixel_index) % pixels_.size()];
  const int16_t* weights = &weights_[size_t(weight_index)];
  int64_t* psums = &psums_[size_t(filter_)];
  for (int64_t k = 0; k < run; ++k) psums[k] += pixel * int32_t{weights[k]};
  cycles_.multiply += run;
  if (position_ == 0) first_products_ += run;
  filter_ += run;
  if (filter_ == work_.filters) end_of_pixel();
  return cycle + run;
}

int64_t ProcessingElement::accumulate(int64_t cycle) {
  if (!can_accumulate(cycle)) return cycle + 1;
  ++cycles_.accumulate;
  hand_up(psums_[size_t(filter_)], cycle);
  psums_[size_t(filter_)] = 0;
  if (++filter_ == work_.filters) end_of_column();
  return cycle + 1;
}

// With a second adder the last product of a psum, its addition and that of the incoming psum are one slot.
int64_t ProcessingElement::multiply_and_accumulate(int64_t cycle) {
  const int64_t pixel_index = image_ * image_pixels_ + column_ * window_step_ + position_;
  if (pixels_received_ <= pixel_index) return stall(&PeCycles::wait_pixel, cycle);
  const int64_t weight_index = position_ * work_.filters + filter_;
  if (weights_received_ <= weight_index) return stall(&PeCycles::wait_weight, cycle);
  if (!can_accumulate(cycle)) return cycle + 1;
  ++cycles_.multiply;
  if (position_ == 0) ++first_products_;
  const int32_t pixel = pixels_[size_t(pixel_index) % pixels_.size()];
  hand_up(psums_[size_t(filter_)] + pixel * int32_t{weights_[size_t(weight_index)]}, cycle);
  psums_[size_t(filter_)] = 0;
  if (++filter_ == work_.filters) {
    end_of_pixel();
    end_of_column();
  }
  return cycle + 1;
}

bool ProcessingElement::can_accumulate(int64_t cycle) {
  if (work_.takes_psums && !input_->front_available(cycle)) {
    ++cycles_.wait_psum_in;
    return false;
  }
  if (output_->room() == 0) {
    ++cycles_.wait_psum_out;
    return false;
  }
  return true;
}

void ProcessingElement::hand_up(int64_t value, int64_t cycle) {
  if (work_.takes_psums) value += input_->pop();
  output_->push(value, kNever);
  ++handed_up_;
  ++transfer_;
  if (transfer_ == link_words_ || filter_ == work_.filters - 1) {
    output_->arrive(transfer_, cycle + pipeline_stages_);
    transfer_ = 0;
  }
}

void ProcessingElement::end_of_pixel() {
  filter_ = 0;
  if (column_ == work_.columns - 1 || position_ < window_step_) ++pixels_to_free_;
  ++position_;
}

void ProcessingElement::end_of_column() {
  filter_ = 0;
  position_ = 0;
  if (++column_ == work_.columns) {
    column_ = 0;
    ++image_;
  }
}

}  // namespace tilewright
