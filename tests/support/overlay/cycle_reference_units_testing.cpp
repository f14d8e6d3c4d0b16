// One beat, one element, one slice at a time.
#include "support/overlay/cycle_reference_units_testing.h"

#include "tilewright/overlay/isa/isa_layout.h"

namespace tilewright::overlay::reference {

std::vector<Beats> list_bursts(const OverlayHardware& hardware, uint64_t address, uint64_t rows,
                               uint64_t row_bytes, uint64_t row_stride, uint64_t element_bytes) {
  const uint64_t width = uint64_t(hardware.memory_width_bits) / 8;
  std::vector<Beats> bursts;
  for (uint64_t row = 0; row < rows && row_bytes > 0; ++row) {
    const uint64_t first = address + row * row_stride, last = first + row_bytes - 1;
    bool open = false;
    for (uint64_t beat = first / width; beat <= last / width; ++beat) {
      if (!open || bursts.back().beats == uint32_t(hardware.max_burst_beats) || beat * width % 4096 == 0) {
        bursts.push_back({beat * width, 0, 0});
        open = true;
      }
      ++bursts.back().beats;
      for (uint64_t byte = beat * width; byte < (beat + 1) * width; ++byte) {
        if (byte >= first && byte <= last && byte % element_bytes == 0) ++bursts.back().elements;
      }
    }
  }
  return bursts;
}

void Loader::start(uint64_t cycle, const Descriptor& descriptor) {
  const MemoryInstruction& i = descriptor.load;
  const uint64_t bytes = uint64_t(element_bytes(hardware_, i.memory_type));
  in_flight.push(cycle, descriptor);
  generator.start(
      list_bursts(hardware_, i.dram_base * bytes, i.y_size, i.x_size * bytes, i.x_stride * bytes, bytes));
}

bool Loader::tick(uint64_t cycle, Descriptor& finished) {
  if (!in_flight.visible(cycle) || !step(cycle, in_flight.head().load)) return false;
  finished = in_flight.head();
  in_flight.pop(cycle);
  row_ = column_ = part_ = 0;
  return true;
}

// Returns whether it is the last one.
bool Loader::step(uint64_t cycle, const MemoryInstruction& i) {
  const uint64_t rows = uint64_t{i.y_pad_0} + i.y_size + i.y_pad_1;
  const uint64_t columns = uint64_t{i.x_pad_0} + i.x_size + i.x_pad_1;
  if (i.x_size == 0 || rows == 0) return true;
  const bool padded = row_ < i.y_pad_0 || row_ >= uint64_t{i.y_pad_0} + i.y_size || column_ < i.x_pad_0 ||
                      column_ >= uint64_t{i.x_pad_0} + i.x_size;
  if (!padded) {
    if (!data.visible(cycle)) return false;
    const uint64_t bytes = uint64_t(element_bytes(hardware_, i.memory_type));
    const uint64_t width = uint64_t(hardware_.memory_width_bits) / 8;
    if (bytes >= width) {
      pop(cycle);
      if (++part_ < bytes / width) return false;
      part_ = 0;
    } else {
      const uint64_t element = column_ - i.x_pad_0;
      const uint64_t at = (i.dram_base + (row_ - i.y_pad_0) * i.x_stride + element) * bytes;
      if (element + 1 == i.x_size || (at + bytes) % width == 0) pop(cycle);
    }
  }
  if (++column_ < columns) return false;
  column_ = 0;
  return ++row_ == rows;
}

void Requantizer::start(std::vector<Step> steps, uint64_t slices, uint64_t first_cycle, bool lookup) {
  flight_ = lookup ? 7 : 6;
  steps_ = std::move(steps);
  slices_ = slices;
  first_cycle_ = first_cycle;
  step_ = 0;
  slice_ = reads_ = 0;
  kept_ = false;
  issued_.clear();
}

bool Requantizer::in_flight(uint64_t cycle, uint32_t first, uint32_t count) const {
  for (const Issue& issue : issued_) {
    if (issue.cycle + flight_ >= cycle && issue.dst >= first && issue.dst < first + count) return true;
  }
  return false;
}

bool Requantizer::tick(uint64_t cycle) {
  if (cycle < first_cycle_) return false;
  if (step_ == steps_.size()) return cycle == issued_.back().cycle + flight_;
  const Step step = steps_[step_];
  if (slice_ == 0) {
    if (!kept_ || kept_src_ != step.src) {
      if (reads_ == 0 && in_flight(cycle, step.src, 3)) return false;
      if (++reads_ < 3) return false;
      reads_ = 0;
      kept_ = true;
      kept_src_ = step.src;
      return false;
    }
    if (in_flight(cycle, step.dst, 1)) return false;
  }
  issued_.push_back({cycle, step.dst});
  if (issued_.size() > 8) issued_.pop_front();
  if (++slice_ == slices_) {
    slice_ = 0;
    ++step_;
    if (step.dst >= kept_src_ && step.dst < kept_src_ + 3) kept_ = false;
  }
  return false;
}

}  // namespace tilewright::overlay::reference
