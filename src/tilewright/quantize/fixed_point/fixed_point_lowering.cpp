// One walk over the source in topological order. An operator whose fixed form exists is emitted on i32 alone;
// whoever needs its result in float decodes it. Operators that only move data follow their input: on i32
// where it is there, in float where it is not.
#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <unordered_set>

#include "tilewright/graph/inference/statistics.h"
#include "tilewright/graph/operator_class.h"
#include "tilewright/graph/window.h"
#include "tilewright/quantize/calibrate/single_precision.h"
#include "tilewright/quantize/fixed_point/fixed_point_builder.h"
#include "tilewright/quantize/fixed_point/real_layer.h"
#include "tilewright/quantize/integerize/average_window.h"
#include "tilewright/quantize/integerize/element_function.h"
#include "tilewright/quantize/integerize/integer_builder.h"

namespace tilewright {
namespace {

bool is_addition(const Node& node) { return node.is("Add") || (node.is("Sum") && node.inputs.size() == 2); }

bool is_average(const Node& node) {
  return node.is("AveragePool") || node.is("GlobalAveragePool") || node.is("ReduceMean");
}

// `constant` repeated to `shape`; empty when it does not broadcast to it.
std::vector<double> spread(const Tensor& constant, const Shape& shape) {
  const Shape& from = constant.shape();
  const int offset = shape.rank() - from.rank();
  if (offset < 0) return {};
  for (int a = 0; a < from.rank(); ++a) {
    if (from[a] != 1 && from[a] != shape[a + offset]) return {};
  }
  const std::vector<int64_t> strides = from.strides(), to_strides = shape.strides();
  std::vector<double> numbers(size_t(shape.element_count()));
  for (int64_t i = 0; i < int64_t(numbers.size()); ++i) {
    int64_t index = 0;
    for (int a = 0; a < from.rank(); ++a) {
      if (from[a] != 1) index += i / to_strides[size_t(a + offset)] % shape[a + offset] * strides[size_t(a)];
    }
    numbers[size_t(i)] = constant.number_at(index);
  }
  return numbers;
}

// How long the pieces of a function's table are; nullopt where 512 pieces do not hold it.
std::optional<int> table_shift(const Graph& graph, const Node& node, int fraction) {
  if (node.is("LeakyRelu") || node.is("PRelu")) return kMostInputShift;  // straight but for its corner
  // The longest pieces cover every i32 already, whatever the fraction.
  const int to_sixteen = std::clamp(fraction - 4, 0, kMostInputShift);  // [-16, 16)
  const int to_eight = std::clamp(fraction - 5, 0, kMostInputShift);    // [-8, 8)
  if (node.is("Sigmoid")) return to_sixteen;
  if (node.is("Tanh")) return to_eight;
  if (!node.is("HardSigmoid")) return std::nullopt;
  const auto function = element_function(graph, node);
  const bool inside = (*function)(-16) == 0 && (*function)(16) == 1;
  return inside ? std::optional(to_sixteen) : std::nullopt;
}

class FixedPointLowering {
 public:
  FixedPointLowering(const Graph& source, int fraction, FixedPointReport& report)
      : source_(source), builder_(source, fraction, report), readers_(source.consumers()) {}

  Graph run() {
    for (const Node& node : source_.nodes) {
      const bool real = !node.outputs.empty() && node.outputs[0] != kNoValue &&
                        source_.value(node.outputs[0]).type == ElementType::kF32 && !node.inputs.empty();
      if (!real || !lower(node)) copy(node);
    }
    return builder_.finish();
  }

 private:
  bool lower(const Node& node) {
    if (node.is("Conv")) return convolution(node);
    if (node.is("Gemm") || node.is("MatMul")) return dense(node);
    if (node.is("ConvTranspose")) return builder_.refuse(node, "transposed convolutions have no fixed form");
    const bool any =
        std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return builder_.has_fixed(v); });
    if (!any) return builder_.refuse(node, "none of its inputs is in fixed point");
    if (is_addition(node)) return addition(node);
    if (node.is("Sub")) return subtraction(node);
    if (is_average(node)) return average(node);
    if (node.is("Concat")) return concatenation(node);
    if (!builder_.has_fixed(node.input(0))) return builder_.refuse(node, "this operator has no fixed form");
    if (clip_interval(source_, node)) return activation(node);
    if (element_function(source_, node)) return lookup(node);
    if (only_moves_data(source_, node)) return movement(node);
    return builder_.refuse(node, "this operator has no fixed form");
  }

