// Addresses of a band follow from the place of its tensor; a window that reaches beyond the tensor begins at
// the address where its first pixel would lie.
#include "tilewright/pipeline/design/processor_rows.h"

namespace tilewright::pipeline {

const TensorPlace& ProcessorRows::place(int tensor) const { return plan_.places[size_t(tensor)]; }

// The input of a task as its array walks it.
TensorReaderRow ProcessorRows::input_row(const PlannedTask& task, const LayerGeometry& g) const {
  const Layer& layer = network_.layers[size_t(task.layer)];
  const TensorPlace& in = place(layer.input);
  TensorReaderRow row;
  row.unit = in.unit;
  row.row_step = in.row_words;
  row.column_step = in.pixel_words;
  row.pad_value = g.window.pad_value;
  row.waits = task.waits;
  row.in_rows = g.input.rows;
  row.in_columns = g.input.columns;
  if (g.row_major) {  // every word of the rows that the window passes over, once
    const RowRange read = rows_read(g, task.first_row, task.rows);
    row.base = in.base + read.first * in.row_words;
    row.rows = read.last - read.first;
    row.columns = g.input.columns;
    row.blocks = in.pixel_words;
    return row;
  }
  row.first_y = task.first_row * g.window.stride_y - g.window.top;
  row.first_x = -g.window.left;
  row.base = in.base + row.first_y * in.row_words + row.first_x * in.pixel_words;
  row.outer = g.blocks;
  row.outer_step = g.lanes ? 1 : 0;
  row.rows = task.rows;
  row.columns = g.output.columns;
  row.kernel_rows = g.window.rows;
  row.kernel_columns = g.window.columns;
  row.blocks = g.lanes ? 1 : in.pixel_words;
  row.stride_y = g.window.stride_y;
  row.stride_x = g.window.stride_x;
  return row;
}

SlidingWindowRow ProcessorRows::window_row(const PlannedTask& task, const LayerGeometry& g) const {
  const TensorPlace& in = place(network_.layers[size_t(task.layer)].input);
  const RowRange read = rows_read(g, task.first_row, task.rows);
  SlidingWindowRow row;
  row.rows = read.last - read.first;
  row.columns = g.input.columns;
  row.blocks = in.pixel_words;
  row.stride_y = g.window.stride_y;
  row.stride_x = g.window.stride_x;
  row.top = read.first - (task.first_row * g.window.stride_y - g.window.top);
  row.left = g.window.left;
  row.out_rows = task.rows;
  row.out_columns = g.output.columns;
  row.pad_value = g.window.pad_value;
  return row;
}

TensorWriterRow ProcessorRows::output_row(const PlannedTask& task, const LayerGeometry& g) const {
  const TensorPlace& out = place(network_.layers[size_t(task.layer)].output);
  TensorWriterRow row;
  row.unit = out.unit;
  row.base = out.base + task.first_row * out.row_words;
  row.row_step = out.row_words;
  row.column_step = out.pixel_words;
  row.rows = task.rows;
  row.columns = g.output.columns;
  row.limit = out.pixel_words;
  if (g.row_major) {
    row.beats = g.blocks * (plan_.word_elements / part_elements_);
  } else {
    row.outer = g.blocks;
    row.outer_step = g.lanes ? 1 : g.shape.po / plan_.word_elements;
    row.beats = g.lanes ? plan_.word_elements / part_elements_ : g.beats * g.shape.pf / part_elements_;
  }
  return row;
}

// The other operand of a fused addition, in the order of the results.
TensorReaderRow ProcessorRows::residual_row(const PlannedTask& task, const LayerGeometry& g) const {
  const Layer& layer = network_.layers[size_t(task.layer)];
  const TensorPlace& other = place(layer.add->tensor);
  TensorReaderRow row;
  row.unit = other.unit;
  row.base = other.base + task.first_row * other.row_words;
  row.row_step = other.row_words;
  row.column_step = other.pixel_words;
  row.rows = row.in_rows = task.rows;
  row.columns = row.in_columns = g.output.columns;
  row.waits = task.residual_waits;
  if (g.row_major) {
    row.blocks = other.pixel_words;
  } else {
    row.outer = g.blocks;
    row.outer_step = g.lanes ? 1 : g.shape.po / plan_.word_elements;
    row.blocks = g.lanes ? 1 : g.beats * g.shape.pf / plan_.word_elements;
  }
  return row;
}

}  // namespace tilewright::pipeline
