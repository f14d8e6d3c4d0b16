// Products of two activations, and softmax, norms and rotary embedding along the last axis
// (docs/reference/arithmetic.md), row by row on several threads.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tilewright/base/parallel.h"
#include "tilewright/graph/product_places.h"
#include "tilewright/host/integer/integer_finish.h"
#include "tilewright/host/integer/integer_node.h"
#include "tilewright/host/kernel_inputs.h"
#include "tilewright/host/kernel_table.h"
#include "tilewright/tensor/reference_rows.h"
#include "tilewright/tensor/tensor_parts.h"

namespace tilewright {
namespace {

constexpr int64_t kElementsPerThread = 1 << 12;

Tensor output_tensor(const OutputStage& output, const Shape& shape) {
  return Tensor::uninitialized(output.bits == 16 ? ElementType::kI16 : ElementType::kI8, shape);
}

// One output: clipped, and a sign where it is bipolar.
template <typename T>
T finished(int64_t value, const OutputStage& output) {
  const int64_t clipped = clip(value + output.y_zero_point, output.clip_low, output.clip_high);
  return T(output.bipolar ? 2 * clipped - 1 : clipped);
}

template <typename T>
void requantized(const int32_t* acc, int64_t count, Requantization scale, const OutputStage& output, T* to) {
  requantize_lanes(acc, 0, count, scale, output, to);
}

// `tensor` less its zero point, in 17 bits.
std::vector<int32_t> centred_values(const Tensor& tensor, int32_t zero_point) {
  std::vector<int32_t> values(size_t(tensor.size()));
  if (tensor.type() == ElementType::kI8) {
    std::ranges::copy(tensor.data<int8_t>(), values.begin());
  } else {
    std::ranges::copy(tensor.data<int16_t>(), values.begin());
  }
  for (int32_t& value : values) value -= zero_point;
  return values;
}

// The matrices B as [groups][K][N].
std::vector<int32_t> right_matrices(const std::vector<int32_t>& values, const ProductGeometry& g) {
  std::vector<int32_t> result(size_t(g.groups * g.depth * g.columns));
  size_t at = 0;
  for (int64_t group = 0; group < g.groups; ++group) {
    for (int64_t k = 0; k < g.depth; ++k) {
      const int64_t first = group * g.b.head + k * (g.transpose_b ? 1 : g.b.row);
      for (int64_t n = 0; n < g.columns; ++n)
        result[at++] = values[size_t(first + n * (g.transpose_b ? g.b.row : 1))];
    }
  }
  return result;
}

// The place of a token among `count`, which input `input` of a node gives.
int64_t position_of(KernelInputs inputs, int input, int64_t count) {
  const Tensor& given = required_input(inputs, input);
  const int64_t position = given.type() == ElementType::kI64 && given.size() == 1 ? given.integer_at(0) : -1;
  if (position < 0 || position >= count)
    throw Error(ErrorKind::kInvalidInput, fmt::format("position {} is beyond {} tokens", position, count));
  return position;
}

// y of a QMatMul without softmax.
Tensor product_of(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor &a = required_input(inputs, 0), &b = required_input(inputs, 1);
  const OutputStage output = output_stage(node);
  const Requantization scale = single_scale(node);
  const std::optional<ProductGeometry> geometry =
      product_geometry(a.shape(), b.shape(), product_places(node));
  if (!geometry) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} and {} do not fit each other", to_string(a.shape()), to_string(b.shape())));
  }
  const ProductGeometry& g = *geometry;
  const bool sees_all = node.has_input(2) || !node.has_input(3);
  const int64_t position = sees_all ? g.depth : position_of(inputs, 3, g.depth);
  const std::vector<int32_t> left = centred_values(a, element_attribute(node, "a_zero_point", a));
  const std::vector<int32_t> right =
      right_matrices(centred_values(b, element_attribute(node, "b_zero_point", b)), g);
  Tensor y = output_tensor(output, g.result);
  if (y.size() == 0) return y;
  const auto compute = [&](auto* to) {
    const int threads = y.size() * g.depth < kElementsPerThread ? 1 : options.threads;
    parallel_for(threads, g.heads * g.rows, [&](int64_t begin, int64_t end) {
      std::vector<uint32_t> acc(static_cast<size_t>(g.columns));
      for (int64_t row = begin; row < end; ++row) {
        const int64_t h = row / g.rows, m = row % g.rows;
        std::ranges::fill(acc, 0u);
        const int32_t* const x = left.data() + h * g.a.head + m * g.a.row;
        const int32_t* const matrix = right.data() + g.group(h) * g.depth * g.columns;
        const int64_t depth = seen_columns(m, g.rows, position, g.depth);
        for (int64_t k = 0; k < depth; ++k) {
          const auto factor = uint32_t(x[k]);
          const int32_t* const line = matrix + k * g.columns;
          for (int64_t n = 0; n < g.columns; ++n) acc[size_t(n)] += factor * uint32_t(line[n]);
        }
        requantized(reinterpret_cast<const int32_t*>(acc.data()), g.columns, scale, output,
                    to + h * g.y.head + m * g.y.row);
      }
    });
  };
  if (output.bits == 16) {
    compute(y.mutable_data<int16_t>().data());
  } else {
    compute(y.mutable_data<int8_t>().data());
  }
  return y;
}