  Node& emit(const Node& node, const std::string& op, std::vector<ValueId> inputs, bool scaled) {
    const ValueId y = builder_.add_fixed_value(node.outputs[0]);
    Node& made = builder_.add_node(node, op, std::move(inputs), y);
    if (scaled) made.attributes["fraction"] = int64_t{builder_.fraction()};
    builder_.set_fixed(node.outputs[0], y);
    return made;
  }

  bool convolution(const Node& node) {
    const RealLayer layer = real_convolution(source_, node);
    if (!layer.problem.empty()) return builder_.refuse(node, layer.problem);
    const Window window = convolution_window(node, source_.value(node.input(0)).shape, layer.weight_shape);
    const ValueId x = builder_.fixed(node.input(0));
    const ValueId w = builder_.add_encoded(node, "weights", layer.weights, layer.weight_shape);
    const ValueId b = builder_.add_encoded(node, "biases", layer.bias, Shape{int64_t(layer.bias.size())});
    Node& made = emit(node, "FixedConv", {x, w, b}, true);
    std::vector<int64_t> strides, dilations;
    for (const WindowAxis& axis : window.axes) {
      strides.push_back(axis.stride);
      dilations.push_back(axis.dilation);
    }
    made.attributes["strides"] = strides;
    made.attributes["dilations"] = dilations;
    made.attributes["pads"] = window.pads();
    made.attributes["group"] = node.int_or("group", 1);
    return true;
  }

  ValueId reshaped(const Node& node, ValueId x, const Shape& shape, const std::string& name) {
    if (builder_.graph().value(x).shape == shape) return x;
    const ValueId target = builder_.add_shape_constant(name + "_shape", shape);
    const ValueId y = builder_.add_fixed_value(name, shape);
    builder_.add_node(node, "Reshape", {x, target}, y, "");
    return y;
  }

  bool dense(const Node& node) {
    const RealLayer layer = real_dense(source_, node);
    if (!layer.problem.empty()) return builder_.refuse(node, layer.problem);
    const int64_t outputs = layer.weight_shape[0], depth = layer.weight_shape[1];
    const Value& y = source_.value(node.outputs[0]);
    const int64_t rows = y.shape.element_count() / std::max<int64_t>(outputs, 1);
    const ValueId x = reshaped(node, builder_.fixed(node.input(0)), {rows, depth}, node.name + "_rows");
    const ValueId w = builder_.add_encoded(node, "weights", layer.weights, layer.weight_shape);
    const ValueId b = builder_.add_encoded(node, "biases", layer.bias, {outputs});
    if (y.shape == Shape{rows, outputs}) {
      emit(node, "FixedGemm", {x, w, b}, true);
      return true;
    }
    const ValueId flat = builder_.add_fixed_value(y.name + "_flat", {rows, outputs});
    builder_.add_node(node, "FixedGemm", {x, w, b}, flat).attributes["fraction"] =
        int64_t{builder_.fraction()};
    builder_.set_fixed(node.outputs[0], reshaped(node, flat, y.shape, y.name + "_fixed"));
    return true;
  }

  // The i32 form of an operand, constants repeated to the shape of the result.
  std::optional<ValueId> addend(const Node& node, ValueId old, double sign) {
    const Shape& shape = source_.value(node.outputs[0]).shape;
    const auto& constant = source_.value(old).constant;
    if (!constant) {
      if (source_.value(old).shape != shape || sign < 0) return std::nullopt;
      return builder_.fixed(old);
    }
    std::vector<double> numbers = spread(*constant, shape);
    if (numbers.empty()) return std::nullopt;
    for (double& number : numbers) number *= sign;
    return builder_.add_encoded(node, "addend", numbers, shape);
  }

  bool addition(const Node& node, double sign_b = 1) {
    const auto a = addend(node, node.input(0), 1), b = addend(node, node.input(1), sign_b);
    if (!a || !b) return builder_.refuse(node, "only operands of one shape have a fixed form");
    emit(node, "FixedAdd", {*a, *b}, false);
    return true;
  }

  bool subtraction(const Node& node) {
    if (source_.is_constant(node.input(1))) return addition(node, -1);
    return builder_.refuse(node, "only a constant can be subtracted in fixed point");
  }

