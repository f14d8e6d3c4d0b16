// What a convolution, a dense layer or a pool goes over, whatever numbers it computes on: the sizes that the
// overlay, generated designs and loop nests are all made from.
#pragma once

#include <optional>

#include "tilewright/graph/window.h"

namespace tilewright {

// Channel counts are those of the whole tensors.
struct NodeGeometry {
  int64_t batch = 1, input_channels = 1, output_channels = 1;
  int64_t group = 1;
  Window window;  // of convolutions and pools; a dense layer has no axes

  // One filter per channel.
  bool is_depthwise() const { return group > 1 && group == input_channels && group == output_channels; }
};

// Which input of a product (operator_class.h) holds the weights; input 0 is the data.
int weight_input(const Node& node);

// Of convolutions, transposed ones, dense layers and pools of any number type. nullopt: another operator, an
// operand that is missing, matrices of other ranks than 2 in a dense layer. Errors (invalid input): what
// graph/window.h finds.
std::optional<NodeGeometry> node_geometry(const Graph& graph, const Node& node);

}  // namespace tilewright
