// Cycles from a beat into a component to its effect at the output, with nothing waiting: the constant part of
// closed-form times. Each is the depth of the component's registers
// (docs/design/pipeline/pipeline_models.md).
#pragma once

#include <cstdint>

#include "tilewright/pipeline/design/layer_geometry.h"

namespace tilewright::pipeline {

struct ComponentLatency {
  int64_t reader = 6;  // from a task's row and waits to the first beat, two cycles of tensor memory included
  int64_t reader_resumed = 3;  // the progress that a task waits for to its first beat
  int64_t reader_gap = 3;  // between the last beat of a task and the first of the next, nothing to wait for
  int64_t window = 2;      // line_window, sliding_window: a word in to the window that it completes
  int64_t width = 1;       // stream_width: the beat that completes an output beat
  int64_t writer = 2;      // a beat to the progress that it completes
  int64_t start = 4;       // the start bit to the first address at the memory port
  int64_t stop = 6;        // the last response to done
  int64_t stored = 3;      // the same after stages: the last beat to done, without its way and its burst
  int64_t unread = 2;      // the last beat of the input, which nobody waits for, to done
};

// Steps of a layer's array and of its finish: those of the components with the parameters that build gives.
int64_t array_latency(const Network& network, const Allocation& allocation, size_t layer,
                      const LayerGeometry& g);
int64_t finish_latency(const Network& network, const Allocation& allocation, size_t layer);

}  // namespace tilewright::pipeline
