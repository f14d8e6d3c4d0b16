// Between the host's tensors (by channels, rows, columns) and the network's (rows, columns, channels).
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// The network's input tensor for the outputs of Network::before.
std::vector<int32_t> border_image(const Network& network, const std::vector<Tensor>& borders);
// The first inputs of Network::behind for the network's output tensor.
std::vector<Tensor> border_results(const Network& network, const std::vector<int32_t>& result);

}  // namespace tilewright::pipeline
