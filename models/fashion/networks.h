// The residual, the depthwise and the gated network as tables of convolutions. The trainer makes its modules
// from a table and the writer a graph, so the two cannot differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace fashion {

enum class Activation { kNone, kRelu, kRelu6, kSilu };

// A convolution padded to keep its size at stride 1, with a bias (batch normalisation, while it is trained).
struct Layer {
  std::string name;
  int64_t channels, kernel, stride;
  Activation activation;
  bool depthwise = false;  // a filter per channel; otherwise every output sees every channel
  std::string from = "";   // the layer that it reads; none: the one before it, or the image
  std::string add = "";    // the layer whose output is added before the activation; none: nothing is
  // Above 0: the output is multiplied, channel by channel, with the sigmoid of a dense layer of a SiLU of a
  // dense layer of as many outputs of the mean of each channel (squeeze and excitation).
  int64_t gate = 0;
};

// Layers from the image f32 [1,1,28,28], then the mean of each channel and a dense layer to ten scores.
struct Network {
  std::string name;
  std::vector<Layer> layers;
};

Network residual_fashion();
Network depthwise_fashion();
Network gated_fashion();

// Index of the layer that layer `index` reads; -1: the image.
int source_of(const Network& network, int index);
int index_of(const Network& network, const std::string& layer);

// Weight [out][in / groups][kernel][kernel] and bias [out] of every layer, behind them those of its gate's
// dense layers, [gate][out][1][1], [gate], [out][gate][1][1] and [out]; then those of the dense layer,
// [10][in] and [10].
std::vector<tilewright::Shape> parameter_shapes(const Network& network);

// `parameters` as parameter_shapes() lists them. Input "image", output "scores".
tilewright::Graph as_graph(const Network& network, const std::vector<tilewright::Tensor>& parameters);

}  // namespace fashion
