// Writes a network layer by layer: every method adds one node (conv_bn_relu: three), with its weights as
// constants and its output shape known at once.
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

  int64_t channels(ValueId x) const { return graph_.value(x).shape[1]; }

  // The graph with `result` as its only output and all weights drawn: their variance is gain / (3 fan-in), so
  // that 3 keeps the size of sums of independent inputs, and 6 that behind rectifiers.
  Graph finish(ValueId result, double gain);

 private:
  ValueId node(const std::string& op, std::vector<ValueId> inputs,
               std::map<std::string, Attribute> attributes = {});
  ValueId weights(const std::string& what, const Shape& shape);
  ValueId integers(const std::string& what, std::vector<int64_t> values);

  Graph graph_;
  int layers_ = 0;
};

}  // namespace tilewright::zoo
