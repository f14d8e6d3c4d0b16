// The task table of tensor_reader. The words of a task, in order: for ob < outer, y < rows, x < columns,
// ky < kernel_rows, kx < kernel_columns, cb < blocks word base + ob * outer_step +
// (y * stride_y + ky) * row_step + (x * stride_x + kx) * column_step + cb of `unit`, where the pixel
// (y * stride_y + first_y + ky, x * stride_x + first_x + kx) lies in in_rows x in_columns, else pad_value.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

struct TensorReaderRow {
  int64_t unit = 0;
  int64_t base = 0;  // of pixel (first_y, first_x): below 0 where that is padding
  int64_t outer = 1, outer_step = 0;
  int64_t row_step = 0, column_step = 0;  // in words
  int64_t rows = 1, columns = 1;
  int64_t kernel_rows = 1, kernel_columns = 1, blocks = 1;
  int64_t stride_y = 1, stride_x = 1;
  int64_t first_y = 0, first_x = 0;
  int64_t in_rows = 1, in_columns = 1;
  int64_t pad_value = 0;
  bool flat = false;           // last with every beat
  std::vector<int64_t> waits;  // tasks that each source of progress must have completed; missing ones: 0
};

// `aw`, `progress_sources`: the parameters AW and PROGRESS.
MemoryImage encode(const std::vector<TensorReaderRow>& rows, int aw, int progress_sources);
std::vector<TensorReaderRow> decode_tensor_reader(const MemoryImage& table, int aw, int progress_sources);

}  // namespace tilewright::pipeline
