// What layers read on sample inputs: the statistics of each channel of a value, and rows of numbers that are
// multiplied with a layer's weights.
#pragma once

#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// Of one channel (axis 1) of a value.
struct ChannelStatistics {
  double largest = 0;      // magnitude
  double mean_square = 0;  // over samples and places
  int64_t count = 0;       // of numbers
};

// The channels of each of `values`, f32 of rank 2 or more; others have none. The result does not depend on
// the number of threads. Errors: those of SampleInputs and Executor.
std::vector<std::vector<ChannelStatistics>> channel_statistics(const Graph& graph,
                                                               const std::vector<Tensor>& samples,
                                                               const std::vector<ValueId>& values,
                                                               int threads);

// A Conv, Gemm or MatMul with constant weights as a product of matrices, one for each group: result o of
// group g is the sum over k < depth of row[g * depth + k] * weights[o * output_stride + k * depth_stride].
struct LayerMatrix {
  int64_t groups = 1, outputs = 0, depth = 0;  // outputs: of all groups together
  int64_t output_stride = 0, depth_stride = 0;
  int64_t width() const { return groups * depth; }
  int64_t group_of(int64_t output) const { return output / (outputs / groups); }
};

// depth 0: the node is no such layer.
LayerMatrix layer_matrix(const Graph& graph, const Node& node);

// For each of `nodes`, rows that it reads at places drawn evenly over samples and outputs, `width` numbers
// each; none where layer_matrix has no depth. At most 1,024 rows a layer, fewer where all layers together
// would hold more than 2^26 numbers. Independent of the number of threads. Errors as above.
std::vector<std::vector<float>> sample_layer_rows(const Graph& graph, const std::vector<Tensor>& samples,
                                                  const std::vector<NodeId>& nodes, int threads);

}  // namespace tilewright
