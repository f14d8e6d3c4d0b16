// Integer-only arithmetic after Jacob et al. (CVPR 2018): zero points are subtracted from the weights, the
// input's zero point times the sum of the weights goes into the bias, and one multiplier and shift per
// channel restore the scale. Overflow is excluded by the extremes of the sum over all inputs of their type.
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
  std::vector<int64_t> lowest;  // smallest and largest sum of x * w over all x of their type
  std::vector<int64_t> highest;
};

ChannelSums sum_channels(const std::vector<int16_t>& weights, const ChannelLayout& layout, ElementType x) {
  const int64_t x_low = lowest(x), x_high = highest(x);
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
    sums.highest[o] += x_high * positive + x_low * negative;
    sums.lowest[o] += x_high * negative + x_low * positive;
  }
  return sums;
}

// Whether the sums of the 8-bit planes that 16-bit activations are made of fit 32 bits: what the host needs
// to put 64-bit sums together.
bool planes_fit(const std::vector<int16_t>& weights, int64_t channels) {
  int64_t magnitude = 0;
  for (const int16_t w : weights) magnitude = std::max<int64_t>(magnitude, std::abs(int32_t{w}));
  return int64_t(weights.size()) / channels * magnitude * 255 <= INT32_MAX;
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

// The scale of one channel of 16-bit activations. TFLite keeps 15 bits of the multiplier beside 64-bit
// biases, whatever the size of its sums; without, it rounds as for 8 bits. Elsewhere a multiplier has so many
// bits that its products with the sums stay below 2^62.
Requantization wide_requantization(const MacOperands& operands, int64_t o, double scale, IntegerRange range) {
  if (operands.rounding != Rounding::kOnce) {
    const float w_scale = float(operands.weights->scale(o % operands.layout.channels_per_group));
    const bool in_float = operands.weights->per_tensor() && operands.is_dense && operands.alpha == 1;
    if (in_float) scale = double(operands.x.scale * w_scale) / double(operands.y.scale);
    const QuantizedConstant* const bias = operands.integer_bias;
    const bool wide_bias = bias != nullptr && bias->integers.type() == ElementType::kI64;
    return wide_bias ? encode_scale_reduced(scale) : encode_scale(scale);
  }
  Requantization r = encode_scale(scale);
  const double largest = double(std::max(-range.low, range.high));
  while (r.shift > 0 && r.multiplier > 1 && largest * r.multiplier >= 0x1p62) {
    r.multiplier = int32_t((int64_t{r.multiplier} + 1) / 2);
    --r.shift;
  }
  return r;
}

// The scale of one channel, which counts in units of `unit`, for accumulators of a range.
Requantization requantization_of(const MacOperands& operands, int64_t o, double scale, double unit,
                                 IntegerRange range) {
  if (operands.sign) return {};
  if (operands.x_type == ElementType::kI16) return wide_requantization(operands, o, scale, range);
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
  operands.rounding = builder.rounding_of(operands.x_type == ElementType::kI16 ? operands.x_type : form.type);
}

namespace {

// What one output channel needs.
struct ChannelNumbers {
  int64_t bias = 0;
  Requantization scale;
  IntegerRange sums;  // of the accumulator, with bias and rounding constant
};

// The numbers of channel `o`, whose products of inputs and weights add up to `products`, or the problem.
ChannelNumbers channel_numbers(const MacOperands& operands, int64_t o, double unit, int64_t weight_sum,
                               IntegerRange products, std::string& problem) {
  const double accumulator_scale = accumulator_scale_of(operands, o) * unit;
  const double scale = accumulator_scale / operands.y.scale;
  if (!std::isfinite(scale) || scale <= 0 || scale >= 0x1p31) {
    problem = fmt::format("the scale {} of output channel {} cannot be encoded", scale, o);
    return {};
  }
  const double real_bias = channel_bias(operands, o, accumulator_scale);
  // A sum of integers plus a real bias is not negative where the sum plus the bias rounded down is at least
  // 0; the clip to 0..1 wants 1 there.
  const double b = operands.sign ? std::floor(real_bias) + 1 : std::floor(real_bias + 0.5);
  if (!(std::fabs(b) < 0x1p40)) {
    problem = fmt::format("the bias of output channel {} is {} accumulator units", o, b);
    return {};
  }
  ChannelNumbers numbers;
  numbers.bias = int64_t(b) - operands.x.zero_point * weight_sum;
  const int64_t low = numbers.bias + std::min<int64_t>(products.low, 0);
  const int64_t high = numbers.bias + std::max<int64_t>(products.high, 0);
  const Requantization r = numbers.scale = requantization_of(operands, o, scale, unit, {low, high});
  const int64_t rounding =
      r.is_power_of_two() && r.shift > 0 && r.shift < 32 ? int64_t{1} << (r.shift - 1) : 0;
  numbers.sums = {low, high + rounding};
  return numbers;
}

// Why 64-bit accumulators of such sums are not exact; empty where they are.
std::string wide_problem(const ChannelNumbers& numbers, int64_t o, bool has_exact_planes) {
  if (!has_exact_planes) return "its sums of 16-bit activations have too many products";
  const double largest = double(std::max(-numbers.sums.low, numbers.sums.high));
  if (largest * numbers.scale.multiplier < 0x1p62 && numbers.scale.shift < kTwice) return {};
  return fmt::format("the accumulator of output channel {} can reach {}, too much for its multiplier", o,
                     largest);
}

Tensor bias_tensor(const std::vector<int64_t>& bias, bool wide) {
  Tensor tensor(wide ? ElementType::kI64 : ElementType::kI32, Shape{int64_t(bias.size())});
  for (size_t o = 0; o < bias.size(); ++o) tensor.set_integer(int64_t(o), bias[o]);
  return tensor;
}

}  // namespace

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
  const bool may_be_wide = operands.x_type == ElementType::kI16;
  const std::vector<double> units =
      may_be_wide ? std::vector<double>(channels, 1) : coarsen_channels(operands, centred);
  const ChannelSums sums = sum_channels(centred, layout, operands.x_type);
  std::vector<ChannelNumbers> numbers;
  bool wide = false;
  for (size_t o = 0; o < channels; ++o) {
    numbers.push_back(channel_numbers(operands, int64_t(o), units[o], sums.total[o],
                                      {sums.lowest[o], sums.highest[o]}, result.problem));
    if (!result.problem.empty()) return result;
    const IntegerRange& range = numbers[o].sums;
    if (range.low >= INT32_MIN && range.high <= INT32_MAX) continue;
    wide = true;
    if (may_be_wide) continue;
    result.problem = fmt::format("the accumulator of output channel {} can reach {}, which overflows 32 bits",
                                 o, range.high > INT32_MAX ? range.high : range.low);
    return result;
  }
  std::vector<int64_t> bias(channels);
  std::vector<int32_t> multiplier(channels), shift(channels);
  const bool has_exact_planes = !wide || planes_fit(centred, int64_t(channels));
  for (size_t o = 0; o < channels; ++o) {
    if (wide) result.problem = wide_problem(numbers[o], int64_t(o), has_exact_planes);
    if (!result.problem.empty()) return result;
    bias[o] = numbers[o].bias;
    multiplier[o] = numbers[o].scale.multiplier;
    shift[o] = numbers[o].scale.shift;
  }
  result.weights = weight_tensor(centred, weights.integers.shape());
  result.bias = bias_tensor(bias, wide);
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
      full_form(ElementType::kI8, {y->scale, y->zero_point - shifted}, output.name)};
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
