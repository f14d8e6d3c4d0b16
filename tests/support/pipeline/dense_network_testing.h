// Random chains of dense layers in integers.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

inline Requantization random_scale(Random& random, double typical) {
  const double scale = typical * (0.3 + 2 * random.uniform());
  switch (random.between(0, 2)) {
    case 0:
      return encode_scale(std::exp2(std::round(std::log2(scale))));
    case 1:
      return encode_scale(scale);
    default:
      return encode_scale_twice(scale);
  }
}

// One input of a few elements, dense layers of up to `most` channels.
inline Network random_dense_network(Random& random, int most) {
  Network network;
  const auto tensor = [&](const TensorShape& shape) {
    const bool bipolar = random.chance(0.15);
    const int bits = bipolar ? 1 : 1 << random.between(1, 3);
    network.tensors.push_back({fmt::format("t{}", network.tensors.size()), shape, bits, bipolar});
  };
  tensor({random.between(1, 3), random.between(1, 3), random.between(1, most)});
  const int layers = int(random.between(1, 3));
  for (int i = 0; i < layers; ++i) {
    tensor({1, 1, random.between(1, most)});
    const NetworkTensor& in = network.tensors[size_t(i)];
    const NetworkTensor& out = network.tensors[size_t(i) + 1];
    Layer& layer = network.layers.emplace_back();
    layer.name = fmt::format("dense{}", i);
    layer.input = i, layer.output = i + 1;
    layer.window.rows = in.shape.rows, layer.window.columns = in.shape.columns;
    layer.weight_bits = int(random.between(1, 8));
    const int64_t half = int64_t{1} << (layer.weight_bits - 1);
    for (int64_t w = 0; w < in.shape.elements() * out.shape.channels; ++w) {
      layer.weights.push_back(random.chance(0.3) ? 0 : int32_t(random.between(-half, half - 1)));
    }
    LayerFinish& finish = layer.finish;
    const int64_t levels = int64_t{1} << out.bits;
    finish.bipolar = out.bipolar;
    const bool relu = random.chance(0.5);
    finish.clip_low = out.bipolar || relu ? 0 : int32_t(-levels / 2);
    finish.clip_high = out.bipolar ? 1 : int32_t(levels / 2 - 1);
    if (random.chance(0.2)) finish.clip_high = int32_t(random.between(finish.clip_low, finish.clip_high));
    if (random.chance(0.2)) finish.clip_low = int32_t(random.between(finish.clip_low, finish.clip_high));
    finish.zero_point = random.chance(0.5) ? 0 : int32_t(random.between(-3, 3));
    const double sums = std::sqrt(double(in.shape.elements())) * double(half) * double(1 << in.bits) / 4;
    for (int64_t channel = 0; channel < out.shape.channels; ++channel) {
      finish.bias.push_back(int32_t(random.between(-int64_t(sums) - 1, int64_t(sums) + 1)));
      finish.scale.push_back(random_scale(random, double(levels) / (4 * sums + 1)));
    }
  }
  network.output = layers;
  return network;
}

inline std::vector<int32_t> random_input(const NetworkTensor& tensor, Random& random) {
  const int64_t half = int64_t{1} << (tensor.bits - 1);
  const int64_t kind = random.between(0, 4);
  std::vector<int32_t> values;
  for (int64_t i = 0; i < tensor.shape.elements(); ++i) {
    int64_t value = random.between(-half, half - 1);
    if (kind == 0) value = -half;
    if (kind == 1) value = half - 1;
    if (tensor.bipolar) value = value < 0 ? -1 : 1;
    values.push_back(int32_t(value));
  }
  return values;
}

}  // namespace tilewright::pipeline
