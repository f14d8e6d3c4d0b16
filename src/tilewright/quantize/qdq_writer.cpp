// Nodes are copied in order; behind each that makes a quantised value comes its pair, whose result later
// readers take instead.
#include "tilewright/quantize/qdq_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace tilewright {
namespace {

constexpr int kBiasBits = 22;  // as many as f32 arithmetic keeps: no more are known of a bias

// A bias in accumulator units, of at most kBiasBits significant bits.
int64_t rounded_bias(double units) {
  const double limited = std::clamp(units, -kLargestBias, kLargestBias);
  int bits = 0;
  std::frexp(limited, &bits);
  const auto unit = int64_t(1) << std::clamp(bits - kBiasBits, 0, 62);
  return std::llround(limited / double(unit)) * unit;
}

class QdqWriter {
 public:
  QdqWriter(const PreparedNetwork& network, const std::vector<QuantizedLayer>& layers,
            const std::vector<QuantizedGroup>& groups)
      : network_(network), layers_(layers), groups_(groups), graph_(network.graph) {}

  Graph write() {
    for (const Node& node : graph_.nodes) node_names_.insert(node.name);
    replacement_.assign(graph_.values.size(), kNoValue);
    group_of_.assign(graph_.values.size(), -1);
    const QuantizationPlan& plan = network_.plan;
    for (size_t i = 0; i < plan.values.size(); ++i) group_of_[size_t(plan.values[i])] = plan.group[i];
    std::vector<int> layer_of(graph_.nodes.size(), -1);
    for (size_t i = 0; i < layers_.size(); ++i) layer_of[size_t(network_.layers[i].op.node)] = int(i);

    std::vector<Node> nodes;
    const auto pair_after = [&](ValueId v) {
      if (v != kNoValue && size_t(v) < group_of_.size() && group_of_[size_t(v)] >= 0) append_pair(nodes, v);
    };
    for (ValueId v : std::vector<ValueId>(graph_.inputs)) pair_after(v);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      Node node = graph_.nodes[n];
      for (ValueId& v : node.inputs) {
        if (v != kNoValue && size_t(v) < replacement_.size() && replacement_[size_t(v)] != kNoValue) {
          v = replacement_[size_t(v)];
        }
      }
      if (layer_of[n] >= 0) append_weights(nodes, node, size_t(layer_of[n]));
      nodes.push_back(node);
      for (ValueId v : node.outputs) pair_after(v);
    }
    graph_.nodes = std::move(nodes);
    graph_.remove_dead();
    return std::move(graph_);
  }

 private:
  std::string fresh_node_name(const std::string& wanted) {
    std::string candidate = wanted;
    for (int i = 1; !node_names_.insert(candidate).second; ++i) candidate = fmt::format("{}_{}", wanted, i);
    return candidate;
  }
  void append(std::vector<Node>& nodes, const std::string& wanted, const std::string& op,
              std::vector<ValueId> inputs, ValueId output, Attributes attributes = {}) {
    nodes.push_back({fresh_node_name(wanted), "", op, std::move(inputs), {output}, std::move(attributes)});
  }
  ValueId zero_point_constant(const std::string& owner, ElementType type, int64_t number, int64_t count) {
    Tensor tensor(type, count == 1 ? Shape{} : Shape{count});
    for (int64_t i = 0; i < count; ++i) tensor.set_integer(i, number);
    return graph_.add_constant(owner + "_zero_point", std::move(tensor));
  }

