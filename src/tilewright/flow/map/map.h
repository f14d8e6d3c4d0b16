// A model as the layers that the array mappers work on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/spatial/network/network.h"

namespace tilewright {

// Every convolution, dense layer and matrix product of the graph, in graph order, for `batch` images; 0: the
// model's own batch. Other nodes that multiply and accumulate are listed as unmapped with the reason; the
// rest is counted. Errors (invalid input): a batch that is no multiple of the model's, shapes and attributes
// that contradict each other (all nodes at once), no layer to map.
WorkloadNetwork network_of(const Graph& graph, int64_t batch = 0);

// Layers of a network (indices) each of which feeds only the next, directly or through element-wise operators
// (activations, batch norms, quantisation). Two or more layers; a layer is in at most one chain.
std::vector<std::vector<int>> layer_chains(const Graph& graph, const WorkloadNetwork& network);

}  // namespace tilewright
