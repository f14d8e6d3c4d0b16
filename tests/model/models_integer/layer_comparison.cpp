#include "model/models_integer/layer_comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

// How many of the quantised values of one layer differ between the two paths, and by how much.
struct LayerDifference {
  int64_t elements = 0, different = 0, worst = 0;
};

// Runs the source graph in float, node by node. Where the integer path has a value of the same name, the
// float result is compared with it and then replaced by it, so that each layer is compared on the same
// inputs.
std::map<std::string, LayerDifference> compare_layers(const Graph& source, const Graph& integer,
                                                      const Tensor& input) {
  std::map<std::string, Tensor> exact;
  const Executor executor(integer);
  executor.run({input}, [&](ValueId id, const Tensor& t) { exact[executor.graph().value(id).name] = t; });
  std::map<std::string, LayerDifference> layers;
  std::vector<Tensor> values(source.values.size());
  values[size_t(source.inputs[0])] = input;
  for (const Node& node : source.nodes) {
    std::vector<const Tensor*> inputs;
    for (int i = 0; i < int(node.inputs.size()); ++i) {
      const Tensor* constant = source.constant_input(node, i);
      inputs.push_back(constant != nullptr ? constant : &values[size_t(node.inputs[size_t(i)])]);
    }
    Tensor output = evaluate(source, node, inputs)[0];
    const auto found = exact.find(source.value(node.outputs[0]).name);
    if (node.is("QuantizeLinear") && found != exact.end()) {
      // The integer path holds u8 values shifted to i8.
      const int64_t shift =
          output.type() == ElementType::kU8 && found->second.type() == ElementType::kI8 ? 128 : 0;
      LayerDifference& layer = layers[found->first];
      layer.elements = output.size();
      for (int64_t i = 0; i < output.size(); ++i) {
        const int64_t value = found->second.integer_at(i) + shift;
        const int64_t difference = std::abs(value - output.integer_at(i));
        layer.different += difference != 0 ? 1 : 0;
        layer.worst = std::max(layer.worst, difference);
        output.set_integer(i, value);
      }
    }
    values[size_t(node.outputs[0])] = std::move(output);
  }
  return layers;
}

}  // namespace

void expect_layers_of_float(const Graph& source, const Tensor& input) {
  const Graph integer = integerize(optimize(source));
  const auto layers = compare_layers(source, integer, input);
  const auto quantize_nodes = std::count_if(source.nodes.begin(), source.nodes.end(),
                                            [](const Node& node) { return node.is("QuantizeLinear"); });
  EXPECT_GE(int64_t(layers.size()), quantize_nodes - 3) << "too few layers have a name in both graphs";
  int64_t elements = 0, different = 0;
  for (const auto& [name, layer] : layers) {
    EXPECT_LE(layer.worst, 1) << name;
    EXPECT_LE(double(layer.different), 2 + 0.03 * double(layer.elements)) << name;
    elements += layer.elements;
    different += layer.different;
  }
  std::printf("%zu layers, %lld of %lld values differ by one step\n", layers.size(),
              static_cast<long long>(different), static_cast<long long>(elements));
  EXPECT_LE(double(different), 1 + 2e-3 * double(elements));
}

}  // namespace tilewright
