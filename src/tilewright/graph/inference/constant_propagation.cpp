// A small evaluator over Tensor elements as int64 or double. Results that would differ from the element
// type's own arithmetic (overflow, division by zero) count as not known.
#include "tilewright/graph/inference/constant_propagation.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "tilewright/graph/operators/operator_checks.h"
#include "tilewright/graph/operators/operators_constant.h"
#include "tilewright/graph/slices.h"

namespace tilewright {
namespace {

using Known = std::optional<Tensor>;

bool covered_type(ElementType type) {
  return type == ElementType::kI64 || type == ElementType::kI32 || type == ElementType::kBool ||
         type == ElementType::kF32 || type == ElementType::kF64;
}

void copy_element(const Tensor& from, int64_t source, Tensor& to, int64_t target) {
  if (is_float(from.type())) {
    to.set_number(target, from.number_at(source));
  } else {
    to.set_integer(target, from.integer_at(source));
  }
}

// Walks all indices of `shape` in row-major order; offset() follows with the strides it was given.
class Walk {
 public:
  Walk(const Shape& shape, std::vector<int64_t> strides, int64_t offset = 0)
      : shape_(shape), strides_(std::move(strides)), index_(size_t(shape.rank()), 0), offset_(offset) {}
  int64_t offset() const { return offset_; }
  void next() {
    for (int axis = shape_.rank() - 1; axis >= 0; --axis) {
      const size_t a = size_t(axis);
      offset_ += strides_[a];
      if (++index_[a] < shape_[axis]) return;
      offset_ -= strides_[a] * shape_[axis];
      index_[a] = 0;
    }
  }

 private:
  const Shape& shape_;
  std::vector<int64_t> strides_;
  std::vector<int64_t> index_;
  int64_t offset_;
};

Tensor gathered(const Tensor& from, const TypedShape& output, std::vector<int64_t> strides,
                int64_t offset = 0) {
  Tensor result(output.type, output.shape);
  Walk walk(output.shape, std::move(strides), offset);
  for (int64_t i = 0; i < result.size(); ++i, walk.next()) copy_element(from, walk.offset(), result, i);
  return result;
}

// Strides that read `shape` as if it were broadcast to `target`.
std::vector<int64_t> broadcast_strides(const Shape& shape, const Shape& target) {
  std::vector<int64_t> strides(size_t(target.rank()), 0);
  const std::vector<int64_t> own = shape.strides();
  const int lead = target.rank() - shape.rank();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != 1) strides[size_t(axis + lead)] = own[size_t(axis)];
  }
  return strides;
}

std::optional<int64_t> integer_result(std::string_view op, int64_t a, int64_t b) {
  int64_t result = 0;
  if (op == "Add") return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == "Sub") return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == "Mul") return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Equal") return a == b;
  if (op == "Less") return a < b;
  if (op == "Greater") return a > b;
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  if (op == "Div") return a / b;
  result = a % b;  // Mod: the sign of the divisor
  return result != 0 && (result < 0) != (b < 0) ? result + b : result;
}

std::optional<double> float_result(std::string_view op, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::nullopt;
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Equal") return a == b;
  if (op == "Less") return a < b;
  if (op == "Greater") return a > b;
  return std::nullopt;
}

bool store(Tensor& result, int64_t index, std::optional<int64_t> value) {
  if (!value ||
      (!is_float(result.type()) && (*value < lowest(result.type()) || *value > highest(result.type())))) {
    return false;
  }
  result.set_integer(index, *value);
  return true;
}

Known pairwise(std::string_view op, const Tensor& a, const Tensor& b, const TypedShape& output) {
  Tensor result(output.type, output.shape);
  Walk left(output.shape, broadcast_strides(a.shape(), output.shape));
  Walk right(output.shape, broadcast_strides(b.shape(), output.shape));
  for (int64_t i = 0; i < result.size(); ++i, left.next(), right.next()) {
    if (is_float(a.type())) {
      const auto value = float_result(op, a.number_at(left.offset()), b.number_at(right.offset()));
      if (!value) return std::nullopt;
      result.set_number(i, *value);
    } else if (!store(result, i,
                      integer_result(op, a.integer_at(left.offset()), b.integer_at(right.offset())))) {
      return std::nullopt;
    }
  }
  return result;
}

Known variadic(const OperatorContext& context, const TypedShape& output) {
  Known result = *context.known(0);
  for (int i = 1; i < context.input_count() && result; ++i) {
    const Shape shape = broadcast(result->shape(), context.shape(i));
    result = pairwise(context.node().op, *result, *context.known(i), {output.type, shape});
  }
  return result;
}

