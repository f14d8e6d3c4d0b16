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

std::optional<ProductGeometry> product_geometry(const Shape& a, const Shape& b, const ProductParameters& p) {
  const int rank = a.rank();
  if (rank < 2 || b.rank() != rank || p.heads < 1 || p.groups < 0) return {};
  ProductGeometry g;
  g.transpose_b = p.transpose_b;
  g.heads = p.heads;
  g.groups = p.groups == 0 ? p.heads : p.groups;
  if (g.heads % g.groups != 0) return {};
  std::vector<int64_t> dims(a.begin(), a.end());
  // Rows and columns of one matrix of those that stand in the last two axes of `shape`.
  const auto divided = [&](const Shape& shape, int64_t count, bool columns, int64_t& r, int64_t& c) {
    r = shape[rank - 2];
    c = shape[rank - 1];
    int64_t& divided_axis = columns ? c : r;
    const bool fits = divided_axis % count == 0;
    divided_axis /= count;
    return fits;
  };
  if (rank > 2) {
    if (p.heads != 1 || p.groups > 1 || p.a_columns || p.b_columns || p.y_columns) return {};
    if (!std::equal(a.begin(), a.end() - 2, b.begin())) return {};
    g.heads = g.groups = a.count(0, rank - 2);
  }
  int64_t b_rows = 0, b_columns = 0;
  if (!divided(a, p.heads, p.a_columns, g.rows, g.depth) ||
      !divided(b, p.groups == 0 ? p.heads : p.groups, p.b_columns, b_rows, b_columns) ||
      (p.transpose_b ? b_columns : b_rows) != g.depth) {
    return {};
  }
  g.columns = p.transpose_b ? b_rows : b_columns;
  const auto place = [](bool columns, int64_t count, int64_t r, int64_t c) {
    return columns ? ProductGeometry::Place{c, count * c} : ProductGeometry::Place{r * c, c};
  };
  g.a = place(p.a_columns, g.heads, g.rows, g.depth);
  g.b = place(p.b_columns, g.groups, b_rows, b_columns);
  g.y = place(p.y_columns, g.heads, g.rows, g.columns);
  dims[size_t(rank - 2)] = p.y_columns || rank > 2 ? g.rows : g.heads * g.rows;
  dims[size_t(rank - 1)] = p.y_columns ? g.heads * g.columns : g.columns;
  g.result = Shape(dims);
  return g;
}

Tensor reference_product(const Tensor& a, const Tensor& b, const ProductParameters& parameters) {
  constexpr std::string_view kOp = "QMatMul";
  require_factors(a, b, parameters, kOp);
  const std::optional<ProductGeometry> geometry = product_geometry(a.shape(), b.shape(), parameters);
  require(geometry.has_value(), kOp,
          fmt::format("A {} and B {} do not fit each other", to_string(a.shape()), to_string(b.shape())));
  const ProductGeometry& g = *geometry;
  Tensor result(type_of(parameters.output), g.result);
  for (int64_t h = 0; h < g.heads; ++h) {
    for (int64_t m = 0; m < g.rows; ++m) {
      for (int64_t n = 0; n < g.columns; ++n) {
        uint64_t sum = 0;
        for (int64_t k = 0; k < g.depth; ++k) {
          const int64_t in_b = g.transpose_b ? n * g.b.row + k : k * g.b.row + n;
          const int64_t x = a.integer_at(h * g.a.head + m * g.a.row + k) - parameters.a_zero_point;
          const int64_t y = b.integer_at(g.group(h) * g.b.head + in_b) - parameters.b_zero_point;
          sum += uint64_t(x * y);
        }
        result.set_integer(h * g.y.head + m * g.y.row + n,
                           finished(sum, {parameters.multiplier, parameters.shift}, parameters.output));
      }
    }
  }
  return result;
}

