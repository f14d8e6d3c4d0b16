// Definitions first, speed last: one loop per index, sums in uint64_t because the accumulator wraps modulo
// 2^64 and signed overflow is undefined.
#include "tilewright/tensor/reference_fixed.h"

#include <fmt/format.h>

#include "tilewright/tensor/index4.h"

namespace tilewright {
namespace {

void require_fixed(bool condition, const char* op, const std::string& message) {
  if (!condition) throw Error(ErrorKind::kInvalidInput, fmt::format("{}: {}", op, message));
}

void require_fixed_tensor(const Tensor& tensor, ElementType type, int rank, const char* op,
                          const char* what) {
  require_fixed(tensor.type() == type && (rank < 0 || tensor.shape().rank() == rank), op,
                fmt::format("{} must be {}{}, is {}", what, name(type),
                            rank < 0 ? "" : fmt::format(" of rank {}", rank),
                            to_string(tensor.type(), tensor.shape())));
}

void require_fraction(int fraction, const char* op) {
  require_fixed(0 <= fraction && fraction <= kMostFraction, op,
                fmt::format("fraction {} is outside 0..{}", fraction, kMostFraction));
}

// Before sizes are computed with it.
void require_fixed_window(const WindowParameters& window, const char* op) {
  for (size_t axis = 0; axis < 2; ++axis) {
    require_fixed(window.strides[axis] >= 1 && window.dilations[axis] >= 1, op,
                  "strides and dilations must be at least 1");
    require_fixed(window.pads[axis] >= 0 && window.pads[axis + 2] >= 0, op, "pads must not be negative");
  }
}

void require_fit(const Shape& out_shape, const char* op) {
  require_fixed(out_shape[2] > 0 && out_shape[3] > 0, op, "the window does not fit into the padded input");
}

// The element of X under tap (ky, kx) of output (oy, ox), or 0 in the padding.
int32_t tap(const Tensor& x, const WindowParameters& w, int64_t n, int64_t c, int64_t oy, int64_t ox,
            int64_t ky, int64_t kx) {
  const Shape& shape = x.shape();
  const int64_t iy = oy * w.strides[0] + ky * w.dilations[0] - w.pads[0];
  const int64_t ix = ox * w.strides[1] + kx * w.dilations[1] - w.pads[1];
  if (iy < 0 || ix < 0 || iy >= shape[2] || ix >= shape[3]) return 0;
  return x.data<int32_t>()[size_t(offset(shape, n, c, iy, ix))];
}

}  // namespace

Tensor reference_fixed_conv(const Tensor& x, const Tensor& weights, const Tensor& bias,
                            const FixedConvParameters& p) {
  constexpr const char* kOp = "FixedConv";
  require_fixed_tensor(x, ElementType::kI32, 4, kOp, "X");
  require_fixed_tensor(weights, ElementType::kI32, 4, kOp, "W");
  require_fixed_tensor(bias, ElementType::kI32, 1, kOp, "B");
  require_fraction(p.fraction, kOp);
  const Shape &in = x.shape(), &w = weights.shape();
  require_fixed(
      p.group >= 1 && w[0] % p.group == 0 && in[1] == w[1] * p.group, kOp,
      fmt::format("{} groups do not divide X {} and weights {}", p.group, to_string(in), to_string(w)));
  require_fixed(bias.size() == w[0], kOp, fmt::format("{} biases for {} channels", bias.size(), w[0]));
  require_fixed_window(p.window, kOp);
  const Shape out_shape{in[0], w[0], window_output_size(p.window, 0, in[2], w[2]),
                        window_output_size(p.window, 1, in[3], w[3])};
  require_fit(out_shape, kOp);
  Tensor y(ElementType::kI32, out_shape);
  const auto out = y.mutable_data<int32_t>();
  for_each_index(out_shape, [&](int64_t n, int64_t o, int64_t oy, int64_t ox) {
    const int64_t first_channel = o / (w[0] / p.group) * w[1];
    uint64_t sum = fixed_bias(bias.data<int32_t>()[size_t(o)], p.fraction);
    for_each_index({1, w[1], w[2], w[3]}, [&](int64_t, int64_t c, int64_t ky, int64_t kx) {
      sum += fixed_product(tap(x, p.window, n, first_channel + c, oy, ox, ky, kx),
                           weights.data<int32_t>()[size_t(offset(w, o, c, ky, kx))]);
    });
    out[size_t(offset(out_shape, n, o, oy, ox))] = fixed_finish(sum, p.fraction, p.clip);
  });
  return y;
}

Tensor reference_fixed_gemm(const Tensor& x, const Tensor& weights, const Tensor& bias, int fraction,
                            FixedClip clip) {
  constexpr const char* kOp = "FixedGemm";
  require_fixed_tensor(x, ElementType::kI32, 2, kOp, "X");
  require_fixed_tensor(weights, ElementType::kI32, 2, kOp, "W");
  require_fixed_tensor(bias, ElementType::kI32, 1, kOp, "B");
  require_fraction(fraction, kOp);
  const int64_t rows = x.shape()[0], depth = x.shape()[1], columns = weights.shape()[0];
  require_fixed(weights.shape()[1] == depth, kOp,
                fmt::format("{} times {} (transposed): the inner sizes differ", to_string(x.shape()),
                            to_string(weights.shape())));
  require_fixed(bias.size() == columns, kOp, fmt::format("{} biases for {} outputs", bias.size(), columns));
  Tensor y(ElementType::kI32, {rows, columns});
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t o = 0; o < columns; ++o) {
      uint64_t sum = fixed_bias(bias.data<int32_t>()[size_t(o)], fraction);
      for (int64_t k = 0; k < depth; ++k) {
        sum += fixed_product(x.data<int32_t>()[size_t(n * depth + k)],
                             weights.data<int32_t>()[size_t(o * depth + k)]);
      }
      y.mutable_data<int32_t>()[size_t(n * columns + o)] = fixed_finish(sum, fraction, clip);
    }
  }
  return y;
}

