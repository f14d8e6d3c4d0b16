// The work of a layer's hardware: the layer's shapes as its array sees them, cut into words and blocks.
#pragma once

#include <cstdint>

#include "tilewright/pipeline/design/allocation.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

struct LayerGeometry {
  // After unrolling; the output is the input of the next layer in any case. On processors, channels are the
  // slots of tensor_parts.h.
  TensorShape input, output;
  LayerWindow window;
  bool lanes = false;       // lane_array: each channel by itself
  bool row_major = false;   // all taps of a window at once
  bool direct = false;      // a streaming stage of lanes whose windows are its pixels: no feeder
  ArrayShape shape;         // of the stage or of the engine
  int64_t pixel_words = 1;  // words of pi channels per input pixel
  int64_t blocks = 1;       // of po output channels (lanes: of pi channels), each a pass over the pixels
  int64_t words = 1;        // beats into the array per output pixel and block
  int64_t beats = 1;        // out of the finish per output pixel and block: po / pf
  int64_t array_latency = 0, finish_latency = 0;  // steps of the array and of the finish
  int64_t ring_rows = 0;                          // that the line_window of a streaming stage keeps
  // A streaming stage whose blocks hold more outputs than there are: beats of each pixel that are none.
  int64_t surplus_beats() const { return blocks * beats - output.channels / shape.pf; }
  // Products of one beat, padding of channels included.
  int64_t products_per_beat() const {
    const int64_t taps = row_major ? window.rows * window.columns : 1;
    return taps * shape.pi * (lanes ? 1 : shape.po);
  }
};

// Whether a layer works lane by lane: everything but a full convolution.
bool works_in_lanes(LayerKind kind);
// Whether it needs multipliers: pools and maps without weights add or compare.
bool multiplies(const Layer& layer);
// Whether all taps of a window reach the array at once. A window of one tap comes word by word in any case.
bool is_row_major(const ArrayShape& shape, const LayerWindow& window);
// Why the row-major feeder (sliding_window) cannot cut these windows, or nullptr. Shapes as LayerGeometry has
// them.
const char* row_major_obstacle(const TensorShape& input, const TensorShape& output, const LayerWindow& window,
                               int64_t pixel_words);
// The same of the channel-major feeder of a streaming stage (line_window).
const char* line_window_obstacle(const TensorShape& input, const TensorShape& output,
                                 const LayerWindow& window);
// The one of the two that feeds this layer; an engine without row-major windows reads any.
const char* window_obstacle(const LayerGeometry& geometry, bool streaming);
// A row-major stage would have to pass over its windows once per block of output channels and of words.
bool sweeps_twice(const LayerGeometry& geometry);
// The stage (streaming) or the engine's array that computes a layer.
const ArrayShape& array_of(const Allocation& allocation, size_t layer);
LayerGeometry layer_geometry(const Network& network, const Allocation& allocation, size_t layer);

// The rows [first, last) of a layer's input that its output rows [first_row, first_row + rows) read; empty
// (first == last) if they lie in the padding altogether.
struct RowRange {
  int64_t first = 0, last = 0;
};
RowRange rows_read(const LayerGeometry& geometry, int64_t first_row, int64_t rows);

}  // namespace tilewright::pipeline
