// Depths of the queues of a streaming design, by algebra: from the rates of its stages and from how far each
// window reaches ahead. The derivation, and why a design with these depths cannot deadlock, is in
// docs/design/pipeline/pipeline_fifos.md.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/design/allocation.h"
#include "tilewright/pipeline/network/network.h"
#include "tilewright/search/deadline.h"

namespace tilewright::pipeline {

// The periodic schedule of a stage: output pixel n of image m begins at start + m * interval + n * period and
// keeps the stage for `service` cycles. The sums of its block j of channels (from 0) are in the finish
// `depth` + (j + 1) * `block` cycles after that, and leave as `block_beats` beats.
struct StageSchedule {
  double start = 0, period = 1;
  int64_t service = 1, depth = 0, blocks = 1, block = 1, block_beats = 1;
  int64_t finish = 0;  // of the depth: a sum meets the other operand before it
  int64_t first_sums() const { return depth - finish + block; }
  int64_t last_sums() const { return depth - finish + service + block_beats; }
  int64_t last_beat() const { return depth + service + block_beats; }
};

struct StreamingSchedule {
  int64_t interval = 1;               // cycles per image of the slowest stage or port: of all of them
  std::vector<StageSchedule> stages;  // by layer
};

// Errors (internal): an allocation that is not streaming. It need have no depths yet.
StreamingSchedule streaming_schedule(const Network& network, const Allocation& allocation);

// Sets input_fifo and residual_fifo of every layer, in beats of the stream that each queue is in; 0 where
// the windows' own memories suffice. Takes a walk over all pixels: throws Expired when the deadline is over.
void size_fifos(const Network& network, Allocation& allocation, const Deadline* deadline = nullptr);

}  // namespace tilewright::pipeline
