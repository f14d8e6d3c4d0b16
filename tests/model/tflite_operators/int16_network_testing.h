// A small network of TFLite's 16-bit activations with 8-bit weights, made from a seed: convolutions,
// depthwise and dense layers with biases of 64 bits, of 32 and without, a sum, a product, a pool, a leaky
// ReLU.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "support/frontend/tflite_builder_testing.h"
#include "tilewright/base/random.h"

namespace tilewright::tflite_testing {

class Int16Network {
 public:
  static constexpr float kInputScale = 0x1p-15F, kOutputScale = 1e-3F;
  static constexpr int kSize = 12, kChannels = 3, kFeatures = 16, kClasses = 10;

  // Real numbers in and out, multiples of the scales above.
  TfliteBuilder build() {
    const int in = model_.input("in", {1, kSize, kSize, kChannels});
    const int x = activation("x", {1, kSize, kSize, kChannels}, kInputScale);
    model_.op(Op::BuiltinOperator_QUANTIZE, {in}, {x});
    const std::vector<int32_t> image{1, kSize / 2, kSize / 2, kFeatures};
    const int a = activation("a", image, 1.7e-4F), b = activation("b", image, 2.1e-4F);
    convolution(x, a, kChannels, 3, 2, ElementType::kI64);
    depthwise(a, b);
    const int c = activation("c", image, 1.3e-4F), d = activation("d", image, 2.6e-4F);
    convolution(b, c, kFeatures, 1, 1, ElementType::kI32);
    schema::AddOptionsT sum;
    sum.pot_scale_int16 = false;
    model_.op(Op::BuiltinOperator_ADD, {a, c}, {d}, sum);
    const int e = activation("e", image, 7e-4F), f = activation("f", image, 6e-4F);
    model_.op(Op::BuiltinOperator_MUL, {d, b}, {e}, schema::MulOptionsT());
    schema::LeakyReluOptionsT leaky;
    leaky.alpha = 0.1F;
    model_.op(Op::BuiltinOperator_LEAKY_RELU, {e}, {f}, leaky);
    const int g = activation("g", {1, 3, 3, kFeatures}, 6e-4F);
    schema::Pool2DOptionsT pool;
    pool.padding = schema::Padding_VALID;
    pool.stride_h = pool.stride_w = pool.filter_height = pool.filter_width = 2;
    model_.op(Op::BuiltinOperator_AVERAGE_POOL_2D, {f}, {g}, pool);
    const int h = activation("h", {1, 40}, 2e-3F), y = activation("y", {1, kClasses}, kOutputScale);
    dense(g, h, 9 * kFeatures, 40, ElementType::kI64);
    dense(h, y, 40, kClasses, ElementType::kF32);
    const int out = model_.output("out", {1, kClasses});
    model_.op(Op::BuiltinOperator_DEQUANTIZE, {y}, {out});
    return std::move(model_);
  }

  static Tensor input(uint64_t seed) {
    Random random(seed);
    Tensor tensor(ElementType::kF32, {1, kSize, kSize, kChannels});
    for (float& number : tensor.mutable_data<float>())
      number = kInputScale * float(random.between(-32768, 32767));
    return tensor;
  }

 private:
  int activation(const std::string& name, const std::vector<int32_t>& shape, float scale) {
    const int index = model_.add(name, ElementType::kI16, shape);
    scales_.resize(size_t(index) + 1);
    scales_[size_t(index)] = scale;
    model_.quantize(index, {scale}, {0});
    return index;
  }

  // 8-bit weights, with a scale for each of the last or first axis' channels, or one.
  int weights(const Shape& shape, int axis, std::vector<float>& scales) {
    Tensor tensor(ElementType::kI8, shape);
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random_.between(-127, 127));
    for (float& scale : scales) scale = std::ldexp(float(random_.between(200, 1000)), -17);
    const int index = model_.constant("w", tensor);
    model_.quantize(index, scales, std::vector<int64_t>(scales.size(), 0), axis);
    return index;
  }

  // kF32: none.
  void add_bias(std::vector<int>& inputs, int x, const std::vector<float>& scales, int64_t channels,
                ElementType type) {
    if (type == ElementType::kF32) return;
    Tensor tensor(type, {channels});
    std::vector<float> products;
    for (const float scale : scales) products.push_back(scale * scales_[size_t(x)]);
    for (int64_t o = 0; o < channels; ++o) tensor.set_integer(o, random_.between(-200000, 200000));
    const int index = model_.constant("b", tensor);
    model_.quantize(index, products, std::vector<int64_t>(products.size(), 0));
    inputs.push_back(index);
  }

  void convolution(int x, int y, int channels, int kernel, int stride, ElementType bias) {
    std::vector<float> scales(kFeatures);
    std::vector<int> inputs{x, weights({kFeatures, kernel, kernel, channels}, 0, scales)};
    add_bias(inputs, x, scales, kFeatures, bias);
    schema::Conv2DOptionsT options;
    options.padding = schema::Padding_SAME;
    options.stride_h = options.stride_w = stride;
    options.fused_activation_function = schema::ActivationFunctionType_RELU;
    model_.op(Op::BuiltinOperator_CONV_2D, inputs, {y}, options);
  }

  void depthwise(int x, int y) {
    std::vector<float> scales(kFeatures);
    std::vector<int> inputs{x, weights({1, 3, 3, kFeatures}, 3, scales)};
    add_bias(inputs, x, scales, kFeatures, ElementType::kI64);
    schema::DepthwiseConv2DOptionsT options;
    options.depth_multiplier = 1;
    options.padding = schema::Padding_SAME;
    options.stride_h = options.stride_w = 1;
    model_.op(Op::BuiltinOperator_DEPTHWISE_CONV_2D, inputs, {y}, options);
  }

  void dense(int x, int y, int depth, int outputs, ElementType bias) {
    std::vector<float> scales(1);
    std::vector<int> inputs{x, weights({outputs, depth}, 0, scales)};
    add_bias(inputs, x, scales, outputs, bias);
    if (inputs.size() == 2) inputs.push_back(-1);
    model_.op(Op::BuiltinOperator_FULLY_CONNECTED, inputs, {y}, schema::FullyConnectedOptionsT());
  }

  TfliteBuilder model_;
  std::vector<float> scales_;
  Random random_{16};
};

}  // namespace tilewright::tflite_testing
