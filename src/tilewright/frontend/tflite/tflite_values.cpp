// The values that stand for a tensor: channels-first is a Transpose of the file's layout, real numbers are a
// DequantizeLinear of what is stored; both are made once per tensor, when first asked for. Constants are
// turned while reading.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/frontend/onnx/proto/onnx_types.h"
#include "tilewright/frontend/tflite/tflite_lowering.h"
#include "tilewright/tensor/layout.h"

namespace tilewright {
namespace {

const std::vector<int64_t> kToChannelsFirst = {0, 3, 1, 2};
const std::vector<int64_t> kToFile = {0, 2, 3, 1};

Shape permuted(const Shape& shape, const std::vector<int64_t>& order) {
  std::vector<int64_t> dims;
  for (const int64_t axis : order) dims.push_back(shape[int(axis)]);
  return Shape(std::move(dims));
}

Tensor permuted(const Tensor& tensor, const std::vector<int64_t>& order) {
  return permute(tensor, std::vector<int>(order.begin(), order.end()));
}

// Whether the order of the elements is the same in both layouts of a rank-4 shape (channels-last).
bool is_same_order(const Shape& file) { return file[3] == 1 || (file[1] == 1 && file[2] == 1); }

Tensor scalars(ElementType type, const std::vector<int64_t>& numbers, bool single) {
  Tensor tensor(type, single ? Shape{} : Shape{int64_t(numbers.size())});
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, numbers[size_t(i)]);
  return tensor;
}

Tensor scalars(const std::vector<float>& numbers) {
  return numbers.size() == 1 ? Tensor::scalar(numbers[0])
                             : Tensor(Shape{int64_t(numbers.size())}, std::span<const float>(numbers));
}

}  // namespace

CheckedQuantization TfliteLowering::checked_quantization(const TfliteTensor& tensor,
                                                         const Shape& shape) const {
  const TfliteQuantization& given = *tensor.quantization;
  const auto invalid = [&](const std::string& message, const std::string& hint) -> Error {
    return Error(ErrorKind::kInvalidInput, fmt::format("{} {}", where(tensor), message), hint);
  };
  const size_t count = given.scales.size();
  CheckedQuantization checked{given.scales, given.zero_points, 0};
  if (checked.zero_points.empty()) checked.zero_points.assign(count, 0);
  if (checked.zero_points.size() == 1) checked.zero_points.resize(count, checked.zero_points[0]);
  if (checked.zero_points.size() != count) {
    throw invalid(fmt::format("has {} scales but {} zero points", count, given.zero_points.size()),
                  "quantise the model again");
  }
  for (const float scale : given.scales) {
    if (!(scale > 0) || !std::isfinite(scale)) {
      throw invalid(fmt::format("has the scale {}", scale), "quantise the model again");
    }
  }
  for (const int64_t zero : checked.zero_points) {
    if (zero < lowest(*tensor.type) || zero > highest(*tensor.type)) {
      throw invalid(fmt::format("has the zero point {}, which does not fit {}", zero, name(*tensor.type)),
                    "quantise the model again");
    }
  }
  if (count == 1) return checked;
  if (given.axis < 0 || given.axis >= shape.rank() || int64_t(count) != shape[int(given.axis)]) {
    throw invalid(fmt::format("has {} scales along axis {} of {}", count, given.axis, to_string(shape)),
                  "its quantized_dimension must name the axis of that size");
  }
  checked.axis = int(given.axis);
  return checked;
}

CheckedQuantization TfliteLowering::quantization(int input) const {
  return checked_quantization(tensor(input), tensor(input).shape);
}

const Tensor* TfliteLowering::constant_of(int64_t tensor) const {
  if (model_.tensors[size_t(tensor)].constant) return &*model_.tensors[size_t(tensor)].constant;
  const State& produced = states_[size_t(tensor)];
  return produced.known ? &*produced.known : nullptr;
}

const Tensor* TfliteLowering::constant(int input) { return constant_of(op_->inputs[size_t(input)]); }

std::vector<int64_t> TfliteLowering::constant_integers(int input, const char* what) {
  const Tensor* known = constant(input);
  if (known == nullptr || !is_integer(known->type())) {
    throw Error(ErrorKind::kUnsupported, fmt::format("has {} that are not constant integers", what),
                "export the model with fixed sizes");
  }
  return known->to_integers();
}

int64_t TfliteLowering::constant_integer(int input, const char* what) {
  const std::vector<int64_t> numbers = constant_integers(input, what);
  if (numbers.size() != 1) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("has {} {} instead of one", numbers.size(), what));
  }
  return numbers[0];
}

Shape TfliteLowering::shape(int input) {
  const int64_t index = op_->inputs[size_t(input)];
  if (model_.tensors[size_t(index)].constant) return model_.tensors[size_t(index)].shape;
  const State& produced = states_[size_t(index)];
  if (produced.stored[0] != kNoValue) return graph_.value(produced.stored[0]).shape;
  return permuted(graph_.value(produced.stored[1]).shape, kToFile);
}

