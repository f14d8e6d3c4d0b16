// Checks the limits that the kernels rely on: multipliers of at least 1, valid shifts, zero points below
// 2^30 in magnitude, one bias per output channel, and scales per channel or one for all.
#include "tilewright/host/integer/integer_node.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/graph/operator_class.h"
#include "tilewright/host/kernel_inputs.h"

namespace tilewright {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorKind::kInvalidInput, message); }

std::span<const int32_t> channel_values(const Tensor& tensor, const char* what, int64_t channels,
                                        bool may_be_shared) {
  if (tensor.type() != ElementType::kI32 || tensor.shape().rank() != 1 ||
      (tensor.size() != channels && !(may_be_shared && tensor.size() == 1))) {
    fail(fmt::format("{} must be i32[{}]{}, is {}", what, channels, may_be_shared ? " or i32[1]" : "",
                     to_string(tensor.type(), tensor.shape())));
  }
  return tensor.data<int32_t>();
}

}  // namespace

int32_t integer_attribute(const Node& node, const char* name, int32_t fallback, int64_t low, int64_t high) {
  const int64_t value = node.int_or(name, fallback);
  if (value < low || value > high) {
    fail(fmt::format("attribute '{}' is {}, allowed are {}..{}", name, value, low, high));
  }
  return int32_t(value);
}

Requantization single_scale(const Node& node, const char* multiplier, const char* shift) {
  const Requantization scale{integer_attribute(node, multiplier, 1, 1, INT32_MAX),
                             integer_attribute(node, shift, 0, 0, kTwice + 62)};
  if (!is_shift(scale.shift)) {
    fail(fmt::format("attribute '{}' is {}, allowed are 0..62 and, to round twice, 96..126", shift,
                     scale.shift));
  }
  return scale;
}

int32_t element_attribute(const Node& node, const char* name, const Tensor& tensor) {
  return integer_attribute(node, name, 0, lowest(tensor.type()), highest(tensor.type()));
}

OutputStage output_stage(const Node& node) {
  constexpr int64_t kLimit = (1 << 30) - 1;
  OutputStage output;
  output.y_zero_point = integer_attribute(node, "y_zero_point", 0, -kLimit, kLimit);
  const ElementType type = output_type(node);
  const auto low = int32_t(lowest(type)), high = int32_t(highest(type));
  output.bits = bit_width(type);
  output.clip_low = integer_attribute(node, "clip_low", low, low, high);
  output.clip_high = integer_attribute(node, "clip_high", high, output.clip_low, high);
  output.bipolar = integer_attribute(node, "bipolar", 0, 0, 1) != 0;
  if (output.bipolar && (output.clip_low != 0 || output.clip_high != 1)) {
    fail("a bipolar output has the clip range 0..1");
  }
  return output;
}

IntegerConvShape conv_shape(const Window& window, const Shape& x, int64_t output_channels, int64_t group) {
  if (window.rank() > 2) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("integer convolutions have one or two spatial axes, this one has {}", window.rank()));
  }
  IntegerConvShape shape{x[0], x[1], output_channels, group, {}, window.axes.back()};
  if (window.is_2d()) shape.height = window.height();
  return shape;
}

int64_t checked_group(const Node& node, const Shape& x, const Shape& weights) {
  const int64_t group = node.int_or("group", 1);
  if (weights.rank() < 2 || x.rank() < 2 || group < 1 || weights[0] < 1 || weights[0] % group != 0 ||
      weights[1] < 1 || x[1] % weights[1] != 0 || x[1] / weights[1] != group) {
    fail(fmt::format("{} groups do not fit X {} and weights {}", group, to_string(x), to_string(weights)));
  }
  return group;
}

int64_t checked_transposed_group(const Node& node, const Shape& x, const Shape& weights) {
  const int64_t group = node.int_or("group", 1);
  if (weights.rank() < 2 || x.rank() < 2 || group < 1 || weights[1] < 1 || weights[0] < 1 ||
      weights[0] % group != 0 || weights[0] != x[1]) {
    fail(fmt::format("{} groups do not fit X {} and weights {}", group, to_string(x), to_string(weights)));
  }
  return group;
}

ChannelScales::ChannelScales(const Tensor& bias, const Tensor& multiplier, const Tensor& shift,
                             int64_t channels)
    : multiplier_(channel_values(multiplier, "the multiplier", channels, true)),
      shift_(channel_values(shift, "the shift", channels, true)) {
  const bool wide = bias.type() == ElementType::kI64;
  if (wide && bias.shape() == Shape{channels}) {
    wide_bias_ = bias.data<int64_t>();
  } else {
    bias_ = channel_values(bias, "the bias", channels, false);
  }
  if (std::any_of(multiplier_.begin(), multiplier_.end(), [](int32_t m) { return m < 1; })) {
    fail("multipliers must be at least 1");
  }
  if (std::any_of(shift_.begin(), shift_.end(), [](int32_t s) { return !is_shift(s); })) {
    fail("shifts must be in 0..62 or, to round twice, 96..126");
  }
  if (wide && std::any_of(shift_.begin(), shift_.end(), [](int32_t s) { return s >= kTwice; })) {
    fail("a 64-bit accumulator is rounded once: shifts must be in 0..62");
  }
}

std::vector<int16_t> weight_values(const Tensor& tensor) {
  const auto widened = [&](auto tag) {
    const auto data = tensor.data<decltype(tag)>();
    return std::vector<int16_t>(data.begin(), data.end());
  };
  switch (tensor.type()) {
    case ElementType::kI8:
      return widened(int8_t{});
    case ElementType::kU8:
      return widened(uint8_t{});
    case ElementType::kI16:
      return widened(int16_t{});
    default:
      throw_unsupported_type(tensor.type());
  }
}

}  // namespace tilewright