Known elementwise(std::string_view op, const Tensor& x, const TypedShape& output) {
  Tensor result(output.type, output.shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    if (op == "Not") {
      result.set_integer(i, x.integer_at(i) == 0);
    } else if (op == "Neg" && !is_float(x.type())) {
      if (!store(result, i, integer_result("Sub", 0, x.integer_at(i)))) return std::nullopt;
    } else {
      const double value = x.number_at(i);
      result.set_number(i, op == "Neg"     ? -value
                           : op == "Relu"  ? std::max(value, 0.0)
                           : op == "Floor" ? std::floor(value)
                                           : std::ceil(value));
    }
  }
  return result;
}

Known cast(const Tensor& x, const TypedShape& output) {
  Tensor result(output.type, output.shape);
  for (int64_t i = 0; i < x.size(); ++i) {
    if (output.type == ElementType::kBool) {
      result.set_integer(i, x.number_at(i) != 0);
    } else if (!is_float(output.type) && is_float(x.type())) {
      const double value = std::trunc(x.number_at(i));  // towards zero, as C does
      if (!(std::abs(value) < 0x1p62) || !store(result, i, int64_t(value))) return std::nullopt;
    } else if (!is_float(output.type)) {
      if (!store(result, i, x.integer_at(i))) return std::nullopt;
    } else {
      result.set_number(i, x.number_at(i));
    }
  }
  return result;
}

Known where_of(const OperatorContext& context, const TypedShape& output) {
  Tensor result(output.type, output.shape);
  Walk condition(output.shape, broadcast_strides(context.shape(0), output.shape));
  Walk yes(output.shape, broadcast_strides(context.shape(1), output.shape));
  Walk no(output.shape, broadcast_strides(context.shape(2), output.shape));
  for (int64_t i = 0; i < result.size(); ++i, condition.next(), yes.next(), no.next()) {
    const bool taken = context.known(0)->integer_at(condition.offset()) != 0;
    copy_element(*context.known(taken ? 1 : 2), taken ? yes.offset() : no.offset(), result, i);
  }
  return result;
}

Known gather(const OperatorContext& context, const TypedShape& output) {
  const Tensor &data = *context.known(0), &indices = *context.known(1);
  const int axis = normalize_axis(context.node().int_or("axis", 0), data.shape().rank());
  const int64_t inner = data.shape().count(axis + 1, data.shape().rank());
  const int64_t size = data.shape()[axis];
  Tensor result(output.type, output.shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t index = indices.integer_at(i / inner % indices.size());
    if (index < 0) index += size;
    if (index < 0 || index >= size) return std::nullopt;
    copy_element(data, (i / inner / indices.size() * size + index) * inner + i % inner, result, i);
  }
  return result;
}

Known concat(const OperatorContext& context, const TypedShape& output) {
  const int axis = normalize_axis(context.node().int_or("axis", 0), output.shape.rank());
  const int64_t outer = output.shape.count(0, axis);
  Tensor result(output.type, output.shape);
  int64_t target = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (int i = 0; i < context.input_count(); ++i) {
      const int64_t chunk = context.shape(i).count(axis, output.shape.rank());
      for (int64_t k = 0; k < chunk; ++k) copy_element(*context.known(i), o * chunk + k, result, target++);
    }
  }
  return result;
}

Known slice(const OperatorContext& context, const TypedShape& output) {
  const auto list = [&](int index) {
    return context.has(index) ? context.known(index)->to_integers() : std::vector<int64_t>{};
  };
  const Tensor& data = *context.known(0);
  const auto ranges = slice_ranges(context.node(), data.shape(), list(1), list(2), list(3), list(4));
  std::vector<int64_t> strides = data.shape().strides();
  int64_t offset = 0;
  for (size_t axis = 0; axis < ranges.size(); ++axis) {
    offset += ranges[axis].start * strides[axis];
    // A step over a single element is never taken, and may be huge.
    strides[axis] *= ranges[axis].count > 1 ? ranges[axis].step : 0;
  }
  return gathered(data, output, std::move(strides), offset);
}

Known transpose(const OperatorContext& context, const TypedShape& output) {
  const Tensor& data = *context.known(0);
  std::vector<int64_t> perm = context.node().ints_or("perm", {});
  if (perm.empty()) {
    for (int axis = data.shape().rank() - 1; axis >= 0; --axis) perm.push_back(axis);
  }
  const std::vector<int64_t> own = data.shape().strides();
  std::vector<int64_t> strides;
  for (int64_t axis : perm) strides.push_back(own[size_t(normalize_axis(axis, data.shape().rank()))]);
  return gathered(data, output, std::move(strides));
}

Known range(const OperatorContext& context, const TypedShape& output) {
  const Tensor &start = *context.known(0), &delta = *context.known(2);
  Tensor result(output.type, output.shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    if (is_float(output.type)) {
      result.set_number(i, start.number_at(0) + double(i) * delta.number_at(0));
      continue;
    }
    const std::optional<int64_t> step = integer_result("Mul", i, delta.integer_at(0));
    if (!step || !store(result, i, integer_result("Add", start.integer_at(0), *step))) return std::nullopt;
  }
  return result;
}

