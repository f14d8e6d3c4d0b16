// Addresses of a band follow from the place of its tensor; a window that reaches beyond the tensor begins at
// the address where its first pixel would lie.
#include "tilewright/pipeline/design/processor_rows.h"

#include "tilewright/pipeline/design/pack.h"
#include "tilewright/pipeline/network/tensor_parts.h"

namespace tilewright::pipeline {

// Weights of the engine's layers one after the other, and where each begins.
MemoryImage ProcessorRows::weight_words(int e, const EngineWidths& widths,
                                        std::map<int, int64_t>& bases) const {
  const EngineAllocation& own = allocation_.engines[size_t(e)];
  const bool row_major = own.shape.feeder == Feeder::kRowMajor;
  MemoryImage words{int(widths.weight_word)};
  for (size_t l = 0; l < network_.layers.size(); ++l) {
    if (allocation_.layers[l].engine != e) continue;
    bases[int(l)] = words.words();
    const int64_t channels = geometry(int(l)).input.channels, pi = plan_.word_elements;
    const Layer layer = with_slots(network_, network_.layers[l], pi);
    if (own.lanes) {
      append_lane_weights(words, layer, channels, pi, widths.weight_bits, row_major);
    } else {
      append_mac_weights(words, layer, channels, pi, own.shape.po, widths.weight_bits, false);
    }
  }
  return words;
}

EngineContents ProcessorRows::engine(int e, const EngineWidths& widths) const {
  const int64_t pf = allocation_.engines[size_t(e)].shape.pf;
  EngineContents contents;
  std::map<int, int64_t> weight_bases, parameter_bases;
  contents.weights.words = weight_words(e, widths, weight_bases);
  contents.parameters.words = MemoryImage(int(widths.parameter_word));
  for (const PlannedTask& task : plan_.tasks) {
    if (task.engine != e) continue;
    const LayerGeometry g = geometry(task.layer);
    const Layer& layer = network_.layers[size_t(task.layer)];
    const int64_t pixels = task.rows * g.output.columns;
    contents.reads.push_back(input_row(task, g));
    contents.writes.push_back(output_row(task, g));
    if (g.row_major) contents.windows.push_back(window_row(task, g));
    if (layer.add) contents.residuals.push_back(residual_row(task, g));
    contents.finishes.push_back({&layer, pixels * g.blocks * g.beats, g.beats});
    const int64_t weights = weight_bases[task.layer];
    contents.ring.push_back({g.blocks, pixels, g.words, task.hold});
    contents.weights.rows.push_back(g.row_major ? RomWalkerRow{weights, 1, pixels, g.blocks}
                                                : RomWalkerRow{weights, g.blocks, pixels, g.words});
    MemoryImage& words = contents.parameters.words;
    const auto [base, fresh] = parameter_bases.try_emplace(task.layer, words.words());
    if (fresh) {
      append_finish_words(words, network_, with_slots(network_, layer, plan_.word_elements),
                          g.output.channels, widths.outputs, pf, widths.multiplier_bits);
    }
    contents.parameters.rows.push_back(g.row_major ? RomWalkerRow{base->second, 1, pixels, g.blocks * g.beats}
                                                   : RomWalkerRow{base->second, g.blocks, pixels, g.beats});
  }
  return contents;
}

std::vector<TensorWriterRow> ProcessorRows::loader() const {
  const TensorPlace& in = place(network_.input);
  std::vector<TensorWriterRow> rows;
  for (const PlannedTask& task : plan_.tasks) {
    if (task.engine != PlannedTask::kLoader) continue;
    TensorWriterRow row;
    row.unit = in.unit;
    row.base = in.base + task.first_row * in.row_words;
    row.row_step = row.columns = in.row_words;
    row.column_step = 1;
    row.rows = task.rows;
    row.beats = plan_.word_elements / part_elements_;
    row.limit = 1;
    rows.push_back(row);
  }
  return rows;
}

TensorReaderRow ProcessorRows::storer() const {
  const TensorPlace& out = place(network_.output);
  TensorReaderRow row;
  row.unit = out.unit;
  row.base = out.base;
  row.row_step = out.row_words;
  row.column_step = 1;
  row.rows = row.in_rows = network_.tensors[size_t(network_.output)].shape.rows;
  row.columns = row.in_columns = out.row_words;
  for (const PlannedTask& task : plan_.tasks) {
    if (task.engine == PlannedTask::kStorer) row.waits = task.waits;
  }
  return row;
}

// The input of a task as its array walks it; row-major: as the sliding window takes it, word by word.
TensorReaderRow ProcessorRows::input_row(const PlannedTask& task, const LayerGeometry& g) const {
  const Layer& layer = network_.layers[size_t(task.layer)];
  const TensorPlace& in = place(layer.input);
  TensorReaderRow row;
  row.unit = in.unit;
  row.row_step = in.row_words;
  row.column_step = in.column_words;
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
  row.base = in.base + row.first_y * in.row_words + row.first_x * in.column_words;
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
  row.column_step = out.column_words;
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
  row.column_step = other.column_words;
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