ValueId TfliteLowering::converted(int64_t tensor, ValueId from, TensorLayout to) {
  const Shape shape = graph_.value(from).shape;
  const std::vector<int64_t>& order = to == TensorLayout::kFile ? kToFile : kToChannelsFirst;
  const Shape target = permuted(shape, order);
  const bool moves_nothing = is_same_order(to == TensorLayout::kFile ? target : shape);
  const ValueId id = moves_nothing ? reshape(from, target) : emit("Transpose", {from}, {{"perm", order}});
  const State& state = states_[size_t(tensor)];
  if (state.is_output && to == TensorLayout::kFile && id != from) {
    graph_.value(id).name = value_names_.unique(model_.tensors[size_t(tensor)].name);
  }
  return id;
}

ValueId TfliteLowering::stored_of(int64_t index, TensorLayout layout) {
  State& produced = states_[size_t(index)];
  ValueId& wanted = produced.stored[size_t(layout)];
  if (wanted != kNoValue) return wanted;
  const TfliteTensor& tensor = model_.tensors[size_t(index)];
  if (layout == TensorLayout::kChannelsFirst) {
    const int rank = tensor.constant ? tensor.shape.rank() : graph_.value(produced.stored[0]).shape.rank();
    if (rank != 4) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("{} has {} axes where 4 are needed", where(tensor), rank));
    }
  }
  if (tensor.constant) {
    const std::string name = base_name_;
    base_name_ = tensor.name;
    wanted =
        constant_value("data", layout == TensorLayout::kFile ? *tensor.constant
                                                             : permuted(*tensor.constant, kToChannelsFirst));
    base_name_ = name;
    return wanted;
  }
  const TensorLayout other =
      layout == TensorLayout::kFile ? TensorLayout::kChannelsFirst : TensorLayout::kFile;
  const ValueId id = converted(index, produced.stored[size_t(other)], layout);
  return produced.stored[size_t(layout)] = id;
}

ValueId TfliteLowering::dequantized(ValueId integers, const CheckedQuantization& quantization, int axis) {
  const ValueId scale = constant_value("scale", scalars(quantization.scales));
  const ValueId zero = constant_value(
      "zero_point",
      scalars(graph_.value(integers).type, quantization.zero_points, quantization.per_tensor()));
  Attributes attributes;
  if (!quantization.per_tensor()) attributes["axis"] = int64_t(axis);
  return emit("DequantizeLinear", {integers, scale, zero}, std::move(attributes));
}

ValueId TfliteLowering::real_of(int64_t index, TensorLayout layout) {
  ValueId& wanted = states_[size_t(index)].real[size_t(layout)];
  if (wanted != kNoValue) return wanted;
  const TfliteTensor& tensor = model_.tensors[size_t(index)];
  const ValueId id = stored_of(index, layout);
  const ElementType type = graph_.value(id).type;
  if (type == ElementType::kF32) return wanted = id;
  if (is_float(type)) {
    return wanted = graph_.value(id).constant
                        ? constant_value("f32", graph_.value(id).constant->cast(ElementType::kF32))
                        : emit("Cast", {id}, {{"to", int64_t{onnx_storage_type(ElementType::kF32)}}});
  }
  if (!tensor.quantization) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("reads {} as real numbers, but it holds {} without a scale", where(tensor),
                            tensor.type_name),
                "quantise the model again");
  }
  const CheckedQuantization quantization = checked_quantization(tensor, tensor.shape);
  if (!quantization.per_tensor() && !tensor.constant) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("reads {}, an activation with several scales", where(tensor)));
  }
  const auto axis = axis_in(layout, quantization.axis, std::max(1, tensor.shape.rank()));
  return wanted = dequantized(id, quantization, int(axis));
}

ValueId TfliteLowering::real(int input, TensorLayout layout) {
  return real_of(op_->inputs[size_t(input)], layout);
}

ValueId TfliteLowering::stored(int input, TensorLayout layout) {
  return stored_of(op_->inputs[size_t(input)], layout);
}

ValueId TfliteLowering::value(int input, TensorLayout layout) {
  const TfliteTensor& source = tensor(input);
  const bool is_real = source.quantization || is_float(*source.type);
  return is_real ? real(input, layout) : stored(input, layout);
}

