// y = x * scale[c] + shift[c], c the channel (axis 1): what batch normalisation and per-channel constants
// after a layer are.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct ChannelAffine {
  ValueId input = kNoValue;  // x
  std::vector<double> scale, shift;
};

// A constant that is broadcast against a value of `shape` and varies at most along axis 1, as one number per
// channel.
std::optional<std::vector<double>> channel_constant(const Tensor& constant, const Shape& shape);

// The node as a channel affine of a value of rank 2 or more: BatchNormalization in inference form, and Add,
// Sub, Mul and Div with a channel constant. nullopt when it is none, a constant is missing or a number is not
// finite.
std::optional<ChannelAffine> as_channel_affine(const Graph& graph, const Node& node);

// The slopes of a PRelu, one for each of several channels; nullopt for other operators, a single slope,
// slopes that are computed or vary along other axes.
std::optional<std::vector<double>> prelu_slopes(const Graph& graph, const Node& node);

}  // namespace tilewright
