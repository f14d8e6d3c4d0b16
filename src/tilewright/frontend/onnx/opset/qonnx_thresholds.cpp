// MultiThreshold as defined by QONNX: the thresholds of a channel are one row, in ascending order; the
// channel axis is 1, or the last one where data_layout says NHWC.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/qonnx_converters.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxThresholds = 255;
constexpr int64_t kMaxComparisons = 15;
constexpr double kSameStep = 1e-5;

// rows x count thresholds; one row, or one per channel.
struct Thresholds {
  std::vector<float> numbers;
  int64_t rows = 0, count = 0;
  float at(int64_t row, int64_t k) const { return numbers[size_t(row * count + k)]; }
};

struct Output {
  float scale = 1, bias = 0;
};

std::optional<Thresholds> thresholds_of(const Node& node, NodeConversion& conversion, int64_t channels) {
  const auto tensor = node.has_input(1) ? conversion.constant_of(node.input(1)) : std::nullopt;
  if (!tensor || tensor->type() != ElementType::kF32 || tensor->shape().rank() != 2) {
    conversion.unsupported("its thresholds are not a constant f32 matrix");
    return {};
  }
  const auto numbers = tensor->data<float>();
  Thresholds result{{numbers.begin(), numbers.end()}, tensor->shape()[0], tensor->shape()[1]};
  if ((result.rows != 1 && result.rows != channels) || result.count < 1) {
    conversion.invalid(
        fmt::format("has thresholds {} for {} channels", to_string(tensor->shape()), channels));
    return {};
  }
  if (result.count > kMaxThresholds) {
    conversion.unsupported(fmt::format("has {} thresholds", result.count), "up to 255 are supported");
    return {};
  }
  for (int64_t row = 0; row < result.rows; ++row) {
    for (int64_t k = 0; k < result.count; ++k) {
      const bool ascends = k == 0 || result.at(row, k) >= result.at(row, k - 1);
      if (ascends && std::isfinite(result.at(row, k))) continue;
      conversion.invalid(fmt::format("its thresholds of channel {} do not ascend", row));
      return {};
    }
  }
  return result;
}

// The common distance of neighbouring thresholds of all channels; nullopt where there is none.
std::optional<double> common_step(const Thresholds& thresholds) {
  if (thresholds.count < 2) return {};
  const double step =
      (double(thresholds.at(0, thresholds.count - 1)) - thresholds.at(0, 0)) / double(thresholds.count - 1);
  if (!(step > 0)) return {};
  for (int64_t row = 0; row < thresholds.rows; ++row) {
    for (int64_t k = 0; k < thresholds.count; ++k) {
      const double wanted = double(thresholds.at(row, 0)) + double(k) * step;
      if (std::fabs(thresholds.at(row, k) - wanted) > kSameStep * step) return {};
    }
  }
  return step;
}

// One number per row, to broadcast along the channel axis of a value of `rank` axes.
ValueId per_channel(NodeConversion& conversion, const char* role, const std::vector<float>& numbers, int rank,
                    int axis) {
  if (numbers.size() == 1) return conversion.constant(role, Tensor::scalar(numbers[0]));
  std::vector<int64_t> dims(size_t(rank), 1);
  dims[size_t(axis)] = int64_t(numbers.size());
  return conversion.constant(role, Tensor(Shape(std::move(dims)), std::span<const float>(numbers)));
}

ValueId less(NodeConversion& conversion, ValueId x, const std::vector<float>& numbers, int rank, int axis) {
  const bool is_zero = std::all_of(numbers.begin(), numbers.end(), [](float n) { return n == 0; });
  return is_zero ? x : conversion.emit("Sub", {x, per_channel(conversion, "offset", numbers, rank, axis)});
}

std::vector<float> column(const Thresholds& thresholds, int64_t k) {
  std::vector<float> numbers;
  for (int64_t row = 0; row < thresholds.rows; ++row) numbers.push_back(thresholds.at(row, k));
  return numbers;
}

// What is subtracted before QuantizeLinear divides by `step`, for each row: the middle below the first
// threshold, or as much less as it takes until every threshold is rounded to its own number, for neither
// thresholds nor the difference are exact.
std::vector<float> offsets_below(const Thresholds& thresholds, double step, float quantizer_step) {
  std::vector<float> offsets;
  for (int64_t row = 0; row < thresholds.rows; ++row) {
    double lowest = thresholds.at(row, 0) - step / 2;
    for (int64_t k = 1; k < thresholds.count; ++k) {
      lowest = std::min(lowest, thresholds.at(row, k) - (double(k) + 0.5) * step);
    }
    auto offset = float(lowest);
    const auto reaches_all = [&] {
      for (int64_t k = 0; k < thresholds.count; ++k) {
        const float steps = (thresholds.at(row, k) - offset) / quantizer_step;
        if (!(std::nearbyint(steps) > float(k))) return false;
      }
      return true;
    };
    while (std::isfinite(offset) && !reaches_all()) {
      offset = std::nextafter(offset, -std::numeric_limits<float>::infinity());
    }
    offsets.push_back(offset);
  }
  return offsets;
}