  bool average(const Node& node) {
    const AverageWindow window = average_window(source_, node);
    if (!window.problem.empty()) return builder_.refuse(node, window.problem);
    const int32_t multiplier = fixed_average_multiplier(window.elements(), builder_.fraction());
    if (multiplier == 0) return builder_.refuse(node, "its window is too large for the fraction");
    const Value& y = source_.value(node.outputs[0]);
    const Shape pooled = y.shape.rank() == 4 ? y.shape : Shape{y.shape[0], y.shape[1], 1, 1};
    const ValueId out = builder_.add_fixed_value(y.name + (pooled == y.shape ? "_fixed" : "_pooled"), pooled);
    Node& made = builder_.add_node(node, "FixedAveragePool", {builder_.fixed(node.input(0))}, out);
    made.attributes["kernel_shape"] = window.kernel;
    made.attributes["strides"] = window.strides;
    made.attributes["pads"] = window.pads;
    made.attributes["multiplier"] = int64_t{multiplier};
    made.attributes["fraction"] = int64_t{builder_.fraction()};
    builder_.set_fixed(node.outputs[0], reshaped(node, out, y.shape, y.name + "_fixed"));
    return true;
  }

  // The layer that makes the i32 form of `old`, where `old` has a single reader and the layer can clip.
  Node* clipping_producer(ValueId old) {
    if (readers_[size_t(old)].size() != 1 || source_.is_output(old)) return nullptr;
    const ValueId id = builder_.fixed(old);
    for (auto node = builder_.graph().nodes.rbegin(); node != builder_.graph().nodes.rend(); ++node) {
      if (node->outputs[0] == id) return has_output_stage(*node) ? &*node : nullptr;
    }
    return nullptr;
  }

  bool activation(const Node& node) {
    const auto interval = *clip_interval(source_, node);
    FixedClip clip{fixed_encode(double(interval.first), builder_.fraction()),
                   fixed_encode(double(interval.second), builder_.fraction())};
    const ValueId x = node.input(0);
    if (Node* layer = clipping_producer(x)) {
      const int64_t low = layer->int_or("clip_low", INT32_MIN), high = layer->int_or("clip_high", INT32_MAX);
      layer->attributes["clip_low"] = std::clamp<int64_t>(low, clip.low, clip.high);
      layer->attributes["clip_high"] = std::clamp<int64_t>(high, clip.low, clip.high);
      builder_.absorbed(node, layer->op);
      builder_.set_fixed(node.outputs[0], builder_.fixed(x));
      return true;
    }
    const ValueId y = builder_.add_fixed_value(node.outputs[0]);
    const ValueId low = builder_.graph().add_constant(node.name + "_low", Tensor::scalar(clip.low));
    const ValueId high = builder_.graph().add_constant(node.name + "_high", Tensor::scalar(clip.high));
    builder_.add_node(node, "Clip", {builder_.fixed(x), low, high}, y, "");
    builder_.set_fixed(node.outputs[0], y);
    return true;
  }

  bool lookup(const Node& node) {
    const auto shift = table_shift(source_, node, builder_.fraction());
    if (!shift) return builder_.refuse(node, "512 linear pieces do not approximate its function");
    const std::vector<int32_t> entries =
        fixed_table(*element_function(source_, node), builder_.fraction(), *shift);
    const ValueId table = builder_.graph().add_constant(
        node.name + "_table", Tensor(Shape{kFixedTableSize}, std::span<const int32_t>(entries)));
    Node& made = emit(node, "FixedLookup", {builder_.fixed(node.input(0)), table}, true);
    made.attributes["input_shift"] = int64_t{*shift};
    return true;
  }

  bool concatenation(const Node& node) {
    std::vector<ValueId> parts;
    for (ValueId old : node.inputs) parts.push_back(builder_.fixed(old));
    const ValueId y = builder_.add_fixed_value(node.outputs[0]);
    builder_.add_node(node, "Concat", std::move(parts), y, "").attributes = node.attributes;
    builder_.set_fixed(node.outputs[0], y);
    return true;
  }