ValueId TfliteLowering::weights(int input, const std::vector<int64_t>& order) {
  const TfliteTensor& source = tensor(input);
  const Tensor* integers = constant(input);
  if (shape(input).rank() != int(order.size())) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} has {} axes where {} are needed", where(source),
                                                      shape(input).rank(), order.size()));
  }
  if (integers == nullptr) {
    return emit("Transpose", {real(input, TensorLayout::kFile)}, {{"perm", order}});
  }
  Tensor turned = permuted(*integers, order);
  if (is_float(turned.type())) return constant_value("weights", turned.cast(ElementType::kF32));
  if (!source.quantization) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} holds {} without a scale", where(source), source.type_name),
                "quantise the model again");
  }
  const CheckedQuantization quantization = checked_quantization(source, integers->shape());
  const auto axis = std::find(order.begin(), order.end(), quantization.axis) - order.begin();
  return dequantized(constant_value("weights", std::move(turned)), quantization, int(axis));
}

ValueId TfliteLowering::broadcast_operand(int input, TensorLayout layout) {
  if (layout == TensorLayout::kFile || shape(input).rank() == 4) return value(input, layout);
  const ValueId operand = value(input, TensorLayout::kFile);
  const Shape from = shape(input);
  if (from.rank() == 0) return operand;
  std::vector<int64_t> dims(size_t(std::max(0, 4 - from.rank())), 1);
  dims.insert(dims.end(), from.begin(), from.end());
  const ValueId spread = reshape(operand, Shape(dims));
  if (dims.size() == 4 && dims[1] == 1 && dims[2] == 1) {
    return reshape(spread, Shape{dims[0], dims[3], dims[1], dims[2]});
  }
  return emit("Transpose", {spread}, {{"perm", kToChannelsFirst}});
}

TensorLayout TfliteLowering::layout_of(int input) const {
  const int64_t index = op_->inputs[size_t(input)];
  return states_[size_t(index)].stored[1] != kNoValue && !model_.tensors[size_t(index)].constant
             ? TensorLayout::kChannelsFirst
             : TensorLayout::kFile;
}

TensorLayout TfliteLowering::flat_layout(int input) const {
  const State& produced = states_[size_t(op_->inputs[size_t(input)])];
  if (produced.stored[0] != kNoValue || layout_of(input) == TensorLayout::kFile) return TensorLayout::kFile;
  return is_same_order(permuted(graph_.value(produced.stored[1]).shape, kToFile))
             ? TensorLayout::kChannelsFirst
             : TensorLayout::kFile;
}

TensorLayout TfliteLowering::common_layout() const {
  TensorLayout layout = TensorLayout::kFile;
  for (int i = 0; i < input_count(); ++i) {
    if (!has_input(i)) continue;
    const int64_t index = op_->inputs[size_t(i)];
    const State& produced = states_[size_t(index)];
    if (model_.tensors[size_t(index)].constant) {
      if (model_.tensors[size_t(index)].shape.rank() > 4) return TensorLayout::kFile;
      continue;
    }
    if (produced.stored[1] != kNoValue) {
      layout = TensorLayout::kChannelsFirst;
    } else if (graph_.value(produced.stored[0]).shape.rank() != 4) {
      return TensorLayout::kFile;
    }
  }
  return layout;
}

int64_t TfliteLowering::axis_in(TensorLayout layout, int64_t axis, int rank) const {
  axis = normalize_axis(axis, rank);
  if (layout == TensorLayout::kFile) return axis;
  return std::find(kToChannelsFirst.begin(), kToChannelsFirst.end(), axis) - kToChannelsFirst.begin();
}

ValueId TfliteLowering::quantized(ValueId real, const TfliteTensor& tensor) {
  const CheckedQuantization quantization = checked_quantization(tensor, tensor.shape);
  const bool covered =
      tensor.type == ElementType::kI8 || tensor.type == ElementType::kU8 || tensor.type == ElementType::kI16;
  if (!covered || !quantization.per_tensor()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("writes {}, an activation of {} with {} scales", where(tensor), tensor.type_name,
                            quantization.scales.size()),
                "INT8, UINT8 and INT16 with one scale are supported");
  }
  graph_.rounding = options_.rounding;
  return emit("QuantizeLinear",
              {real, constant_value("scale", scalars(quantization.scales)),
               constant_value("zero_point", scalars(*tensor.type, quantization.zero_points, true))});
}

ValueId TfliteLowering::rounded_as_output(int output, ValueId real) {
  const TfliteTensor& target = output_tensor(output);
  if (!target.quantization || !target.type || !is_integer(*target.type)) return real;
  const CheckedQuantization quantization = checked_quantization(target, target.shape);
  return dequantized(quantized(real, target), quantization, 0);
}

ValueId TfliteLowering::as_type(ValueId value, const TfliteTensor& tensor) {
  const ElementType type = graph_.value(value).type;
  if (type == *tensor.type) return value;
  const bool converts = (is_float(type) && is_float(*tensor.type)) ||
                        (type == ElementType::kI64 && tensor.type == ElementType::kI32);
  if (!converts) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("gives {}, but {} is declared as {}", name(type),
                                                      where(tensor), tensor.type_name));
  }
  return emit("Cast", {value}, {{"to", int64_t{onnx_storage_type(*tensor.type)}}});
}

}  // namespace tilewright
