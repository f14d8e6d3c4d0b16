// The task table of tensor_writer. The beats of a task, in order: for ob < outer, y < rows, x < columns,
// d < beats, with w = ob * outer_step + d / (PI/PF): part d mod (PI/PF) of word base + y * row_step +
// x * column_step + w of `unit`; taken but not written where w >= limit.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

struct TensorWriterRow {
  int64_t unit = 0, base = 0;
  int64_t outer = 1, outer_step = 0;
  int64_t row_step = 0, column_step = 0;  // in words
  int64_t rows = 1, columns = 1, beats = 1;
  int64_t limit = 1;  // words per pixel
};

MemoryImage encode(const std::vector<TensorWriterRow>& rows);
std::vector<TensorWriterRow> decode_tensor_writer(const MemoryImage& table);

}  // namespace tilewright::pipeline