  bool movement(const Node& node) {
    std::vector<ValueId> inputs{builder_.fixed(node.input(0))}, outputs;
    for (size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(builder_.native(node.inputs[i]));
    if (node.is("Pad")) {
      inputs.resize(2);
      const auto number = node.has_input(2) ? pad_number(source_, node) : std::nullopt;
      if (number)
        inputs.push_back(builder_.add_encoded(node, "padding", std::vector{double(*number)}, Shape{}));
    }
    const bool dropout = node.is("Dropout");  // in inference, and ONNX has it for floats only
    if (dropout) inputs.resize(1);
    for (ValueId old : node.outputs) {
      if (old == kNoValue) break;  // only the indices of MaxPool and the mask of Dropout can be absent
      outputs.push_back(builder_.add_fixed_value(old));
    }
    Node& moved = builder_.add_node(node, dropout ? "Identity" : node.op, std::move(inputs), outputs[0], "");
    moved.outputs = outputs;
    if (!dropout) moved.attributes = node.attributes;
    for (size_t i = 0; i < outputs.size(); ++i) builder_.set_fixed(node.outputs[i], outputs[i]);
    return true;
  }

  void copy(const Node& node) {
    std::vector<ValueId> inputs, outputs;
    for (ValueId old : node.inputs) inputs.push_back(builder_.native(old));
    for (ValueId old : node.outputs) {
      outputs.push_back(kNoValue);
      if (old == kNoValue) continue;
      const Value& value = source_.value(old);
      outputs.back() = builder_.graph().add_value(value.name, value.type, value.shape);
      builder_.set_native(old, outputs.back());
    }
    builder_.graph()
        .add_node(node.name, node.op, std::move(inputs), std::move(outputs), node.domain)
        .attributes = node.attributes;
  }

  const Graph& source_;
  FixedPointBuilder builder_;
  std::vector<std::vector<NodeId>> readers_;
};

// Leaves the meanings of values that survived. An activation takes over the value of the layer before it, so
// the last meaning of a value is the right one.
void keep_living(const Graph& fixed, std::vector<FixedPointMeaning>& meanings) {
  std::unordered_set<std::string> wanted;
  for (const Value& value : fixed.values) {
    if (!value.constant) wanted.insert(value.name);
  }
  std::vector<FixedPointMeaning> living;
  for (auto meaning = meanings.rbegin(); meaning != meanings.rend(); ++meaning) {
    if (wanted.erase(meaning->fixed) != 0) living.push_back(std::move(*meaning));
  }
  std::reverse(living.begin(), living.end());
  meanings = std::move(living);
}

// Fills in names and work, and drops the records of operators on integers and on constants.
void finish_records(const Graph& source, const Graph& fixed, FixedPointReport& report) {
  const GraphStatistics work = statistics(source);
  std::vector<FixedPointRecord> records;
  for (size_t i = 0; i < source.nodes.size(); ++i) {
    const Node& node = source.nodes[i];
    if (node.outputs.empty() || node.outputs[0] == kNoValue) continue;
    if (!is_float(source.value(node.outputs[0]).type)) continue;
    const bool constant = std::all_of(node.inputs.begin(), node.inputs.end(),
                                      [&](ValueId v) { return v == kNoValue || source.is_constant(v); });
    if (constant) continue;
    FixedPointRecord& record = report.records[i];
    record.node = node.name;
    record.op = node.op;
    record.macs = work.nodes[i].macs;
    if (!record.fixed_op.empty()) record.reason.clear();
    records.push_back(std::move(record));
  }
  report.records = std::move(records);
  keep_living(fixed, report.meanings);
}

bool has_halves(const Graph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(), [](const Value& value) {
    return value.type == ElementType::kF16 || value.type == ElementType::kBF16;
  });
}

}  // namespace

Graph to_fixed_point(const Graph& float_graph, int fraction, FixedPointReport* report) {
  if (fraction < 0 || fraction > kMostFraction) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("a fraction of {} bits is outside 0..{}", fraction, kMostFraction));
  }
  if (has_halves(float_graph)) return to_fixed_point(to_single_precision(float_graph), fraction, report);
  FixedPointReport own;
  FixedPointReport& filled = report ? *report : own;
  filled = {};
  filled.fraction = fraction;
  Graph fixed = FixedPointLowering(float_graph, fraction, filled).run();
  finish_records(float_graph, fixed, filled);
  return fixed;
}

int fraction_of_number_type(const std::string& name) {
  int integer = -1, fraction = -1, read = 0;
  const bool two = std::sscanf(name.c_str(), "q%2d.%2d%n", &integer, &fraction, &read) == 2;
  if (two && size_t(read) == name.size() && integer + fraction == 32 && fraction >= 0 &&
      fraction <= kMostFraction) {
    return fraction;
  }
  throw Error(
      ErrorKind::kInvalidInput, fmt::format("there is no number type '{}'", name),
      "int8, or fixed point such as q10.22: integer bits and fraction bits, 32 together, the fraction "
      "at most 30");
}

bool is_fixed_point(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return node.domain == kTilewrightDomain && node.op.starts_with("Fixed");
  });
}

}  // namespace tilewright
