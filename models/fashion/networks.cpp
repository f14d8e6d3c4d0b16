#include "networks.h"

#include <algorithm>

#include "trainer.h"

namespace fashion {
namespace {

using tilewright::ElementType;
using tilewright::Graph;
using tilewright::Shape;
using tilewright::Tensor;
using tilewright::ValueId;

int64_t input_channels(const Network& network, int index) {
  const int source = source_of(network, index);
  return source < 0 ? 1 : network.layers[size_t(source)].channels;
}

// Adds the nodes of a network one after the other; values[i] is what layer i computes.
class Writer {
 public:
  Writer(const Network& network, const std::vector<Tensor>& parameters)
      : network_(network), parameters_(parameters) {
    graph_.name = network.name;
  }

  Graph write() {
    image_ = graph_.add_input("image", ElementType::kF32, {1, 1, kSide, kSide});
    for (size_t i = 0; i < network_.layers.size(); ++i) values_.push_back(layer(int(i)));
    const int64_t channels = network_.layers.back().channels;
    const ValueId mean = node("mean", "GlobalAveragePool", {values_.back()}, {1, channels, 1, 1});
    const ValueId flat = node("flatten", "Flatten", {mean}, {1, channels});
    const ValueId scores = node("scores", "Gemm", with_parameters("scores", flat), {1, kClasses});
    graph_.nodes.back().attributes["transB"] = int64_t{1};
    graph_.outputs = {scores};
    return std::move(graph_);
  }

 private:
  ValueId layer(int index) {
    const Layer& layer = network_.layers[size_t(index)];
    const int source = source_of(network_, index);
    const ValueId input = source < 0 ? image_ : values_[size_t(source)];
    const int64_t side = (graph_.value(input).shape[2] + layer.stride - 1) / layer.stride;
    const Shape shape = {1, layer.channels, side, side};
    ValueId value = node(layer.name, "Conv", with_parameters(layer.name, input), shape);
    auto& attributes = graph_.nodes.back().attributes;
    attributes["kernel_shape"] = std::vector<int64_t>(2, layer.kernel);
    attributes["strides"] = std::vector<int64_t>(2, layer.stride);
    attributes["pads"] = std::vector<int64_t>(4, layer.kernel / 2);
    attributes["group"] = layer.depthwise ? layer.channels : int64_t{1};
    if (!layer.add.empty()) {
      const ValueId other = values_[size_t(index_of(network_, layer.add))];
      value = node(layer.name + ".add", "Add", {value, other}, shape);
    }
    if (layer.activation == Activation::kRelu) value = node(layer.name + ".relu", "Relu", {value}, shape);
    if (layer.activation == Activation::kRelu6) {
      if (limits_.empty()) limits_ = {limit("zero", 0), limit("six", 6)};
      value = node(layer.name + ".relu6", "Clip", {value, limits_[0], limits_[1]}, shape);
    }
    if (layer.activation == Activation::kSilu) value = silu(layer.name, value);
    return layer.gate > 0 ? gated(layer, value) : value;
  }

  ValueId silu(const std::string& name, ValueId value) {
    const Shape shape = graph_.value(value).shape;
    return node(name + ".silu", "Mul", {value, node(name + ".sigmoid", "Sigmoid", {value}, shape)}, shape);
  }

  ValueId gated(const Layer& layer, ValueId value) {
    const std::string name = layer.name + ".gate";
    const Shape few = {1, layer.gate, 1, 1}, all = {1, layer.channels, 1, 1};
    const ValueId mean = node(name + ".mean", "GlobalAveragePool", {value}, all);
    const ValueId squeezed =
        silu(name, node(name + ".squeeze", "Conv", with_parameters(name + ".squeeze", mean), few));
    const ValueId excited = node(name + ".excite", "Conv", with_parameters(name + ".excite", squeezed), all);
    return node(name, "Mul", {value, node(name + ".factors", "Sigmoid", {excited}, all)},
                graph_.value(value).shape);
  }

  ValueId node(const std::string& name, const std::string& op, const std::vector<ValueId>& inputs,
               const Shape& shape) {
    const ValueId value = graph_.add_value(name, ElementType::kF32, shape);
    graph_.add_node(name, op, inputs, {value});
    return value;
  }

  std::vector<ValueId> with_parameters(const std::string& name, ValueId input) {
    const ValueId weight = graph_.add_constant(name + ".weight", parameters_[used_++]);
    return {input, weight, graph_.add_constant(name + ".bias", parameters_[used_++])};
  }

