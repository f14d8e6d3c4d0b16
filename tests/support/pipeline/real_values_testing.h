// For tests: graphs of a host that convert real values to a network's numbers and back, in the ways that
// models do.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/graph/inference/shape_inference.h"
#include "tilewright/host/executor.h"
#include "tilewright/pipeline/network/borders.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

class RealBorders {
 public:
  // Gives `network` a host's graphs, and keeps it.
  RealBorders(Network& network, uint64_t seed) : network_(network), random_(seed) {
    for (const int tensor : network.input_tensors()) add_input(tensor);
    for (const int tensor : network.output_tensors()) add_output(tensor);
    network.before = std::move(before_);
    network.behind = std::move(behind_);
  }

  std::vector<Tensor> random_inputs() {
    std::vector<Tensor> inputs;
    for (const ValueId id : network_.before.inputs) {
      Tensor& tensor = inputs.emplace_back(ElementType::kF32, network_.before.value(id).shape);
      for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_number(i, (random_.uniform() - 0.5) * 12);
    }
    return inputs;
  }
  // What the model makes of its inputs.
  std::vector<Tensor> outputs(const std::vector<Tensor>& inputs) const {
    const std::vector<int32_t> image = border_image(network_, tilewright::run(network_.before, inputs));
    const std::vector<int32_t> result = evaluate(network_, image)[size_t(network_.output)];
    return tilewright::run(network_.behind, border_results(network_, result));
  }

 private:
  bool fixed() const { return network_.number == NumberType::kFixed; }
  Shape border_shape(int tensor) const {
    const TensorShape& s = network_.tensors[size_t(tensor)].shape;
    return {1, s.channels, s.rows, s.columns};
  }
  static ValueId add(Graph& graph, const std::string& op, std::vector<ValueId> inputs,
                     Attributes attributes) {
    const ValueId out = graph.add_value("v", ElementType::kF32, {});
    Node& node = graph.add_node("n", op, std::move(inputs), {out},
                                op.starts_with("Fixed") || op.starts_with("QS") ? kTilewrightDomain : "");
    node.attributes = std::move(attributes);
    const TypedShape inferred = infer_node(graph, node)[0];
    graph.value(out).type = inferred.type;
    graph.value(out).shape = inferred.shape;
    return out;
  }
  static ValueId integers(Graph& graph, std::vector<int64_t> values) {
    Tensor tensor(ElementType::kI64, {int64_t(values.size())});
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, values[size_t(i)]);
    return graph.add_constant("c", tensor);
  }
  std::vector<ValueId> conversion(Graph& graph, ValueId value) {
    const float scale = float(0.01 + random_.uniform() * 0.3);
    return {value, graph.add_constant("scale", Tensor::scalar(scale)),
            graph.add_constant("zero", Tensor::scalar(int8_t(random_.between(-20, 20))))};
  }
  Attributes fraction() const { return {{"fraction", int64_t{network_.fraction}}}; }

  // Channels first, channels last, or one run of elements.
  void add_input(int tensor) {
    const Shape shape = border_shape(tensor);
    const int64_t layout = random_.between(0, 2);
    const Shape given = layout == 0   ? shape
                        : layout == 1 ? Shape{1, shape[2], shape[3], shape[1]}
                                      : Shape{1, shape.element_count()};
    ValueId value =
        before_.add_input("real" + std::to_string(before_.inputs.size()), ElementType::kF32, given);
    const bool late = random_.chance(0.5);
    if (late) value = converted(value, tensor);
    if (layout == 1) value = add(before_, "Transpose", {value}, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
    if (layout == 2) value = add(before_, "Reshape", {value, integers(before_, shape.dims())}, {});
    if (!late) value = converted(value, tensor);
    before_.outputs.push_back(value);
  }
  ValueId converted(ValueId value, int tensor) {
    if (fixed()) return add(before_, "FixedEncode", {value}, fraction());
    value = add(before_, "QuantizeLinear", conversion(before_, value), {});
    const int bits = network_.tensors[size_t(tensor)].bits;
    if (bits == 8 && random_.chance(0.7)) return value;
    const int8_t high = int8_t((1 << (bits - 1)) - 1);
    return add(before_, "Clip",
               {value, before_.add_constant("low", Tensor::scalar(int8_t(-high - 1))),
                before_.add_constant("high", Tensor::scalar(high))},
               {});
  }
  ValueId converted_back(ValueId value) {
    return fixed() ? add(behind_, "FixedDecode", {value}, fraction())
                   : add(behind_, "DequantizeLinear", conversion(behind_, value), {});
  }
  ValueId integer_softmax(ValueId value) {
    Tensor table(ElementType::kI32, {256});
    for (int64_t d = 0; d < 256; ++d) {
      table.set_integer(d, int64_t(std::round(0x1p23 * std::exp(-0.07 * double(d)))));
    }
    return add(behind_, "QSoftmax", {value, behind_.add_constant("exponentials", table)},
               {{"numerator", int64_t{1} << 53}, {"shift", int64_t{45}}, {"y_zero_point", int64_t{-128}}});
  }
  void add_output(int tensor) {
    const Shape shape = border_shape(tensor);
    ValueId value = behind_.add_input("result" + std::to_string(behind_.inputs.size()),
                                      fixed() ? ElementType::kI32 : ElementType::kI8, shape);
    if (!fixed() && shape.element_count() <= 255 && random_.chance(0.4)) {
      value = integer_softmax(add(behind_, "Flatten", {value}, {}));
      behind_.outputs.push_back(random_.chance(0.5) ? converted_back(value) : value);
      return;
    }
    value = converted_back(value);
    if (random_.chance(0.5)) {
      value = add(behind_, "Transpose", {value}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}});
    }
    if (random_.chance(0.5)) {
      value = add(behind_, "Flatten", {value}, {});
      if (random_.chance(0.5)) value = add(behind_, "Softmax", {value}, {{"axis", int64_t{1}}});
    }
    behind_.outputs.push_back(value);
  }

  Network& network_;
  Random random_;
  Graph before_, behind_;
};

}  // namespace tilewright::pipeline