  // QuantizeLinear, for narrow types Clip, DequantizeLinear after `v`; `replacement_` tells readers.
  void append_pair(std::vector<Node>& nodes, ValueId v) {
    const QuantizedGroup& group = groups_[size_t(group_of_[size_t(v)])];
    const Quantization q = group.quantization;
    const ElementType type = group.form.bits > 8 ? ElementType::kI16 : ElementType::kI8;
    const Shape shape = graph_.value(v).shape;
    const std::string base = graph_.value(v).name;
    const bool is_input = std::find(graph_.inputs.begin(), graph_.inputs.end(), v) != graph_.inputs.end();
    const bool is_output = graph_.is_output(v) && !is_input;
    const ValueId scale = graph_.add_constant(base + "_scale", Tensor::scalar(q.scale));
    const ValueId zero = zero_point_constant(base, type, q.zero_point, 1);
    ValueId quantized = graph_.add_value(base + "_quantized", type, shape);
    append(nodes, base + "_quantize", "QuantizeLinear", {v, scale, zero}, quantized);
    if (group.form.bits < 8) {
      const ValueId narrow = graph_.add_value(base + "_narrow", type, shape);
      const ValueId low = zero_point_constant(base + "_low", type, group.form.lowest(), 1);
      const ValueId high = zero_point_constant(base + "_high", type, group.form.highest(), 1);
      append(nodes, base + "_clip", "Clip", {quantized, low, high}, narrow);
      quantized = narrow;
    }
    const ValueId result =
        graph_.add_value(base + (is_output ? "_real" : "_dequantized"), ElementType::kF32, shape);
    if (is_output) std::swap(graph_.value(v).name, graph_.value(result).name);  // the output keeps its name
    append(nodes, base + "_dequantize", "DequantizeLinear", {quantized, scale, zero}, result);
    replacement_[size_t(v)] = result;
    if (is_output) std::replace(graph_.outputs.begin(), graph_.outputs.end(), v, result);
  }

  void append_constant(std::vector<Node>& nodes, Node& node, int input, const char* what, Tensor integers,
                       const std::vector<float>& scales, int64_t axis) {
    const std::string base = fmt::format("{}_{}", node.name, what);
    const Shape shape = integers.shape();
    const Shape scale_shape = scales.size() == 1 ? Shape{} : Shape{int64_t(scales.size())};
    const ValueId zero = zero_point_constant(base, integers.type(), 0, int64_t(scales.size()));
    const ValueId constant = graph_.add_constant(base + "_quantized", std::move(integers));
    const ValueId scale =
        graph_.add_constant(base + "_scale", Tensor(scale_shape, std::span<const float>(scales)));
    const ValueId result = graph_.add_value(base, ElementType::kF32, shape);
    append(nodes, base + "_dequantize", "DequantizeLinear", {constant, scale, zero}, result,
           {{"axis", axis}});
    node.inputs.resize(std::max(node.inputs.size(), size_t(input) + 1), kNoValue);
    node.inputs[size_t(input)] = result;
  }

  void append_weights(std::vector<Node>& nodes, Node& node, size_t index) {
    const QuantizedLayer& layer = layers_[index];
    const std::vector<float> scales(layer.scales.begin(), layer.scales.end());
    append_constant(nodes, node, 1, "weights", layer.integers, scales, network_.layers[index].axis);
    if (layer.bias.empty()) return;
    const int input = group_of_[size_t(network_.layers[index].op.input)];
    const double x = groups_[size_t(input)].quantization.scale;
    Tensor bias(ElementType::kI32, Shape{int64_t(layer.bias.size())});
    std::vector<float> bias_scales;
    for (size_t o = 0; o < layer.bias.size(); ++o) {
      const double scale = x * double(scales[o % scales.size()]);
      bias.set_integer(int64_t(o), rounded_bias(layer.bias[o] / scale));
      bias_scales.push_back(float(scale));
    }
    if (scales.size() == 1) bias_scales.resize(1);
    append_constant(nodes, node, 2, "bias", std::move(bias), bias_scales, 0);
  }

  const PreparedNetwork& network_;
  const std::vector<QuantizedLayer>& layers_;
  const std::vector<QuantizedGroup>& groups_;
  Graph graph_;
  std::vector<int> group_of_;  // by value; -1: is not quantised
  std::vector<ValueId> replacement_;
  std::unordered_set<std::string> node_names_;
};

}  // namespace

Graph write_qdq(const PreparedNetwork& network, const std::vector<QuantizedLayer>& layers,
                const std::vector<QuantizedGroup>& groups) {
  return QdqWriter(network, layers, groups).write();
}

}  // namespace tilewright
