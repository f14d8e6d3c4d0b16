// A float network made ready to be quantised, and what its samples say of it: what all ways to quantise it
// share.
#pragma once

#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/quantize/calibrate/histogram.h"
#include "tilewright/quantize/quantization_plan.h"

namespace tilewright {

// One operator with weights.
struct LayerWeights {
  WeightedOperator op;
  Tensor weights;                       // f32, alpha of Gemm included
  int axis = 0;                         // of the output channels
  std::vector<double> bias;             // of the operator itself, per output channel; may be empty
  std::vector<double> bias_magnitudes;  // of all its biases, the largest for each index of `axis`
};

struct PreparedNetwork {
  Graph graph;
  QuantizationPlan plan;
  std::vector<LayerWeights> layers;  // as plan.weighted
};

// graph: in single precision, which `plan` belongs to. Alpha and beta of Gemm go into its weights and bias.
PreparedNetwork prepare_network(Graph graph, QuantizationPlan plan);

struct SampleStatistics {
  std::vector<Histogram> groups;         // by the plan's number of the group
  std::vector<std::vector<float>> rows;  // that each layer reads (layer_inputs.h)
};

// Errors: those of calibrate. The result does not depend on the number of threads.
SampleStatistics gather_statistics(const PreparedNetwork& network, const std::vector<Tensor>& samples,
                                   int threads);

}  // namespace tilewright
