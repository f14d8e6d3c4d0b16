// Bilinear enlarging by whole factors: on integers a transposed convolution, channel by channel, of the image
// with its border repeated once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// One axis: output r + factor * i is a weighted sum of the inputs around i.
struct LinearAxis {
  std::vector<int64_t> weights{1};  // of one input, by distance; they add up to `unit` at every output
  int64_t factor = 1, unit = 1, first = 0;  // the first weight belongs to output factor * i - first
};

struct LinearResize {
  std::vector<LinearAxis> axes;  // spatial: height and width, or width
  bool repeats() const;          // one input everywhere: nothing lies between inputs
};

// nullopt: not linear, or not by whole factors on one or two spatial axes, with the reason in `problem` (may
// be null). Coordinates: half_pixel, pytorch_half_pixel, asymmetric.
std::optional<LinearResize> linear_resize(const Graph& graph, const Node& node, std::string* problem);

}  // namespace tilewright
