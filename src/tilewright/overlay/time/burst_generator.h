// The bursts of a transfer, in order (docs/design/overlay/overlay_rtl.md, "Bursts"): row by row, greedily as
// long as the hardware's limit and the next 4 KiB boundary allow.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/overlay/isa/isa.h"

namespace tilewright::overlay {

// A cycle that is not known or never occurs.
inline constexpr uint64_t kNever = UINT64_MAX;

// One LOAD or STORE as its memory side sees it, in bytes and elements.
struct Transfer {
  uint64_t address = 0;     // of the first row
  uint64_t row_stride = 0;  // bytes
  uint64_t rows = 0, row_elements = 0;
  uint32_t element_log = 0;  // of the bytes of an element

  // `element_bytes`: a power of two. No rows where nothing is moved.
  static Transfer of(const MemoryInstruction& i, int64_t element_bytes) {
    const uint32_t log = uint32_t(std::countr_zero(uint64_t(element_bytes)));
    return {uint64_t{i.dram_base} << log, uint64_t{i.x_stride} << log, i.x_size == 0 ? 0u : i.y_size,
            i.x_size, log};
  }
};

struct Burst {
  uint64_t address = 0;  // bytes, a multiple of the beat
  uint32_t beats = 0;
  uint32_t elements = 0;        // begun or not: bytes of the row in it / element; 0 if an element is larger
  uint32_t first_elements = 0;  // of them in the first beat
  bool row_begins = false, row_ends = false;
};

class BurstGenerator {
 public:
  explicit BurstGenerator(const OverlayHardware& hardware)
      : beat_log_(uint32_t(std::countr_zero(uint32_t(hardware.memory_width_bits / 8)))),
        max_beats_(uint64_t(hardware.max_burst_beats)) {}

  void start(const Transfer& transfer) {
    transfer_ = transfer;
    rows_left_ = transfer.row_elements == 0 ? 0 : transfer.rows;
    row_ = cursor_ = transfer.address;
  }
  bool any_left() const { return rows_left_ > 0; }
  // Writes into the caller's burst, field by field: one that is copied as a whole right after it was written
  // would have to wait for its parts.
  void next(Burst& burst) {
    const uint64_t row_end = row_ + (transfer_.row_elements << transfer_.element_log);
    const uint64_t first = cursor_ >> beat_log_, page_beats = kPage >> beat_log_;
    const uint64_t last = (row_end - 1) >> beat_log_;
    const uint64_t beats = std::min({last - first + 1, max_beats_, page_beats - (first & (page_beats - 1))});
    const uint64_t end = std::min(row_end, (first + beats) << beat_log_);
    const uint64_t first_end = std::min(row_end, (first + 1) << beat_log_);
    burst.address = first << beat_log_;
    burst.beats = uint32_t(beats);
    burst.elements = uint32_t((end - cursor_) >> transfer_.element_log);
    burst.first_elements = uint32_t((first_end - cursor_) >> transfer_.element_log);
    burst.row_begins = cursor_ == row_;
    burst.row_ends = end == row_end;
    cursor_ = end;
    if (burst.row_ends) {
      --rows_left_;
      row_ += transfer_.row_stride;
      cursor_ = row_;
    }
  }
  uint32_t beat_log() const { return beat_log_; }

 private:
  static constexpr uint64_t kPage = 4096;
  const uint32_t beat_log_;
  const uint64_t max_beats_;
  Transfer transfer_;
  uint64_t rows_left_ = 0;
  uint64_t row_ = 0, cursor_ = 0;  // bytes: of the current row, of what comes next
};

}  // namespace tilewright::overlay
