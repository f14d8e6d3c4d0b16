// The residual and the depthwise network as tables of convolutions. The trainer makes its modules from a
// table and the writer a graph, so the two cannot differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace fashion {

enum class Activation { kNone, kRelu, kRelu6 };

// A convolution padded to keep its size at stride 1, with a bias (batch normalisation, while it is trained).
struct Layer {
  std::string name;
  int64_t channels, kernel, stride;
  Activation activation;
  bool depthwise = false;  // a filter per channel; otherwise every output sees every channel
  std::string from = "";   // the layer that it reads; none: the one before it, or the image
  std::string add = "";    // the layer whose output is added before the activation; none: nothing is
};

// Layers from the image f32 [1,1,28,28], then the mean of each channel and a dense layer to ten scores.
struct Network {
  std::string name;
  std::vector<Layer> layers;
};

Network residual_fashion();
Network depthwise_fashion();

// Index of the layer that layer `index` reads; -1: the image.
int source_of(const Network& network, int index);
int index_of(const Network& network, const std::string& layer);

// Weight [out][in / groups][kernel][kernel] and bias [out] of every layer, then those of the dense layer,
// [10][in] and [10].
std::vector<tilewright::Shape> parameter_shapes(const Network& network);

// `parameters` as parameter_shapes() lists them. Input "image", output "scores".
tilewright::Graph as_graph(const Network& network, const std::vector<tilewright::Tensor>& parameters);

}  // namespace fashion