// body(row, x, y) for every row of the last axis of `x`, by its number and elements; y of the type of the
// result.
template <typename Body>
Tensor by_rows(const Tensor& x, const OutputStage& output, const HostOptions& options, const Body& body) {
  Tensor y = output_tensor(output, x.shape());
  if (x.size() == 0) return y;
  const int64_t length = x.shape()[x.shape().rank() - 1];
  const auto run = [&](const auto* from, auto* to) {
    parallel_for(x.size() < kElementsPerThread ? 1 : options.threads, x.size() / length,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t row = begin; row < end; ++row)
                     body(row, from + row * length, to + row * length);
                 });
  };
  const auto typed = [&](const auto* from) {
    if (output.bits == 16) {
      run(from, y.mutable_data<int16_t>().data());
    } else {
      run(from, y.mutable_data<int8_t>().data());
    }
  };
  if (x.type() == ElementType::kI16) {
    typed(x.data<int16_t>().data());
  } else {
    typed(x.data<int8_t>().data());
  }
  return y;
}

// Which columns each row of a softmax sees; causal 0: all.
struct Sight {
  int64_t causal = 0, position = 0;
};

Tensor softmax_of(const Tensor& x, const Tensor& table, int64_t numerator, int shift,
                  const OutputStage& output, const HostOptions& options, const Sight& sight = {}) {
  const auto powers = table.data<int32_t>();
  const int64_t length = x.shape()[x.shape().rank() - 1];
  const int64_t one = powers.size() == 256 ? powers[0] : 0;
  if (one < 1 || one * length > INT32_MAX || numerator < 1 || numerator > kMostNumerator ||
      numerator / one > INT32_MAX ||
      std::ranges::any_of(powers, [&](int32_t power) { return power < 0 || power > one; })) {
    throw Error(
        ErrorKind::kInvalidInput,
        "the table must have 256 exponentials of which none is above the first, whose sums stay in 32 bits");
  }
  return by_rows(x, output, options, [&](int64_t row, const auto* from, auto* to) {
    using T = std::remove_reference_t<decltype(*to)>;
    const int64_t seen = sight.causal == 0 ? length : seen_columns(row, sight.causal, sight.position, length);
    const auto largest = *std::max_element(from, from + seen);
    int64_t sum = 0;
    for (int64_t n = 0; n < seen; ++n) sum += powers[size_t(largest - from[n])];
    const int64_t inverse = numerator / sum;
    for (int64_t n = 0; n < seen; ++n)
      to[n] = finished<T>(round_shift(powers[size_t(largest - from[n])] * inverse, shift), output);
    std::fill(to + seen, to + length, finished<T>(0, output));
  });
}

Sight sight_of(const Node& node, KernelInputs inputs) {
  const Shape& x = required_input(inputs, 0).shape();
  Sight sight{integer_attribute(node, "causal", 0, 0, INT32_MAX), 0};
  if (sight.causal > 0 && (x.rank() < 2 || x[x.rank() - 2] % sight.causal != 0)) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} has no multiple of {} rows", to_string(x), sight.causal));
  }
  if (!node.has_input(2)) return sight;
  if (sight.causal == 0)
    throw Error(ErrorKind::kInvalidInput, "only a softmax with 'causal' takes a position");
  sight.position = position_of(inputs, 2, x[x.rank() - 1]);
  return sight;
}

std::vector<Tensor> integer_softmax(const Node& node, KernelInputs inputs, const HostOptions& options) {
  return {softmax_of(required_input(inputs, 0), required_input(inputs, 1), node.int_or("numerator", 1),
                     integer_attribute(node, "shift", 0, 0, 62), output_stage(node), options,
                     sight_of(node, inputs))};
}

std::vector<Tensor> multiply_matrices(const Node& node, KernelInputs inputs, const HostOptions& options) {
  Tensor product = product_of(node, inputs, options);
  if (!node.has_input(2)) return {std::move(product)};
  OutputStage output;
  output.y_zero_point = integer_attribute(node, "softmax_zero_point", 0, INT8_MIN, INT8_MAX);
  output.clip_low = integer_attribute(node, "softmax_clip_low", INT8_MIN, INT8_MIN, INT8_MAX);
  output.clip_high = integer_attribute(node, "softmax_clip_high", INT8_MAX, output.clip_low, INT8_MAX);
  const Tensor& table = required_input(inputs, 2);
  const int64_t numerator = node.int_or("softmax_numerator", 1);
  const int shift = integer_attribute(node, "softmax_shift", 0, 0, 62);
  const int64_t columns = product.shape()[product.shape().rank() - 1];
  Sight sight;
  if (node.has_input(3)) {
    const int64_t of_matrix = product.size() / columns / node.int_or("heads", 1);
    sight = {of_matrix, position_of(inputs, 3, columns)};
  }
  return {softmax_of(product, table, numerator, shift, output, options, sight)};
}

