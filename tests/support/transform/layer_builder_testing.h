// Builds float graphs layer by layer, with types and shapes inferred and weights drawn from a seed: for
// tests, benches and examples that need a graph without a file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

struct ConvLayer {
  int64_t channels = 8;
  int64_t kernel = 3, stride = 1, pad = 0, dilation = 1, group = 1;
  bool bias = true;
};

class LayerBuilder {
 public:
  explicit LayerBuilder(uint64_t seed = 1) : random_(seed) {}

  ValueId input(Shape shape, const std::string& name = "x");
  ValueId constant(Tensor tensor, const std::string& name = "c");
  // Uniform f32 elements in [low, high).
  ValueId uniform(Shape shape, double low = -1, double high = 1, const std::string& name = "w");
  ValueId integers(const std::vector<int64_t>& values);
  // The first output of a new node. Errors (invalid input, unsupported): what shape inference reports.
  ValueId node(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {},
               int outputs = 1);

  // x is N x C x H x W.
  ValueId conv(ValueId x, const ConvLayer& layer);
  ValueId conv_transpose(ValueId x, const ConvLayer& layer);
  ValueId batch_norm(ValueId x);
  ValueId relu(ValueId x) { return node("Relu", {x}); }
  ValueId add(ValueId a, ValueId b) { return node("Add", {a, b}); }
  // "MaxPool" or "AveragePool".
  ValueId pool(ValueId x, const std::string& op, int64_t kernel, int64_t stride, int64_t pad = 0);
  ValueId pad(ValueId x, const std::vector<int64_t>& amounts, float value = 0);
  ValueId transpose(ValueId x, const std::vector<int64_t>& perm);
  ValueId reshape(ValueId x, const std::vector<int64_t>& shape);
  // x is N x K; Gemm with bias.
  ValueId dense(ValueId x, int64_t columns);

  Shape shape(ValueId id) const { return graph_.value(id).shape; }
  Random& random() { return random_; }
  const Graph& graph() const { return graph_; }
  // Marks the graph outputs, calls them "y", "y_1", ... and hands the graph over.
  Graph finish(const std::vector<ValueId>& outputs);

 private:
  Graph graph_;
  Random random_;
};

}  // namespace tilewright
