// Integer-only arithmetic after Jacob et al. (CVPR 2018): zero points are subtracted from the weights, the
// input's zero point times the sum of the weights goes into the bias, and one multiplier and shift per
// channel restore the scale. Overflow is excluded by the extremes of the sum over all inputs in -128..127.
#include "tilewright/quantize/integerize/mac_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright {
namespace {

// A bias whose scale is the product of the two others, or that times a power of two, up to float rounding, is
// taken as it is.
constexpr double kSameScale = 1e-6;

// Weights minus their zero points. Empty with a problem where a difference leaves 16 bits.
std::vector<int16_t> centred_weights(const QuantizedConstant& weights, const ChannelLayout& layout,
                                     std::string& problem) {
  const Tensor& integers = weights.integers;
  std::vector<int16_t> centred(size_t(integers.size()));
  const auto fill = [&](const auto& read) {
    for (int64_t run = 0; run * layout.inner < integers.size(); ++run) {
      const int64_t zero = weights.zero_point(run % layout.channels_per_group);
      for (int64_t e = run * layout.inner; e < (run + 1) * layout.inner; ++e) {
        const int64_t w = read(e) - zero;
        if (w < INT16_MIN || w > INT16_MAX) {
          problem = "a weight minus its zero point needs more than 16 bits";
          return;
        }
        centred[size_t(e)] = int16_t(w);
      }
    }
  };
  if (integers.type() == ElementType::kI8) {
    const auto data = integers.data<int8_t>();
    fill([&](int64_t e) { return int64_t(data[size_t(e)]); });
  } else if (integers.type() == ElementType::kU8) {
    const auto data = integers.data<uint8_t>();
    fill([&](int64_t e) { return int64_t(data[size_t(e)]); });
  } else {
    fill([&](int64_t e) { return integers.integer_at(e); });
  }
  return centred;
}

// Per output channel.
struct ChannelSums {
  std::vector<int64_t> total;   // sum of w
  std::vector<int64_t> lowest;  // smallest and largest sum of x * w over x in [-128, 127]
  std::vector<int64_t> highest;
};

ChannelSums sum_channels(const std::vector<int16_t>& weights, const ChannelLayout& layout) {
  const size_t channels = size_t(layout.channels());
  ChannelSums sums{std::vector<int64_t>(channels), std::vector<int64_t>(channels),
                   std::vector<int64_t>(channels)};
  const int64_t size = int64_t(weights.size());
  const int64_t group_size = size / layout.groups;
  for (int64_t e = 0; e < size; e += layout.inner) {
    const size_t o =
        size_t(e / group_size * layout.channels_per_group + e / layout.inner % layout.channels_per_group);
    int64_t positive = 0, negative = 0;
    for (int64_t k = 0; k < layout.inner; ++k) {
      const int64_t w = weights[size_t(e + k)];
      (w > 0 ? positive : negative) += w;
    }
    sums.total[o] += positive + negative;
    sums.highest[o] += 127 * positive - 128 * negative;
    sums.lowest[o] += 127 * negative - 128 * positive;
  }
  return sums;
}

Tensor weight_tensor(const std::vector<int16_t>& weights, const Shape& shape) {
  const bool narrow =
      std::all_of(weights.begin(), weights.end(), [](int16_t w) { return w >= INT8_MIN && w <= INT8_MAX; });
  Tensor tensor(narrow ? ElementType::kI8 : ElementType::kI16, shape);
  if (narrow) {
    std::transform(weights.begin(), weights.end(), tensor.mutable_data<int8_t>().begin(),
                   [](int16_t w) { return int8_t(w); });
  } else {
    std::copy(weights.begin(), weights.end(), tensor.mutable_data<int16_t>().begin());
  }
  return tensor;
}

// The bias of one channel in units of the accumulator, not rounded; NaN never passes the caller's range
// check.
double channel_bias(const MacOperands& operands, int64_t o, double accumulator_scale) {
  double bias = 0;
  if (const QuantizedConstant* b = operands.integer_bias) {
    const int64_t index = b->integers.size() == 1 ? 0 : o;
    const double integer = double(b->integers.integer_at(index) - b->zero_point(index));
    const double ratio = b->scale(index) * operands.beta / accumulator_scale;
    const double nearest = std::exp2(std::round(std::log2(ratio)));
    bias += integer * (std::fabs(ratio - nearest) <= kSameScale * nearest ? nearest : ratio);
  }
  if (!operands.real_bias.empty()) {
    bias += operands.real_bias[operands.real_bias.size() == 1 ? 0 : size_t(o)] / accumulator_scale;
  }
  return bias;
}

bool bias_fits(const MacOperands& operands, int64_t channels) {
  const int64_t real = int64_t(operands.real_bias.size());
  if (real > 1 && real != channels) return false;
  const QuantizedConstant* b = operands.integer_bias;
  if (!b) return true;
  if (b->integers.size() != 1 && b->integers.size() != channels) return false;
  return b->per_tensor() || int64_t(b->scales.size()) == b->integers.size();
}

Tensor vector_i32(const std::vector<int32_t>& numbers) {
  const bool single = std::all_of(numbers.begin(), numbers.end(), [&](int32_t n) { return n == numbers[0]; });
  const size_t count = single && !numbers.empty() ? 1 : numbers.size();
  return Tensor(Shape{int64_t(count)}, std::span<const int32_t>(numbers.data(), count));
}

double accumulator_scale_of(const MacOperands& operands, int64_t o) {
  return double(operands.x.scale) * operands.weights->scale(o % operands.layout.channels_per_group) *
         operands.alpha;
}

// The scale of one channel, which counts in units of `unit`, for accumulators of a range.
Requantization requantization_of(const MacOperands& operands, int64_t o, double scale, double unit,
                                 IntegerRange range) {
  if (operands.sign) return {};
  const bool is_plain = unit == 1 && operands.alpha == 1 && range.low >= INT32_MIN && range.high <= INT32_MAX;
  const float w_scale = float(operands.weights->scale(o % operands.layout.channels_per_group));
  const IntegerRange output{operands.clip.low - operands.y.zero_point,
                            operands.clip.high - operands.y.zero_point};
  // TFLite's kernels multiply in floats where the weights have one scale, but for convolutions of i8.
  const bool in_float = operands.rounding == Rounding::kTwice && operands.weights->per_tensor() &&
                        (operands.is_dense || operands.weights->integers.type() == ElementType::kU8);
  if (in_float) scale = double(operands.x.scale * w_scale) / double(operands.y.scale);
  return encode_rounded(is_plain ? operands.rounding : Rounding::kOnce, scale,
                        operands.x.scale * w_scale / operands.y.scale, range, output);
}

// By channel, the power of two that its accumulator counts in: 1, or more where its weights are so small
// beside its bias that 32 bits would not hold the bias. The weights are rounded to it, which moves the result
// by less than 2^-21 of the bias per product.
std::vector<double> coarsen_channels(const MacOperands& operands, std::vector<int16_t>& weights) {
  const ChannelLayout& layout = operands.layout;
  std::vector<double> units(size_t(layout.channels()), 1);
  if (operands.sign) return units;
  bool any = false;
  for (size_t o = 0; o < units.size(); ++o) {
    const double bias =
        std::fabs(channel_bias(operands, int64_t(o), accumulator_scale_of(operands, int64_t(o))));
    if (!(bias >= 0x1p31) || !std::isfinite(bias)) continue;
    units[o] = std::exp2(std::ceil(std::log2(bias)) - 29);
    any = true;
  }
  if (!any) return units;
  const int64_t group_size = int64_t(weights.size()) / layout.groups;
  for (int64_t e = 0; e < int64_t(weights.size()); ++e) {
    const int64_t o =
        e / group_size * layout.channels_per_group + e / layout.inner % layout.channels_per_group;
    weights[size_t(e)] = int16_t(std::nearbyint(double(weights[size_t(e)]) / units[size_t(o)]));
  }
  return units;
}

}  // namespace

