// The time of an allocation, by shape; estimate() puts it together with the resources. The formulas are in
// docs/design/pipeline/pipeline_models.md.
#pragma once

#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/design/plan.h"
#include "tilewright/pipeline/estimate/estimate.h"

namespace tilewright::pipeline {

struct CycleEstimate {
  int64_t latency_cycles = 0, interval_cycles = 0;
  std::vector<LayerEstimate> layers;
};

// The parameters of a streaming stage's timing. Times grow with every field, so fields that are none above
// those of any stage of a layer give a lower bound of the whole network's.
struct StageTiming {
  double row_cycles = 0;   // of an output row: beats into the array or out of the finish
  double first_words = 0;  // of the first output pixel
  double input_row = 0;    // cycles in which a row of the input can come in
  double entry = 0;        // from a beat's writer to the array
  double first_beats = 1;  // of the writer, that make the first word
  double gathered = 1;     // elements of the input that come together
  double first_share = 1;  // of a pixel, in the first word; the largest in bounds
  double last_words = 0;   // that follow from the writer's last beat
  double other_entry = 0;  // from a beat of the other operand's writer to the finish, less the array's steps
  double depth = 0;        // of array and finish
  double drain = 0;        // of the last block of a pixel, which array and finish have one after the other
  // Cycles of an output pixel after the one that takes its last word. Lanes take the last pixel's words one
  // after another: this share of their arrival time is not waited for again.
  double tail = 0, tail_share = 0;
  // From the first beat of an output pixel to its last, if its input comes at once; equal but in bounds.
  double span = 1, longest_span = 1;
  double pace = 0;  // image_pace
};
// The way of a tensor to a stage that reads it: elements per cycle, 0: as many as it takes; registers of
// converters, queue and fork; beats of the writer that make the first word; elements that are gathered before
// any of them goes on; words that follow the first one of a beat.
struct StreamPath {
  int64_t elements = 0, steps = 0, first_beats = 1, gathered = 1, last_words = 0;
};
StreamPath input_path(const Network& network, const Allocation& allocation, size_t layer);
StreamPath residual_path(const Network& network, const Allocation& allocation, size_t layer);
StageTiming stage_timing(const LayerGeometry& geometry, const StreamPath& input = {},
                         const StreamPath& residual = {});

struct StreamTimes {
  double latency_cycles = 0, interval_cycles = 0;
  std::vector<double> ends;  // of the layers' outputs
};
// `geometries`: shapes and windows; their arrays do not matter beside `timings`.
StreamTimes stream_times(const Network& network, const Allocation& frame, const MemoryPort& port,
                         const std::vector<LayerGeometry>& geometries,
                         const std::vector<StageTiming>& timings);

CycleEstimate streaming_cycles(const Network& network, const Allocation& allocation, const MemoryPort& port);
CycleEstimate processor_cycles(const Network& network, const Allocation& allocation, const Plan& plan,
                               const MemoryPort& port);

// Cycles per beat of a port: 1 and the share of a burst after which it pauses.
double cycles_per_beat(const Allocation& allocation, const MemoryPort& port);
// Beats into the array and out of the finish for `pixels` output pixels of a layer, whichever are more.
int64_t array_cycles(const LayerGeometry& geometry, int64_t pixels);
// Words that a row-major feeder takes in for output rows [first_row, first_row + rows).
int64_t window_words(const LayerGeometry& geometry, int64_t first_row, int64_t rows);
// Its steps for them: those words, or up to the last window, which may end in the padding below.
int64_t window_steps(const LayerGeometry& geometry, int64_t first_row, int64_t rows);
// Bits of a layer's weights as they lie in memory, padding of words included.
int64_t stored_weight_bits(const LayerGeometry& geometry, int weight_bits);

}  // namespace tilewright::pipeline