  ValueId limit(const std::string& name, float value) {
    return graph_.add_constant(name, Tensor(Shape{}, std::span<const float>(&value, 1)));
  }

  const Network& network_;
  const std::vector<Tensor>& parameters_;
  size_t used_ = 0;
  Graph graph_;
  ValueId image_ = tilewright::kNoValue;
  std::vector<ValueId> values_;
  std::vector<ValueId> limits_;  // of every ReLU6
};

}  // namespace

Network residual_fashion() {
  constexpr auto kNone = Activation::kNone, kRelu = Activation::kRelu;
  return {"residual_fashion",
          {{"stem", 16, 3, 1, kRelu},
           {"stage1.first", 16, 3, 1, kRelu},
           {"stage1.second", 16, 3, 1, kRelu, false, "", "stem"},
           {"stage2.shortcut", 32, 1, 2, kNone},
           {"stage2.first", 32, 3, 2, kRelu, false, "stage1.second"},
           {"stage2.second", 32, 3, 1, kRelu, false, "", "stage2.shortcut"},
           {"stage3.shortcut", 64, 1, 2, kNone},
           {"stage3.first", 64, 3, 2, kRelu, false, "stage2.second"},
           {"stage3.second", 64, 3, 1, kRelu, false, "", "stage3.shortcut"}}};
}

Network depthwise_fashion() {
  Network network{"depthwise_fashion", {{"stem", 16, 3, 1, Activation::kRelu6}}};
  int64_t channels = 16;
  int block = 0;
  const auto separable = [&](int64_t outputs, int64_t stride) {
    const std::string name = "block" + std::to_string(++block);
    network.layers.push_back({name + ".depthwise", channels, 3, stride, Activation::kRelu6, true});
    network.layers.push_back({name + ".pointwise", outputs, 1, 1, Activation::kRelu6});
    channels = outputs;
  };
  separable(32, 1);
  separable(64, 2);
  separable(64, 1);
  separable(128, 2);
  separable(128, 1);
  return network;
}

Network gated_fashion() {
  constexpr auto kNone = Activation::kNone, kSilu = Activation::kSilu;
  Network network{"gated_fashion", {{"stem", 16, 3, 1, kSilu}}};
  int64_t channels = 16;
  int block = 0;
  const auto inverted = [&](int64_t outputs, int64_t stride) {
    const std::string name = "block" + std::to_string(++block), before = network.layers.back().name;
    const int64_t inside = 3 * channels;
    network.layers.push_back({name + ".expand", inside, 1, 1, kSilu});
    network.layers.push_back({name + ".depthwise", inside, 3, stride, kSilu, true, "", "", inside / 6});
    const bool adds = stride == 1 && outputs == channels;
    network.layers.push_back({name + ".project", outputs, 1, 1, kNone, false, "", adds ? before : ""});
    channels = outputs;
  };
  inverted(24, 2);
  inverted(24, 1);
  inverted(40, 2);
  inverted(40, 1);
  network.layers.push_back({"head", 128, 1, 1, kSilu});
  return network;
}

int index_of(const Network& network, const std::string& layer) {
  const auto found = std::find_if(network.layers.begin(), network.layers.end(),
                                  [&](const Layer& each) { return each.name == layer; });
  return int(found - network.layers.begin());
}

int source_of(const Network& network, int index) {
  const std::string& from = network.layers[size_t(index)].from;
  return from.empty() ? index - 1 : index_of(network, from);
}

std::vector<Shape> parameter_shapes(const Network& network) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    const int64_t seen = layer.depthwise ? 1 : input_channels(network, int(i));
    shapes.push_back({layer.channels, seen, layer.kernel, layer.kernel});
    shapes.push_back({layer.channels});
    if (layer.gate == 0) continue;
    shapes.push_back({layer.gate, layer.channels, 1, 1});
    shapes.push_back({layer.gate});
    shapes.push_back({layer.channels, layer.gate, 1, 1});
    shapes.push_back({layer.channels});
  }
  shapes.push_back({kClasses, network.layers.back().channels});
  shapes.push_back({kClasses});
  return shapes;
}

Graph as_graph(const Network& network, const std::vector<Tensor>& parameters) {
  return Writer(network, parameters).write();
}

}  // namespace fashion
