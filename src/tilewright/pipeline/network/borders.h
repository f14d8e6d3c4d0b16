// Where the network ends: its inputs and outputs as one tensor each, and what lies between the host's tensors
// (by channels, rows, columns) and these (rows, columns, channels).
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/network/region.h"
#include "tilewright/pipeline/network/tensor_assembly.h"

namespace tilewright::pipeline {

// A copy of a tensor, for what another tensor is part of or the host gives or takes already.
int copied(TensorAssembly& assembly, Network& network, int tensor);

// Makes one input and one output of Network::inputs and outputs, in rows one under the other; removes what
// nobody reads and sets bits and cuts. The host knows no cuts: a border tensor that has some gets a layer of
// ones between.
void close_borders(TensorAssembly& assembly, Network& network);

// Sets Network::before and Network::behind: what of a graph the host computes around the region.
void cut_graph(const Graph& graph, const Region& region, Network& network);

// The elements of the network's whole input or output for those of a border tensor in the host's order.
std::vector<int64_t> border_places(const Network& network, int tensor);
// The network's input tensor for the outputs of Network::before.
std::vector<int32_t> border_image(const Network& network, const std::vector<Tensor>& borders);
// The first inputs of Network::behind for the network's output tensor.
std::vector<Tensor> border_results(const Network& network, const std::vector<int32_t>& result);

}  // namespace tilewright::pipeline