// Reductions over all axes or over all but one kept size: what shape computations use.
Known reduce(const OperatorContext& context, const TypedShape& output) {
  const Tensor& data = *context.known(0);
  if (is_float(data.type()) || output.type == ElementType::kBool || saturating_count(output.shape) != 1 ||
      data.size() == 0) {
    return std::nullopt;
  }
  const std::string_view op = context.node().op;
  const std::string_view step = op == "ReduceProd"  ? "Mul"
                                : op == "ReduceSum" ? "Add"
                                : op == "ReduceMin" ? "Min"
                                                    : "Max";
  std::optional<int64_t> total = data.integer_at(0);
  for (int64_t i = 1; i < data.size() && total; ++i) total = integer_result(step, *total, data.integer_at(i));
  Tensor result(output.type, output.shape);
  return store(result, 0, total) ? Known(result) : std::nullopt;
}

Known constant(const OperatorContext& context, const TypedShape& output) {
  const Attribute& value = context.node().attributes.begin()->second;
  if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
  Tensor result(output.type, output.shape);
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&value))
    return Tensor(output.shape, std::span(*ints));
  if (const auto* list = std::get_if<std::vector<float>>(&value))
    return Tensor(output.shape, std::span(*list));
  if (const auto* number = std::get_if<float>(&value)) result.set_number(0, *number);
  if (const auto* integer = std::get_if<int64_t>(&value)) result.set_integer(0, *integer);
  return result;
}

Known shape_of(const OperatorContext& context, const TypedShape& output) {
  const std::vector<int64_t>& dims = context.shape(0).dims();
  int64_t start = context.node().int_or("start", 0);
  if (start < 0) start += int64_t(dims.size());
  start = std::clamp<int64_t>(start, 0, int64_t(dims.size()));
  Tensor result(output.type, output.shape);
  for (int64_t i = 0; i < result.size(); ++i) result.set_integer(i, dims[size_t(start + i)]);
  return result;
}

Known constant_of_shape(const OperatorContext& context, const TypedShape& output) {
  Tensor result(output.type, output.shape);
  const auto value = context.node().attributes.find("value");
  if (value == context.node().attributes.end()) return result;
  for (int64_t i = 0; i < result.size(); ++i) copy_element(std::get<Tensor>(value->second), 0, result, i);
  return result;
}

bool one_of(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

Known evaluate(const OperatorContext& context, const TypedShape& output) {
  const std::string_view op = context.node().op;
  const Tensor& x = *context.known(0);
  if (one_of(op, {"Identity"})) return x;
  if (one_of(op, {"Reshape", "Flatten", "Squeeze", "Unsqueeze"})) return x.reshaped(output.shape);
  if (op == "Mod" && context.node().int_or("fmod", 0) != 0) return std::nullopt;
  if (one_of(op, {"Add", "Sub", "Mul", "Div", "Mod", "Equal", "Less", "Greater"})) {
    return pairwise(op, x, *context.known(1), output);
  }
  if (one_of(op, {"Min", "Max"})) return variadic(context, output);
  if (one_of(op, {"Neg", "Relu", "Floor", "Ceil", "Not"})) return elementwise(op, x, output);
  if (one_of(op, {"ReduceProd", "ReduceSum", "ReduceMin", "ReduceMax"})) return reduce(context, output);
  if (op == "Cast") return cast(x, output);
  if (op == "Gather") return gather(context, output);
  if (op == "Concat") return concat(context, output);
  if (op == "Slice") return slice(context, output);
  if (op == "Transpose") return transpose(context, output);
  if (op == "Expand") return gathered(x, output, broadcast_strides(x.shape(), output.shape));
  if (op == "Where") return where_of(context, output);
  if (op == "Range") return range(context, output);
  if (op == "ConstantOfShape") return constant_of_shape(context, output);
  return std::nullopt;
}

}  // namespace

std::optional<Tensor> propagate(const OperatorContext& context, const TypedShape& output) {
  if (!context.node().domain.empty()) return std::nullopt;
  // What a Constant holds exists already, so that its size does not matter.
  if (context.node().op == "Constant") return constant(context, output);
  if (saturating_count(output.shape) > kMaxKnownElements || !covered_type(output.type)) return std::nullopt;
  if (context.node().op == "Shape") return shape_of(context, output);
  if (context.node().op == "Size") return Tensor::scalar<int64_t>(saturating_count(context.shape(0)));
  if (context.input_count() == 0) return std::nullopt;
  for (int i = 0; i < context.input_count(); ++i) {
    if (!context.has(i)) continue;
    const Tensor* known = context.known(i);
    if (known == nullptr || known->size() > kMaxKnownElements || !covered_type(known->type()))
      return std::nullopt;
  }
  return evaluate(context, output);
}

}  // namespace tilewright
