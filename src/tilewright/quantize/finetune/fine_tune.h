// Training of a rounded network's weights, biases and scales, so that it answers as the network in float
// does: what rounding does to the scores is part of what is trained.
#pragma once

#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/quantize/calibrate/range_selection.h"
#include "tilewright/search/deadline.h"

namespace tilewright {

// Weight w of output channel c is scales[c] * integer, |integer| <= highest.
struct RoundedLayer {
  NodeId node = kNoNode;
  int axis = 0;  // of the output channels
  int64_t highest = 127;
  std::vector<double> scales;  // one for each index of `axis`, or one
  Tensor integers;             // i8, of the shape of the weights
  std::vector<double> bias;    // by output channel; empty: there is none
};

// Values that share a scale.
struct RoundedGroup {
  std::vector<ValueId> values;
  Quantization quantization;
  NumberForm form;
};

struct RoundedNetwork {
  std::vector<RoundedLayer> layers;
  std::vector<RoundedGroup> groups;
};

struct FineTuneOptions {
  int64_t runs = 8'000;  // that are looked at, each sample again and again
  int64_t batch = 16;    // runs between changes
  double rate = 0.006;   // largest change at once, in parts of a layer's mean weight
  double temperature = 2;
  double label_share = 0.3;
  bool shift = true;  // pictures are moved by up to a pixel in each direction
  bool blend = true;  // half of the samples are mixed with others
  uint64_t seed = 1;
  int threads = 1;
  double seconds = Deadline::kNoLimit;  // the rate falls to 0 by then
};

struct FineTuneResult {
  RoundedNetwork network;
  double loss_before = 0, loss_after = 0;  // of a sample, on all as they are
  int64_t steps = 0;
};

// What stands against it: an operator that has no gradient here, several inputs or outputs; empty: nothing.
std::string fine_tuning_problem(const Graph& graph, const RoundedNetwork& network);

// graph: float, optimised; its weights are those that `network` rounds. samples: as SampleInputs; labels: one
// for each sample, empty: none. The last state is given back, whether it is better or not. Without a time
// limit that is reached, a seed gives the same result with any number of threads on the same machine. Errors
// (invalid input): fine_tuning_problem, those of SampleInputs; Expired: the deadline passed.
FineTuneResult fine_tune(const Graph& graph, const RoundedNetwork& network,
                         const std::vector<Tensor>& samples, const std::vector<int64_t>& labels,
                         const FineTuneOptions& options, const Deadline* deadline = nullptr);

}  // namespace tilewright
