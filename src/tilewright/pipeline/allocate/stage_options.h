// Every way to build one layer as a streaming stage that could be part of a best design.
#pragma once

#include <limits>
#include <vector>

#include "tilewright/pipeline/allocate/allocate_search.h"
#include "tilewright/pipeline/estimate/estimate_cycles.h"

namespace tilewright::pipeline {

struct StageOption {
  ArrayShape stage;
  StageTiming timing;
  synthesis::Resources resources;  // without converters to the neighbours' widths
  int64_t multipliers = 0;
  double cycles = 0;  // of an image
};

// A streaming allocation of `network` with nothing chosen but port, clock and, if `unroll`, its first layer.
Allocation blank_stages(const Network& network, const Budget& budget, bool unroll);
// Whether the first layer can be unrolled and has a window that unrolling would remove.
bool can_unroll(const Network& network);

// Divisors of the channels and shares of the outputs, both feeders, all multipliers that the layer's numbers
// allow; without options that another one matches with no more of anything. Those of more cycles than
// `most_cycles` are left out.
// `frame`: from blank_stages.
std::vector<StageOption> stage_options(const Network& network, const std::vector<LayerFacts>& facts,
                                       const Allocation& frame, size_t layer, const Judge& judge,
                                       bool lut_multipliers,
                                       double most_cycles = std::numeric_limits<double>::infinity());

}  // namespace tilewright::pipeline
