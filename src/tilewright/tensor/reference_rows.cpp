// One loop per index, as in reference_kernels.cpp.
#include "tilewright/tensor/reference_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tilewright/tensor/reference_checks.h"

namespace tilewright {

using namespace reference;

namespace {

int64_t rows_of(const Shape& shape) {
  return shape.element_count() / std::max<int64_t>(1, shape[shape.rank() - 1]);
}

void require_rows(const Tensor& x, std::string_view op) {
  require(x.shape().rank() >= 1 && x.size() > 0, op, "X must have a last axis and elements");
}

}  // namespace

Tensor reference_product(const Tensor& a, const Tensor& b, const ProductParameters& parameters) {
  constexpr std::string_view kOp = "QMatMul";
  require_factors(a, b, parameters, kOp);
  const int rank = a.shape().rank();
  const std::string shapes = fmt::format("A {} and B {}", to_string(a.shape()), to_string(b.shape()));
  require(rank >= 2 && b.shape().rank() == rank, kOp, shapes + " must have one rank of at least 2");
  const bool transposed = parameters.transpose_b;
  const int64_t rows = a.shape()[rank - 2], depth = a.shape()[rank - 1],
                columns = b.shape()[transposed ? rank - 2 : rank - 1];
  require(b.shape()[transposed ? rank - 1 : rank - 2] == depth, kOp, shapes + " have different depths");
  std::vector<int64_t> dims = a.shape().dims();
  int64_t matrices = 1;
  for (int axis = 0; axis < rank - 2; ++axis) {
    require(b.shape()[axis] == dims[size_t(axis)], kOp, shapes + " have different leading axes");
    matrices *= dims[size_t(axis)];
  }
  dims.back() = columns;
  Tensor result(type_of(parameters.output), Shape(dims));
  for (int64_t matrix = 0; matrix < matrices; ++matrix) {
    for (int64_t m = 0; m < rows; ++m) {
      for (int64_t n = 0; n < columns; ++n) {
        uint64_t sum = 0;
        for (int64_t k = 0; k < depth; ++k) {
          const int64_t at_b = transposed ? n * depth + k : k * columns + n;
          const int64_t x = a.integer_at((matrix * rows + m) * depth + k) - parameters.a_zero_point;
          const int64_t y = b.integer_at(matrix * depth * columns + at_b) - parameters.b_zero_point;
          sum += uint64_t(x * y);
        }
        result.set_integer((matrix * rows + m) * columns + n,
                           finished(sum, {parameters.multiplier, parameters.shift}, parameters.output));
      }
    }
  }
  return result;
}

Tensor reference_softmax(const Tensor& x, const Tensor& table, const SoftmaxParameters& parameters) {
  constexpr std::string_view kOp = "QSoftmax";
  require(x.type() == ElementType::kI8, kOp, "X must be i8");
  require_rows(x, kOp);
  require(table.type() == ElementType::kI32 && table.shape() == Shape{256}, kOp,
          "the table must be i32[256]");
  require(1 <= parameters.numerator && parameters.numerator <= kMostNumerator, kOp,
          "numerator must be in 1..2^54");
  require(0 <= parameters.shift && parameters.shift <= 62, kOp, "shift must be in 0..62");
  require_output(parameters.output, kOp);
  const int64_t length = x.shape()[x.shape().rank() - 1], one = table.integer_at(0);
  require(length <= kLongestSoftmax, kOp,
          fmt::format("rows of {} are longer than {}", length, kLongestSoftmax));
  require(one > 0 && one * length <= INT32_MAX && parameters.numerator / one <= INT32_MAX, kOp,
          fmt::format("the first exponential, {}, is out of range", one));
  for (const int64_t power : table.to_integers())
    require(0 <= power && power <= one, kOp, "an exponential is negative or above the first");
  Tensor result(type_of(parameters.output), x.shape());
  for (int64_t row = 0; row < rows_of(x.shape()); ++row) {
    int64_t largest = lowest(ElementType::kI8), sum = 0;
    for (int64_t n = 0; n < length; ++n) largest = std::max(largest, x.integer_at(row * length + n));
    const auto power = [&](int64_t n) { return table.integer_at(largest - x.integer_at(row * length + n)); };
    for (int64_t n = 0; n < length; ++n) sum += power(n);
    const int64_t inverse = parameters.numerator / sum;
    for (int64_t n = 0; n < length; ++n) {
      const int64_t value = round_shift(power(n) * inverse, parameters.shift);
      result.set_integer(row * length + n, stored(value, parameters.output));
    }
  }
  return result;
}

Tensor reference_norm(const Tensor& x, const Tensor& bias, const Tensor& multiplier, const Tensor& shift,
                      const NormParameters& parameters) {
  constexpr std::string_view kOp = "QLayerNorm";
  require_activation(x, kOp, "X");
  require_rows(x, kOp);
  require_element(parameters.x_zero_point, x, kOp, "x_zero_point");
  require(1 <= parameters.epsilon && parameters.epsilon <= kMostEpsilon, kOp, "epsilon must be in 1..2^61");
  require_output(parameters.output, kOp);
  const int64_t channels = x.shape()[x.shape().rank() - 1];
  require(0 <= parameters.fraction && parameters.fraction <= 8, kOp, "fraction must be in 0..8");
  require(channels <= kLongestNorm, kOp, fmt::format("{} channels are more than {}", channels, kLongestNorm));
  require_tensor(bias, ElementType::kI32, 1, kOp, "bias");
  require(bias.size() == channels, kOp, fmt::format("{} biases for {} channels", bias.size(), channels));
  for (const Tensor* scale : {&multiplier, &shift}) {
    require_tensor(*scale, ElementType::kI32, 1, kOp, "multiplier or shift");
    require(scale->size() == channels || scale->size() == 1, kOp,
            "one multiplier and shift, or one per channel");
  }
  const auto pick = [](const Tensor& scale, int64_t c) {
    return scale.integer_at(scale.size() == 1 ? 0 : c);
  };
  for (int64_t c = 0; c < channels; ++c) require(is_shift(pick(shift, c)), kOp, "a shift is out of range");
  Tensor result(type_of(parameters.output), x.shape());
  for (int64_t row = 0; row < rows_of(x.shape()); ++row) {
    const auto centred = [&](int64_t c) {
      return x.integer_at(row * channels + c) - parameters.x_zero_point;
    };
    int64_t sum = 0, squares = 0;
    for (int64_t c = 0; c < channels; ++c) sum += centred(c);
    for (int64_t c = 0; c < channels; ++c) squares += centred(c) * centred(c);
    const int64_t mean = parameters.center ? sum : 0;         // times the channels
    const int64_t spread = channels * squares - mean * mean;  // the variance times the square of the channels
    require(spread <= kMostEpsilon >> (2 * parameters.fraction), kOp, "the variance of a row leaves 61 bits");
    const InverseRoot root = inverse_root((spread << (2 * parameters.fraction)) + parameters.epsilon);
    // Below zero only where the row has no variance, and no difference either.
    const int down = std::max(0, root.exponent - 1 - parameters.fraction);
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t difference = channels * centred(c) - mean;
      const int64_t normalised = round_shift(difference * root.factor, down);
      const Requantization scale{int32_t(pick(multiplier, c)), int32_t(pick(shift, c))};
      const auto acc = uint64_t(normalised + bias.integer_at(c));
      result.set_integer(row * channels + c, finished(acc, scale, parameters.output));
    }
  }
  return result;
}

}  // namespace tilewright
