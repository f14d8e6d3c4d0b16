// The tasks of a sliding_window: one row of its table per task, that is, per image or band of one.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

struct SlidingWindowRow {
  int64_t rows = 1, columns = 1, blocks = 1;  // of the input: H, W, CB
  int64_t stride_y = 1, stride_x = 1;
  int64_t top = 0, left = 0;  // padding; bottom and right follow
  int64_t out_rows = 1, out_columns = 1;
  int64_t pad_value = 0;
  bool operator==(const SlidingWindowRow&) const = default;
};

// The table of a component with these parameters (AW, KH, KW, MAX_WORDS, and, where given, MAX_CB,
// COUNT_BITS, REPEAT). Errors (invalid input): rows that the component cannot walk, all of them.
MemoryImage encode(const std::vector<SlidingWindowRow>& rows, const netlist::Parameters& parameters);
std::vector<SlidingWindowRow> decode_sliding_window(const MemoryImage& table,
                                                    const netlist::Parameters& parameters);

// Steps by which an output follows the word in its window's upper left corner, padding left out: W * CB per
// row of the window below the padding, CB per column right of it.
int64_t sliding_window_lag(const SlidingWindowRow& row, int64_t kernel_rows, int64_t kernel_columns);
// COUNT_BITS that hold what is counted for a row of its table: its words and the lag, which is longer where a
// large window stands on a small image.
int64_t sliding_window_count_bits(const SlidingWindowRow& row, int64_t kernel_rows, int64_t kernel_columns);

}  // namespace tilewright::pipeline
