// Which spatial averages have an integer form, and their windows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct AverageWindow {
  std::vector<int64_t> kernel, strides, pads;  // in the order of the ONNX attributes
  bool padded = false;
  std::string problem;  // why there is no integer form; empty: there is one
  int64_t elements() const { return kernel[0] * kernel[1]; }
};

// Of AveragePool, GlobalAveragePool or ReduceMean on N x C x H x W. Errors: those of `pool_window`.
AverageWindow average_window(const Graph& graph, const Node& node);

}  // namespace tilewright