void set_result(MacOperands& operands, const IntegerBuilder& builder, const IntegerForm& form) {
  operands.y = form.quantization;
  operands.clip = {form.low, form.high};
  operands.sign = form.bipolar;
  operands.rounding = builder.source().rounding;
}

MacParameters prepare_mac(const MacOperands& operands) {
  MacParameters result;
  const ChannelLayout& layout = operands.layout;
  const QuantizedConstant& weights = *operands.weights;
  std::vector<int16_t> centred = centred_weights(weights, layout, result.problem);
  if (!result.problem.empty()) return result;
  const size_t channels = size_t(layout.channels());
  if (!bias_fits(operands, int64_t(channels))) {
    result.problem = "its bias is not one number per output channel";
    return result;
  }
  const std::vector<double> units = coarsen_channels(operands, centred);
  const ChannelSums sums = sum_channels(centred, layout);
  std::vector<int32_t> bias(channels), multiplier(channels), shift(channels);
  for (size_t o = 0; o < channels; ++o) {
    const double accumulator_scale = accumulator_scale_of(operands, int64_t(o)) * units[o];
    const double scale = accumulator_scale / operands.y.scale;
    if (!std::isfinite(scale) || scale <= 0 || scale >= 0x1p31) {
      result.problem = fmt::format("the scale {} of output channel {} cannot be encoded", scale, o);
      return result;
    }
    const double real_bias = channel_bias(operands, int64_t(o), accumulator_scale);
    // A sum of integers plus a real bias is not negative where the sum plus the bias rounded down is at least
    // 0; the clip to 0..1 wants 1 there.
    const double b = operands.sign ? std::floor(real_bias) + 1 : std::floor(real_bias + 0.5);
    if (!(std::fabs(b) < 0x1p40)) {
      result.problem = fmt::format("the bias of output channel {} is {} accumulator units", o, b);
      return result;
    }
    const int64_t folded = int64_t(b) - operands.x.zero_point * sums.total[o];
    const Requantization r = requantization_of(
        operands, int64_t(o), scale, units[o],
        {folded + std::min<int64_t>(sums.lowest[o], 0), folded + std::max<int64_t>(sums.highest[o], 0)});
    const int64_t rounding =
        r.is_power_of_two() && r.shift > 0 && r.shift < 32 ? int64_t{1} << (r.shift - 1) : 0;
    const int64_t low = folded + std::min<int64_t>(sums.lowest[o], 0);
    const int64_t high = folded + std::max<int64_t>(sums.highest[o], 0) + rounding;
    if (low < INT32_MIN || high > INT32_MAX) {
      result.problem =
          fmt::format("the accumulator of output channel {} can reach {}, which overflows 32 bits", o,
                      high > INT32_MAX ? high : low);
      return result;
    }
    bias[o] = int32_t(folded);
    multiplier[o] = r.multiplier;
    shift[o] = r.shift;
  }
  result.weights = weight_tensor(centred, weights.integers.shape());
  result.bias = Tensor(Shape{int64_t(channels)}, std::span<const int32_t>(bias));
  result.multiplier = vector_i32(multiplier);
  result.shift = vector_i32(shift);
  if (result.multiplier.size() != result.shift.size()) {
    result.multiplier = Tensor(Shape{int64_t(channels)}, std::span<const int32_t>(multiplier));
    result.shift = Tensor(Shape{int64_t(channels)}, std::span<const int32_t>(shift));
  }
  return result;
}