std::vector<Tensor> update_cache(const Node&, KernelInputs inputs, const HostOptions&) {
  Tensor cache = required_input(inputs, 0);
  const Tensor& rows = required_input(inputs, 1);
  const int64_t last_place = cache.shape()[0] - rows.shape()[0] + 1;
  set_elements(cache, position_of(inputs, 2, last_place) * cache.shape()[1], rows);
  return {std::move(cache)};
}

std::vector<Tensor> integer_layer_norm(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  const OutputStage output = output_stage(node);
  const auto bias = required_input(inputs, 1).data<int32_t>(),
             multiplier = required_input(inputs, 2).data<int32_t>(),
             shift = required_input(inputs, 3).data<int32_t>();
  const int32_t zero_point = element_attribute(node, "x_zero_point", x);
  const bool center = node.int_or("center", 1) != 0;
  const int fraction = integer_attribute(node, "fraction", 0, 0, 8);
  const int64_t epsilon = node.int_or("epsilon", 1);
  const int64_t channels = x.shape()[x.shape().rank() - 1];
  if (channels > kLongestNorm || epsilon < 1 || epsilon > kMostEpsilon)
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} channels with epsilon {}", channels, epsilon));
  const auto fits = [&](size_t count) { return count == 1 || int64_t(count) == channels; };
  if (int64_t(bias.size()) != channels || !fits(multiplier.size()) || !fits(shift.size()))
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} biases, {} multipliers and {} shifts for {} channels", bias.size(),
                            multiplier.size(), shift.size(), channels));
  const auto pick = [](std::span<const int32_t> scale, int64_t c) {
    return scale[scale.size() == 1 ? 0 : size_t(c)];
  };
  return {by_rows(x, output, options, [&](int64_t, const auto* from, auto* to) {
    using T = std::remove_reference_t<decltype(*to)>;
    int64_t sum = 0, squares = 0;
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t value = from[c] - zero_point;
      sum += value;
      squares += value * value;
    }
    const int64_t mean = center ? sum : 0;  // times the channels
    const int64_t spread = channels * squares - mean * mean;
    if (spread > kMostEpsilon >> (2 * fraction))
      throw Error(ErrorKind::kInvalidInput, "the variance of a row leaves 61 bits");
    const InverseRoot root = inverse_root(uint64_t((spread << (2 * fraction)) + epsilon));
    const int down = std::max(0, root.exponent - 1 - fraction);
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t difference = channels * (from[c] - zero_point) - mean;
      const int64_t acc = round_shift(difference * root.factor, down) + bias[size_t(c)];
      to[c] = finished<T>(scaled(int32_t(uint64_t(acc)), {pick(multiplier, c), pick(shift, c)}), output);
    }
  })};
}

std::vector<Tensor> integer_rotary(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  const Shape &cosine_shape = required_input(inputs, 1).shape(),
              &sine_shape = required_input(inputs, 2).shape();
  const auto g = rotary_geometry(x.shape(), cosine_shape, sine_shape, node.int_or("heads", 1));
  if (!g || x.type() != ElementType::kI8) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{}, {} cosines and {} sines do not fit each other",
                            to_string(x.type(), x.shape()), to_string(cosine_shape), to_string(sine_shape)));
  }
  const auto cosines = required_input(inputs, 1).data<int8_t>(),
             sines = required_input(inputs, 2).data<int8_t>();
  const int32_t zero_point = element_attribute(node, "x_zero_point", x);
  const OutputStage output = output_stage(node);
  const Requantization scale = single_scale(node);
  return {by_rows(x, output, options, [&](int64_t row, const auto* from, auto* to) {
    const int64_t half = g->half, length = 2 * half * g->heads;
    const int8_t *const c = cosines.data() + row % g->tokens * half, *const s = sines.data() +
                                                                                row % g->tokens * half;
    std::vector<int32_t> acc(static_cast<size_t>(length));
    for (int64_t first = 0; first < length; first += 2 * half) {
      for (int64_t i = first, angle = 0; angle < half; ++i, ++angle) {
        const int32_t a = from[i] - zero_point, b = from[i + half] - zero_point;
        acc[size_t(i)] = a * c[angle] - b * s[angle];
        acc[size_t(i + half)] = b * c[angle] + a * s[angle];
      }
    }
    requantized(acc.data(), length, scale, output, to);
  })};
}

constexpr KernelEntry kRowKernels[] = {
    {kTilewrightDomain, "QMatMul", multiply_matrices},     {kTilewrightDomain, "QSoftmax", integer_softmax},
    {kTilewrightDomain, "QLayerNorm", integer_layer_norm}, {kTilewrightDomain, "QCacheUpdate", update_cache},
    {kTilewrightDomain, "QRotary", integer_rotary},
};

}  // namespace

std::span<const KernelEntry> integer_row_kernels() { return kRowKernels; }

}  // namespace tilewright
