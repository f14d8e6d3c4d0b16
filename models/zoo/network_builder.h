// Writes a network layer by layer: a method adds one node (conv_bn_relu: three; others say so), with its
// weights as constants and its output shape known at once. Convolutions and pools have as many spatial axes
// as their input, all with the same window.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright::zoo {

struct Window {
  int64_t kernel = 3, stride = 1, pad = 0;
  int64_t groups = 1;
  int64_t output_pad = 0;  // transposed convolutions only
  int64_t dilation = 1;
};

class NetworkBuilder {
 public:
  explicit NetworkBuilder(const std::string& network_name);

  ValueId input(const std::string& name, const Shape& shape);
  // With a bias, as in networks without batch normalisation.
  ValueId conv(ValueId x, int64_t outputs, const Window& window);
  ValueId conv_bn(ValueId x, int64_t outputs, const Window& window);
  ValueId conv_bn_relu(ValueId x, int64_t outputs, const Window& window);
  ValueId conv_relu(ValueId x, int64_t outputs, const Window& window);
  ValueId transposed(ValueId x, int64_t outputs, const Window& window);  // without bias
  ValueId batch_norm(ValueId x);
  ValueId relu(ValueId x);
  ValueId tanh(ValueId x);
  ValueId sigmoid(ValueId x);
  ValueId add(ValueId a, ValueId b);
  ValueId max_pool(ValueId x, const Window& window);
  ValueId max_pool_same(ValueId x, int64_t kernel, int64_t stride);  // TensorFlow's SAME padding
  ValueId global_average(ValueId x);
  ValueId response_norm(ValueId x);  // AlexNet's constants
  ValueId reflect_pad(ValueId x, int64_t pad);
  ValueId crop(ValueId x, int64_t border);
  ValueId flatten(ValueId x);
  ValueId dense(ValueId x, int64_t outputs);

  // The last output of an LSTM along the positions of x [1, C, T], as exporters unroll it: the four gates of
  // all inputs by one convolution, then a dense layer (one set of weights for all steps) and the cell.
  ValueId lstm(ValueId x, int64_t units);

  ValueId multiply(ValueId a, ValueId b);
  ValueId average_pool(ValueId x, const Window& window);
  // Activations as exporters write them: SiLU is x * Sigmoid(x), HardSwish x * Clip(x + 3, 0, 6) / 6, Mish
  // x * Tanh(Softplus(x)), GELU the form with Erf.
  ValueId silu(ValueId x);
  ValueId hard_sigmoid(ValueId x);
  ValueId hard_swish(ValueId x);
  ValueId mish(ValueId x);
  ValueId gelu(ValueId x);
  ValueId leaky_relu(ValueId x, float alpha);
  ValueId channel_prelu(ValueId x);  // one slope per channel
  ValueId concat(std::vector<ValueId> parts, int64_t axis = 1);
  std::vector<ValueId> split(ValueId x, int parts);  // of the channels
  ValueId slice(ValueId x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1);
  ValueId upsample(ValueId x, int64_t factor, bool linear = false);  // nearest, else half-pixel linear
  ValueId depth_to_space(ValueId x, int64_t block);
  ValueId shuffle_channels(ValueId x, int64_t groups);  // Reshape, Transpose, Reshape
  ValueId reshape(ValueId x, std::vector<int64_t> shape);
  ValueId transpose(ValueId x, std::vector<int64_t> order);
  ValueId zero_pad(ValueId x, int64_t pad);  // of the spatial axes

  // Of tokens, [..., channels].
  ValueId linear(ValueId x, int64_t outputs);  // MatMul and Add
  ValueId layer_norm(ValueId x);               // scale 1, no bias
  // Attention of `heads` heads as exporters write it, with dense layers for queries, keys, values and
  // results.
  ValueId self_attention(ValueId x, int64_t heads);

  const Shape& shape(ValueId x) const { return graph_.value(x).shape; }
  int64_t channels(ValueId x) const { return graph_.value(x).shape[1]; }

  // The graph with `result` as its only output (or `results`) and all weights drawn: their variance is gain /
  // (3 fan-in), so that 3 keeps the size of sums of independent inputs, and 6 that behind rectifiers.
  Graph finish(ValueId result, double gain);
  Graph finish(std::vector<ValueId> results, double gain);

 private:
  ValueId node(const std::string& op, std::vector<ValueId> inputs,
               std::map<std::string, Attribute> attributes = {});
  ValueId weights(const std::string& what, const Shape& shape);
  ValueId integers(const std::string& what, std::vector<int64_t> values);
  ValueId number(double value);
  std::vector<int64_t> axes(ValueId x, int64_t value) const;  // `value` for each spatial axis
  std::map<std::string, Attribute> window_attributes(ValueId x, const Window& window) const;
  ValueId convolution(ValueId x, int64_t outputs, const Window& window, bool bias);

  Graph graph_;
  int layers_ = 0;
  std::map<ValueId, float> numbers_;  // constants that are not drawn: the value of all their elements
};

}  // namespace tilewright::zoo