std::optional<StoredProductForm> qlinear_product(IntegerBuilder& builder, const Node& node,
                                                 int channel_axis) {
  const Graph& source = builder.source();
  const Twin* stored = builder.stored_integers(node.input(0));
  if (!stored) return builder.refuse(node, "its input is not an 8-bit activation");
  const auto x = constant_quantization(source, node.input(1), node.input(2));
  const auto y = constant_quantization(source, node.input(6), node.input(7));
  if (!x || !y) return builder.refuse(node, "an activation scale is not a constant number");
  auto weights = constant_operand(source, node.input(3), node.input(4), node.input(5), channel_axis);
  if (!weights) return builder.refuse(node, "its weights are not constant");
  const Value& output = source.value(node.outputs[0]);
  const int shifted = output.type == ElementType::kU8 ? 128 : 0;
  return StoredProductForm{
      {stored, {x->scale, x->zero_point + stored->quantization.zero_point}, std::move(*weights)},
      {{y->scale, y->zero_point - shifted}, -128, 127, output.name}};
}

std::optional<StoredProduct> integer_product(IntegerBuilder& builder, const Node& node,
                                             const std::vector<double>& scales, int channel_axis) {
  const Twin* stored = builder.stored_integers(node.input(0));
  if (!stored) return builder.refuse(node, "its input is not an 8-bit activation");
  auto weights = integer_product_weights(builder.source(), node, scales, channel_axis);
  if (!weights) return builder.refuse(node, "its weights are not constant");
  const auto zero_point = single_zero_point(builder.source(), node.input(2));
  if (!zero_point) return builder.refuse(node, "the zero point of its input is not a constant number");
  return StoredProduct{stored, {1, *zero_point + stored->quantization.zero_point}, std::move(*weights)};
}

}  // namespace tilewright