Tensor reference_fixed_add(const Tensor& a, const Tensor& b, FixedClip clip) {
  constexpr const char* kOp = "FixedAdd";
  require_fixed_tensor(a, ElementType::kI32, -1, kOp, "A");
  require_fixed_tensor(b, ElementType::kI32, -1, kOp, "B");
  require_fixed(a.shape() == b.shape(), kOp,
                fmt::format("shapes {} and {} differ", to_string(a.shape()), to_string(b.shape())));
  Tensor y(ElementType::kI32, a.shape());
  for (int64_t i = 0; i < y.size(); ++i) {
    y.set_integer(i, fixed_add(int32_t(a.integer_at(i)), int32_t(b.integer_at(i)), clip));
  }
  return y;
}

Tensor reference_fixed_average_pool(const Tensor& x, const FixedAveragePoolParameters& p) {
  constexpr const char* kOp = "FixedAveragePool";
  require_fixed_tensor(x, ElementType::kI32, 4, kOp, "X");
  require_fraction(p.fraction, kOp);
  require_fixed(p.kernel[0] >= 1 && p.kernel[1] >= 1, kOp,
                "the window must have at least one tap along each axis");
  const Shape& in = x.shape();
  require_fixed_window(p.window, kOp);
  const Shape out_shape{in[0], in[1], window_output_size(p.window, 0, in[2], p.kernel[0]),
                        window_output_size(p.window, 1, in[3], p.kernel[1])};
  require_fit(out_shape, kOp);
  Tensor y(ElementType::kI32, out_shape);
  for_each_index(out_shape, [&](int64_t n, int64_t c, int64_t oy, int64_t ox) {
    uint64_t sum = 0;
    for (int64_t ky = 0; ky < p.kernel[0]; ++ky) {
      for (int64_t kx = 0; kx < p.kernel[1]; ++kx) {
        sum += uint64_t(int64_t(tap(x, p.window, n, c, oy, ox, ky, kx)));
      }
    }
    const uint64_t scaled = sum * uint64_t(int64_t(p.multiplier));
    y.set_integer(offset(out_shape, n, c, oy, ox), fixed_finish(scaled, p.fraction, p.clip));
  });
  return y;
}

Tensor reference_fixed_lookup(const Tensor& x, const Tensor& table, int input_shift) {
  constexpr const char* kOp = "FixedLookup";
  require_fixed_tensor(x, ElementType::kI32, -1, kOp, "X");
  require_fixed_tensor(table, ElementType::kI32, 1, kOp, "T");
  require_fixed(table.size() == kFixedTableSize, kOp, fmt::format("T has {} entries, not 513", table.size()));
  require_fixed(0 <= input_shift && input_shift <= kMostInputShift, kOp,
                fmt::format("input_shift {} is outside 0..{}", input_shift, kMostInputShift));
  Tensor y(ElementType::kI32, x.shape());
  for (int64_t i = 0; i < y.size(); ++i) {
    y.set_integer(i, fixed_lookup(int32_t(x.integer_at(i)), table.data<int32_t>(), input_shift));
  }
  return y;
}

Tensor reference_fixed_encode(const Tensor& x, int fraction) {
  require_fixed_tensor(x, ElementType::kF32, -1, "FixedEncode", "X");
  require_fraction(fraction, "FixedEncode");
  Tensor y(ElementType::kI32, x.shape());
  for (int64_t i = 0; i < y.size(); ++i) y.set_integer(i, fixed_encode(x.number_at(i), fraction));
  return y;
}

Tensor reference_fixed_decode(const Tensor& x, int fraction) {
  require_fixed_tensor(x, ElementType::kI32, -1, "FixedDecode", "X");
  require_fraction(fraction, "FixedDecode");
  Tensor y(ElementType::kF32, x.shape());
  for (int64_t i = 0; i < y.size(); ++i) {
    y.set_number(i, double(fixed_decode(int32_t(x.integer_at(i)), fraction)));
  }
  return y;
}

Tensor reference_lookup(const Tensor& x, const Tensor& table) {
  constexpr const char* kOp = "QLookup";
  require_fixed_tensor(x, ElementType::kI8, -1, kOp, "X");
  require_fixed_tensor(table, ElementType::kI8, 1, kOp, "T");
  require_fixed(table.size() == 256, kOp, fmt::format("T has {} entries, not 256", table.size()));
  Tensor y(ElementType::kI8, x.shape());
  for (int64_t i = 0; i < y.size(); ++i) y.set_integer(i, table.integer_at(x.integer_at(i) + 128));
  return y;
}

}  // namespace tilewright
