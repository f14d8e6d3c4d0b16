// Shapes of layers in words and blocks, as docs/design/pipeline/pipeline.md lays tensors and task tables out.
#include "tilewright/pipeline/design/layer_geometry.h"

#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/design/component_latency.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/network/tensor_parts.h"

namespace tilewright::pipeline {

bool works_in_lanes(LayerKind kind) { return kind != LayerKind::kConvolution; }

bool multiplies(const Layer& layer) {
  return layer.kind == LayerKind::kConvolution || layer.kind == LayerKind::kDepthwise ||
         !layer.weights.empty();
}

bool is_row_major(const ArrayShape& shape, const LayerWindow& window) {
  return shape.feeder == Feeder::kRowMajor && window.rows * window.columns > 1;
}

const char* row_major_obstacle(const TensorShape& input, const TensorShape& output, const LayerWindow& window,
                               int64_t pixel_words) {
  const int64_t line = input.columns * pixel_words;
  if (window.rows > 15 || window.columns > 15) return "has windows of more than 15 rows or columns";
  if (window.stride_y > 15 || window.stride_x > 15) return "has strides above 15";
  if (line > 65535) return "has rows of more than 65535 words";
  if (input.rows * line >= int64_t{1} << 24) return "has images of 2^24 words or more";
  if (window.rows > 1 && line < 2) return "has rows of a single word";
  if (window.top >= window.rows || window.left >= window.columns) return "has windows of padding alone";
  if ((output.rows - 1) * window.stride_y >= input.rows ||
      (output.columns - 1) * window.stride_x >= input.columns) {
    return "has more windows than pixels";
  }
  return nullptr;
}

const char* line_window_obstacle(const TensorShape& input, const TensorShape& output,
                                 const LayerWindow& window) {
  const int64_t top = (output.rows - 1) * window.stride_y - window.top,
                left = (output.columns - 1) * window.stride_x - window.left;
  const bool inside =
      top < input.rows && top + window.rows > 0 && left < input.columns && left + window.columns > 0;
  return inside ? nullptr : "ends with windows of padding alone";
}

const char* window_obstacle(const LayerGeometry& g, bool streaming) {
  if (g.row_major) return row_major_obstacle(g.input, g.output, g.window, g.pixel_words);
  return streaming && !g.direct ? line_window_obstacle(g.input, g.output, g.window) : nullptr;
}

bool sweeps_twice(const LayerGeometry& g) {
  return g.row_major && !g.lanes && g.blocks > 1 && g.pixel_words > 1;
}

const ArrayShape& array_of(const Allocation& allocation, size_t layer) {
  const LayerAllocation& own = allocation.layers[layer];
  return allocation.streaming ? own.stage : allocation.engines[size_t(own.engine)].shape;
}

LayerGeometry layer_geometry(const Network& network, const Allocation& allocation, size_t index) {
  const Layer& layer = network.layers[index];
  LayerGeometry geometry;
  geometry.input = network.tensors[size_t(layer.input)].shape;
  geometry.output = network.tensors[size_t(layer.output)].shape;
  geometry.window = layer.window;
  if (!allocation.streaming) {  // in memory, channels begin words where they are cut
    const int64_t word = array_of(allocation, index).pi;
    geometry.input.channels = channel_slots(network.tensors[size_t(layer.input)], word);
    geometry.output.channels = channel_slots(network.tensors[size_t(layer.output)], word);
  }
  if (allocation.layers[index].unroll) {
    geometry.input = {geometry.output.rows, geometry.output.columns,
                      geometry.input.channels * layer.window.rows * layer.window.columns};
    geometry.window = {};
  }
  const ArrayShape& shape = array_of(allocation, index);
  const LayerWindow& window = geometry.window;
  geometry.shape = shape;
  geometry.lanes = works_in_lanes(layer.kind);
  geometry.row_major = is_row_major(shape, window);
  geometry.direct = allocation.streaming && geometry.lanes && window.rows * window.columns == 1 &&
                    window.stride_y == 1 && window.stride_x == 1 && window.top == 0 && window.left == 0 &&
                    geometry.input.rows == geometry.output.rows &&
                    geometry.input.columns == geometry.output.columns;
  geometry.pixel_words = ceil_div(geometry.input.channels, shape.pi);
  const int64_t taps = geometry.row_major ? 1 : window.rows * window.columns;
  if (geometry.lanes) {
    geometry.blocks = ceil_div(geometry.output.channels, shape.pi);
    geometry.words = taps;
    geometry.beats = ceil_div(shape.pi, shape.pf);
  } else {
    geometry.blocks = ceil_div(geometry.output.channels, shape.po);
    geometry.words = taps * geometry.pixel_words;
    // An engine's array wider than the layer hands on only the words that the layer has.
    const bool narrow = !allocation.streaming && geometry.blocks == 1;
    const int64_t results = narrow ? ceil_div(geometry.output.channels, shape.pi) * shape.pi : shape.po;
    geometry.beats = ceil_div(std::min(results, shape.po), shape.pf);
  }
  geometry.array_latency = array_latency(network, allocation, index, geometry);
  geometry.finish_latency = finish_latency(network, allocation, index);
  if (allocation.streaming && geometry.surplus_beats() > 0) ++geometry.finish_latency;  // the frame
  if (allocation.streaming && !geometry.row_major && !geometry.direct) {
    geometry.ring_rows =
        streaming_ring_rows(geometry, network.tensors[size_t(layer.input)].bits, allocation.tight_memory);
  }
  return geometry;
}

RowRange rows_read(const LayerGeometry& geometry, int64_t first_row, int64_t rows) {
  const LayerWindow& window = geometry.window;
  const int64_t first = first_row * window.stride_y - window.top;
  const int64_t last = (first_row + rows - 1) * window.stride_y - window.top + window.rows;
  RowRange range{std::clamp<int64_t>(first, 0, geometry.input.rows),
                 std::clamp<int64_t>(last, 0, geometry.input.rows)};
  if (rows <= 0) range.last = range.first;
  return range;
}

}  // namespace tilewright::pipeline
