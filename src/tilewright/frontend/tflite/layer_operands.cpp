// The operands of layers: real activations beside quantised weights, and biases, which TFLite adds to the
// accumulator as integers, whatever scale the file gives them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/frontend/tflite/tflite_lowering.h"

namespace tilewright {

// Of every image its own scale: round(x / s) * s with s = max |x| / 127.
ValueId TfliteLowering::activation(int x, int w, TensorLayout layout) {
  const ValueId real_x = real(x, layout);
  const bool has_integer_weights = is_quantized(w) && constant(w) != nullptr && is_integer(*tensor(w).type);
  if (is_quantized(x) || !has_integer_weights) return real_x;
  if (!options_.round_dynamic_range) {
    warn("has 8-bit weights and real activations, which TFLite would round on the fly; here they stay real",
         "results differ slightly from TFLite's");
    return real_x;
  }
  if (!quantization(w).per_tensor()) {
    throw Error(ErrorKind::kUnsupported,
                "rounds its activations on the fly although its weights have several scales",
                "read the model with real activations");
  }
  constexpr float kLevels = 127, kSmallest = 1e-30f;
  std::vector<int64_t> axes;
  for (int64_t axis = 1; axis < value_of(real_x).shape.rank(); ++axis) axes.push_back(axis);
  const ValueId magnitude = emit("ReduceMax", {emit("Abs", {real_x})}, {{"axes", axes}});
  const ValueId range = emit("Max", {magnitude, constant_value("smallest", Tensor::scalar(kSmallest))});
  const ValueId scale = emit("Div", {range, constant_value("levels", Tensor::scalar(kLevels))});
  return emit("Mul", {emit("Round", {emit("Div", {real_x, scale})}), scale});
}

ValueId TfliteLowering::bias(int input, int x, int w, int64_t channels) {
  if (!has_input(input)) return kNoValue;
  const TfliteTensor& source = tensor(input);
  const Tensor* numbers = constant(input);
  if (shape(input).element_count() != channels) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} is not a bias of {} numbers: it is {}",
                                                      where(source), channels, to_string(shape(input))));
  }
  if (is_float(*source.type)) return reshape(real(input, TensorLayout::kFile), Shape{channels});
  if (numbers == nullptr || !is_quantized(x) || !is_quantized(w)) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("has {} as integer bias without quantised input and weights", where(source)));
  }
  const CheckedQuantization activation = quantization(x), weights = quantization(w);
  std::vector<float> scales;
  const int64_t count = weights.per_tensor() ? 1 : channels;
  if (int64_t(weights.scales.size()) != count) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} has {} scales for {} output channels",
                                                      where(tensor(w)), weights.scales.size(), channels));
  }
  for (int64_t o = 0; o < count; ++o) scales.push_back(activation.scale(0) * weights.scale(o));
  if (source.quantization) check_bias_quantization(source, scales);
  const CheckedQuantization product{scales, std::vector<int64_t>(scales.size(), 0), 0};
  return dequantized(constant_value("bias", numbers->reshaped(Shape{channels})), product, 0);
}

void TfliteLowering::check_bias_quantization(const TfliteTensor& bias, const std::vector<float>& scales) {
  constexpr double kTolerance = 0.02;
  const TfliteQuantization& given = *bias.quantization;
  const bool has_axis = given.scales.size() == 1 || (given.axis >= 0 && given.axis < bias.shape.rank());
  if (!has_axis) {
    diagnostics_.warn(
        where(bias), op_->op,
        fmt::format("has {} scales along axis {}, but only {} axes; they are taken along axis 0",
                    given.scales.size(), given.axis, bias.shape.rank()),
        "set quantized_dimension to 0");
  }
  const size_t count = std::max(given.scales.size(), scales.size());
  bool differs = given.scales.size() != scales.size() && given.scales.size() != 1 && scales.size() != 1;
  for (size_t o = 0; o < count && !differs; ++o) {
    const double wanted = scales[scales.size() == 1 ? 0 : o];
    const double found = given.scales[given.scales.size() == 1 ? 0 : o];
    differs = !(std::fabs(found - wanted) <= kTolerance * wanted);
  }
  if (differs) {
    diagnostics_.warn(where(bias), op_->op,
                      "has a scale other than input times weights; its integers are added unchanged",
                      "quantise the model again if results look wrong");
  }
}

}  // namespace tilewright
