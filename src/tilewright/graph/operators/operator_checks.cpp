// Checks that the inference functions of all operator families share.
#include "tilewright/graph/operators/operator_checks.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilewright {
namespace {

const char* describe(TypeClass wanted) {
  switch (wanted) {
    case TypeClass::kFloat:
      return "a floating-point type";
    case TypeClass::kNumber:
      return "a number type";
    case TypeClass::kInteger:
      return "an integer type";
    case TypeClass::kByte:
      return "i8 or u8";
    case TypeClass::kIndex:
      return "i32 or i64";
    case TypeClass::kBool:
      return "bool";
  }
  return "";
}

bool belongs(ElementType type, TypeClass wanted) {
  switch (wanted) {
    case TypeClass::kFloat:
      return is_float(type);
    case TypeClass::kNumber:
      return type != ElementType::kBool;
    case TypeClass::kInteger:
      return is_integer(type);
    case TypeClass::kByte:
      return type == ElementType::kI8 || type == ElementType::kU8;
    case TypeClass::kIndex:
      return type == ElementType::kI32 || type == ElementType::kI64;
    case TypeClass::kBool:
      return type == ElementType::kBool;
  }
  return false;
}

}  // namespace

void reject(const OperatorContext& context, std::string message, std::string hint) {
  throw Error({{ErrorKind::kInvalidInput, where(context.node()), context.node().op, std::move(message),
                std::move(hint)}});
}

void reject_unsupported(const OperatorContext& context, std::string message, std::string hint) {
  throw Error({{ErrorKind::kUnsupported, where(context.node()), context.node().op, std::move(message),
                std::move(hint)}});
}

std::string describe_input(const OperatorContext& context, int index) {
  return fmt::format("input {} ('{}')", index, context.input(index).name);
}

void require_class(const OperatorContext& context, int index, TypeClass wanted) {
  if (belongs(context.type(index), wanted)) return;
  reject(context, fmt::format("{} has type {}, {} is needed", describe_input(context, index),
                              name(context.type(index)), describe(wanted)));
}

void require_type(const OperatorContext& context, int index, ElementType wanted) {
  if (context.type(index) == wanted) return;
  reject(context, fmt::format("{} has type {}, {} is needed", describe_input(context, index),
                              name(context.type(index)), name(wanted)));
}

void require_same_type(const OperatorContext& context, int first, int second) {
  if (context.type(first) == context.type(second)) return;
  reject(context,
         fmt::format("{} has type {}, {} has type {}", describe_input(context, first),
                     name(context.type(first)), describe_input(context, second), name(context.type(second))),
         "both need the same type");
}

void require_rank(const OperatorContext& context, int index, int rank) {
  if (context.shape(index).rank() == rank) return;
  reject(context, fmt::format("{} has shape {}, {} axes are needed", describe_input(context, index),
                              to_string(context.shape(index)), rank));
}

void require_vector(const OperatorContext& context, int index, int64_t length) {
  if (context.shape(index) == Shape{length}) return;
  reject(context, fmt::format("{} has shape {}, a list of {} is needed", describe_input(context, index),
                              to_string(context.shape(index)), length));
}

void require_same_shape(const OperatorContext& context, int first, int second) {
  const Shape &a = context.shape(first), &b = context.shape(second);
  if (a != b) reject(context, fmt::format("shapes {} and {} differ", to_string(a), to_string(b)));
}

void require_integer(const OperatorContext& context, const char* name, int64_t fallback, int64_t low,
                     int64_t high) {
  const int64_t value = context.node().int_or(name, fallback);
  if (value >= low && value <= high) return;
  reject(context, fmt::format("attribute '{}' is {}, which is outside {}..{}", name, value, low, high));
}

void require_clip_order(const OperatorContext& context, int64_t low, int64_t high) {
  low = context.node().int_or("clip_low", low);
  high = context.node().int_or("clip_high", high);
  if (low > high) reject(context, fmt::format("clip_low is {}, clip_high is {}", low, high));
}

void require_single_element(const OperatorContext& context, int index) {
  if (saturating_count(context.shape(index)) == 1) return;
  reject(context, fmt::format("{} has shape {}, a single element is needed", describe_input(context, index),
                              to_string(context.shape(index))));
}

std::vector<int64_t> known_integers(const OperatorContext& context, int index, const char* what) {
  require_class(context, index, TypeClass::kIndex);
  if (context.shape(index).rank() > 1) {
    reject(context, fmt::format("{} has shape {}, {} must be a list", describe_input(context, index),
                                to_string(context.shape(index)), what));
  }
  const Tensor* tensor = context.known(index);
  if (tensor == nullptr) {
    reject_unsupported(
        context,
        fmt::format("{} is not constant: {} depends on the data", describe_input(context, index), what),
        "shapes must follow from the shapes of the graph inputs");
  }
  return tensor->to_integers();
}

int checked_axis(const OperatorContext& context, int64_t axis, int rank) {
  if (rank == 0) reject(context, fmt::format("a scalar has no axis {}", axis));
  if (axis < -rank || axis >= rank) {
    reject(context, fmt::format("axis {} is outside -{}..{}", axis, rank, rank - 1));
  }
  return int(axis < 0 ? axis + rank : axis);
}

std::vector<int> checked_axes(const OperatorContext& context, const std::vector<int64_t>& axes, int rank) {
  std::vector<int> result;
  std::vector<bool> seen(size_t(rank), false);
  for (int64_t axis : axes) {
    result.push_back(checked_axis(context, axis, rank));
    if (seen[size_t(result.back())]) reject(context, fmt::format("axis {} is listed twice", axis));
    seen[size_t(result.back())] = true;
  }
  return result;
}

Shape broadcast_inputs(const OperatorContext& context, const Shape& a, const Shape& b) {
  try {
    return broadcast(a, b);
  } catch (const Error&) {
    reject(context, fmt::format("shapes {} and {} do not broadcast", to_string(a), to_string(b)));
  }
}

void require_broadcastable_to(const OperatorContext& context, int index, const Shape& target) {
  if (context.shape(index).rank() <= target.rank() &&
      broadcast_inputs(context, target, context.shape(index)) == target) {
    return;
  }
  reject(context, fmt::format("{} of shape {} does not broadcast to {}", describe_input(context, index),
                              to_string(context.shape(index)), to_string(target)));
}

Shape transposed_product_shape(const OperatorContext& context) {
  require_rank(context, 0, 2);
  require_rank(context, 1, 2);
  const Shape &x = context.shape(0), &weights = context.shape(1);
  if (x[1] != weights[1]) {
    reject(context,
           fmt::format("{} times {} (transposed): the inner sizes differ", to_string(x), to_string(weights)));
  }
  return {x[0], weights[0]};
}

int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

int64_t saturating_count(const Shape& shape) {
  int64_t product = 1;
  for (int64_t size : shape) {
    if (size == 0) return 0;
    product = saturating_multiply(product, size);
  }
  return product;
}

std::vector<TypedShape> only(ElementType type, Shape shape) { return {{type, std::move(shape)}}; }

}  // namespace tilewright