// Where(x - threshold >= 0, high, low).
std::vector<ValueId> comparison(NodeConversion& conversion, ValueId x, float high, float low) {
  const ValueId reached =
      conversion.emit("GreaterOrEqual", {x, conversion.constant("zero", Tensor::scalar(0.0f))});
  return {reached, conversion.constant("plus", Tensor::scalar(high)),
          conversion.constant("minus", Tensor::scalar(low))};
}

void quantize_equal_steps(Node& node, NodeConversion& conversion, const Thresholds& thresholds, double step,
                          const Output& output, int rank, int axis) {
  constexpr double kShorter = 1 - 0x1p-20;
  const auto quantizer_step = float(step * kShorter);
  const std::vector<float> offsets = offsets_below(thresholds, step, quantizer_step);
  // Stored centred, as all unsigned numbers: count - centre.
  const int64_t centre = (thresholds.count + 1) / 2;
  const auto eight_bits = [&](const char* role, int64_t value) {
    return conversion.constant(role, scalar_of(ElementType::kI8, double(value)));
  };
  const ValueId x = less(conversion, node.inputs[0], offsets, rank, axis);
  const ValueId integers = conversion.emit(
      "QuantizeLinear",
      {x, conversion.constant("step", Tensor::scalar(quantizer_step)), eight_bits("first", -centre)});
  const ValueId clipped = conversion.emit(
      "Clip", {integers, eight_bits("low", -centre), eight_bits("high", thresholds.count - centre)});
  const double zero = -double(centre) - double(output.bias) / double(output.scale);
  const ValueId scale = conversion.constant("scale", Tensor::scalar(output.scale));
  if (zero == std::floor(zero) && zero >= -128 && zero <= 127) {
    node.op = "DequantizeLinear";
    node.inputs = {clipped, scale, eight_bits("zero_point", int64_t(zero))};
  } else {
    const ValueId real =
        conversion.emit("DequantizeLinear", {clipped, scale, eight_bits("zero_point", -centre)});
    node.op = "Add";
    node.inputs = {real, conversion.constant("bias", Tensor::scalar(output.bias))};
  }
}

void sum_comparisons(Node& node, NodeConversion& conversion, const Thresholds& thresholds,
                     const Output& output, int rank, int axis) {
  if (thresholds.count > kMaxComparisons) {
    return conversion.unsupported(
        fmt::format("has {} thresholds that are not equally spaced", thresholds.count),
        "up to 15 are supported");
  }
  std::vector<ValueId> parts;
  for (int64_t k = 0; k < thresholds.count; ++k) {
    const ValueId x = less(conversion, node.inputs[0], column(thresholds, k), rank, axis);
    parts.push_back(conversion.emit("Where", comparison(conversion, x, output.scale, 0)));
  }
  const ValueId sum = conversion.emit("Sum", std::move(parts));
  node.op = "Add";
  node.inputs = {sum, conversion.constant("bias", Tensor::scalar(output.bias))};
}

}  // namespace

void convert_multi_threshold(Node& node, NodeConversion& conversion) {
  const int rank = conversion.shape(node.inputs[0]).rank();
  const std::string layout = node.string_or("data_layout", "");
  const bool channels_last = !layout.empty() && layout != "NC" && layout.back() == 'C';
  const int axis = channels_last ? rank - 1 : 1;
  if (axis < 0 || axis >= rank) return conversion.invalid(fmt::format("reads {} axes", rank));
  const Output output{node.float_or("out_scale", 1), node.float_or("out_bias", 0)};
  const auto thresholds = thresholds_of(node, conversion, conversion.shape(node.inputs[0])[axis]);
  if (!thresholds) return;
  if (!(output.scale > 0) || !std::isfinite(output.scale) || !std::isfinite(output.bias)) {
    return conversion.invalid(fmt::format("scales its counts by {}, from {}", output.scale, output.bias));
  }
  if (thresholds->count == 1) {
    const ValueId x = less(conversion, node.inputs[0], column(*thresholds, 0), rank, axis);
    node.op = "Where";
    node.inputs = comparison(conversion, x, output.scale + output.bias, output.bias);
  } else if (const auto step = common_step(*thresholds)) {
    quantize_equal_steps(node, conversion, *thresholds, *step, output, rank, axis);
  } else {
    sum_comparisons(node, conversion, *thresholds, output, rank, axis);
  }
  node.attributes.clear();
}

}  // namespace tilewright