Tensor reference_softmax(const Tensor& x, const Tensor& table, const SoftmaxParameters& parameters,
                         int64_t position) {
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
  const int64_t causal = parameters.causal;
  require(causal >= 0, kOp, "causal must not be negative");
  require(causal == 0 || (x.shape().rank() >= 2 && x.shape()[x.shape().rank() - 2] % causal == 0), kOp,
          fmt::format("{} has no multiple of {} rows", to_string(x.shape()), causal));
  require(0 <= position && position < length, kOp,
          fmt::format("position {} is outside rows of {} columns", position, length));
  Tensor result(type_of(parameters.output), x.shape());
  for (int64_t row = 0; row < rows_of(x.shape()); ++row) {
    const int64_t seen = causal == 0 ? length : seen_columns(row, causal, position, length);
    int64_t largest = lowest(ElementType::kI8), sum = 0;
    for (int64_t n = 0; n < seen; ++n) largest = std::max(largest, x.integer_at(row * length + n));
    const auto power = [&](int64_t n) { return table.integer_at(largest - x.integer_at(row * length + n)); };
    for (int64_t n = 0; n < seen; ++n) sum += power(n);
    const int64_t inverse = parameters.numerator / sum;
    for (int64_t n = 0; n < length; ++n) {
      const int64_t value = n < seen ? round_shift(power(n) * inverse, parameters.shift) : 0;
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
    const InverseRoot root =
        inverse_root(uint64_t((spread << (2 * parameters.fraction)) + parameters.epsilon));
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

std::optional<RotaryGeometry> rotary_geometry(const Shape& x, const Shape& cosines, const Shape& sines,
                                              int64_t heads) {
  const int rank = x.rank();
  if (rank < 2 || heads < 1 || (rank > 2 && heads != 1) || cosines.rank() != 2 || sines != cosines) return {};
  const RotaryGeometry g{cosines[0], heads, cosines[1]};
  if (g.tokens < 1 || g.half < 1 || x[rank - 2] != g.tokens || x[rank - 1] % heads != 0 ||
      x[rank - 1] / heads != 2 * g.half)
    return {};
  return g;
}

Tensor reference_rotary(const Tensor& x, const Tensor& cosines, const Tensor& sines,
                        const RotaryParameters& parameters) {
  constexpr std::string_view kOp = "QRotary";
  for (const Tensor* tensor : {&x, &cosines, &sines})
    require(tensor->type() == ElementType::kI8, kOp, "X, the cosines and the sines must be i8");
  const auto g = rotary_geometry(x.shape(), cosines.shape(), sines.shape(), parameters.heads);
  require(g.has_value(), kOp,
          fmt::format("X {}, {} cosines and {} sines do not fit each other", to_string(x.shape()),
                      to_string(cosines.shape()), to_string(sines.shape())));
  require_element(parameters.x_zero_point, x, kOp, "x_zero_point");
  require_scale(parameters.multiplier, parameters.shift, kOp);
  require_output(parameters.output, kOp);
  Tensor result(type_of(parameters.output), x.shape());
  const auto store = [&](int64_t at, int64_t acc) {
    result.set_integer(at,
                       finished(uint64_t(acc), {parameters.multiplier, parameters.shift}, parameters.output));
  };
  for (int64_t row = 0; row < rows_of(x.shape()); ++row) {
    for (int64_t h = 0; h < g->heads; ++h) {
      for (int64_t i = 0; i < g->half; ++i) {
        const int64_t first = (row * g->heads + h) * 2 * g->half + i, second = first + g->half;
        const int64_t a = x.integer_at(first) - parameters.x_zero_point,
                      b = x.integer_at(second) - parameters.x_zero_point;
        const int64_t angle = row % g->tokens * g->half + i;
        const int64_t c = cosines.integer_at(angle), s = sines.integer_at(angle);
        store(first, a * c - b * s);
        store(second, b * c + a * s);
      }
    }
  }
  return result;
}

}  // namespace tilewright
