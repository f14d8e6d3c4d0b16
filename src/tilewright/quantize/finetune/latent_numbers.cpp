// A step is a part of the mean magnitude of what moves, so one rate fits layers of any scale.
#include "tilewright/quantize/finetune/latent_numbers.h"

#include <algorithm>
#include <cmath>

#include "tilewright/quantize/finetune/rounding.h"

namespace tilewright {
namespace {

constexpr float kOff = 0.4f;
constexpr double kScaleShare = 0.3;  // of the rate, for logarithms of scales

double root_mean_square(const Numbers& numbers) {
  double sum = 0;
  for (const float x : numbers) sum += double(x) * double(x);
  return std::sqrt(sum / double(std::max<size_t>(1, numbers.size())));
}

RoundingBounds bounds_of(const RoundedLayer& layer) { return {-float(layer.highest), float(layer.highest)}; }

}  // namespace

LatentNumbers::LatentNumbers(const Graph& graph, const RoundedNetwork& network) : network_(network) {
  for (const RoundedLayer& given : network.layers) {
    Layer layer;
    const Tensor& exact = *graph.constant_input(graph.nodes[size_t(given.node)], 1);
    layer.inner = exact.shape().count(given.axis + 1, exact.shape().rank());
    layer.scales.numbers.assign(given.scales.size(), 0.0f);
    layer.scales.unit = kScaleShare;
    layer.bias.numbers.assign(given.bias.begin(), given.bias.end());
    const auto weights = exact.data<float>();
    const auto integers = given.integers.data<int8_t>();
    for (size_t i = 0; i < weights.size(); ++i) {
      const auto scale = float(given.scales[channel_of(layer, i)]);
      // Nearer to the integer than the exact weight: from the border the first steps would move many at once,
      // those first whose integer is not the nearest.
      const float off = std::clamp(weights[i] / scale - float(integers[i]), -0.5f, 0.5f);
      layer.weights.numbers.push_back(scale > 0 ? scale * (float(integers[i]) + kOff * off) : 0);
    }
    layer.weights.unit = root_mean_square(layer.weights.numbers);
    layer.bias.unit = std::max(root_mean_square(layer.bias.numbers), layer.weights.unit);
    layers_.push_back(std::move(layer));
  }
  groups_.assign(network.groups.size(), {{0.0f}, {}, {}, kScaleShare});
  used_.resize(2 * layers_.size() + groups_.size());
  for (size_t i = 0; i < layers_.size(); ++i) round_layer(i);
  for (size_t g = 0; g < groups_.size(); ++g)
    used_[2 * layers_.size() + g] = {network.groups[g].quantization.scale};
}

float LatentNumbers::scale_of(size_t layer, size_t channel) const {
  return float(network_.layers[layer].scales[channel]) * std::exp(layers_[layer].scales.numbers[channel]);
}

void LatentNumbers::round_layer(size_t index) {
  const Layer& layer = layers_[index];
  Numbers& used = used_[2 * index];
  used.assign(layer.weights.numbers.size(), 0.0f);
  const RoundingBounds bounds = bounds_of(network_.layers[index]);
  for (size_t i = 0; i < used.size(); i += size_t(layer.inner)) {
    const float scale = scale_of(index, channel_of(layer, i));
    if (scale > 0)
      round_numbers(layer.weights.numbers.data() + i, scale, bounds, layer.inner, used.data() + i);
  }
  used_[2 * index + 1] = layer.bias.numbers;
}

void LatentNumbers::step(Part& part, const Numbers& gradient, double rate) const {
  constexpr double kMean = 0.9, kSquare = 0.999, kLeast = 1e-12;
  part.mean.resize(part.numbers.size());
  part.square.resize(part.numbers.size());
  const double mean_share = 1 - std::pow(kMean, double(steps_));
  const double square_share = 1 - std::pow(kSquare, double(steps_));
  const double factor = rate * part.unit / mean_share;
  for (size_t i = 0; i < part.numbers.size(); ++i) {
    const double g = double(gradient[i]);
    part.mean[i] = float(kMean * double(part.mean[i]) + (1 - kMean) * g);
    part.square[i] = float(kSquare * double(part.square[i]) + (1 - kSquare) * g * g);
    part.numbers[i] -=
        float(factor * double(part.mean[i]) / (std::sqrt(double(part.square[i]) / square_share) + kLeast));
  }
}

void LatentNumbers::move(const std::vector<Numbers>& gradients, double rate) {
  ++steps_;
  for (size_t index = 0; index < layers_.size(); ++index) {
    Layer& layer = layers_[index];
    const RoundingBounds bounds = bounds_of(network_.layers[index]);
    const Numbers& given = gradients[2 * index];
    Numbers by_weights(given.size(), 0.0f), by_scales(layer.scales.numbers.size(), 0.0f);
    for (size_t i = 0; i < given.size(); i += size_t(layer.inner)) {
      const size_t channel = channel_of(layer, i);
      const float scale = scale_of(index, channel);
      if (!(scale > 0)) continue;
      by_scales[channel] += scale * round_backwards(layer.weights.numbers.data() + i, scale, bounds,
                                                    layer.inner, given.data() + i, by_weights.data() + i);
    }
    step(layer.weights, by_weights, rate);
    step(layer.scales, by_scales, rate);
    step(layer.bias, gradients[2 * index + 1], rate);
    round_layer(index);
  }
  for (size_t g = 0; g < groups_.size(); ++g) {
    Numbers& used = used_[2 * layers_.size() + g];
    step(groups_[g], {used[0] * gradients[2 * layers_.size() + g][0]}, rate);
    used = {network_.groups[g].quantization.scale * std::exp(groups_[g].numbers[0])};
  }
}

RoundedNetwork LatentNumbers::rounded() const {
  RoundedNetwork result = network_;
  for (size_t index = 0; index < layers_.size(); ++index) {
    const Layer& layer = layers_[index];
    RoundedLayer& given = result.layers[index];
    for (size_t c = 0; c < given.scales.size(); ++c) given.scales[c] = double(scale_of(index, c));
    const auto integers = given.integers.mutable_data<int8_t>();
    for (size_t i = 0; i < integers.size(); ++i) {
      const float scale = scale_of(index, channel_of(layer, i));
      integers[i] = scale > 0 ? int8_t(std::lround(used_[2 * index][i] / scale)) : int8_t{0};
    }
    given.bias.assign(layer.bias.numbers.begin(), layer.bias.numbers.end());
  }
  for (size_t g = 0; g < groups_.size(); ++g)
    result.groups[g].quantization.scale = used_[2 * layers_.size() + g][0];
  return result;
}

}  // namespace tilewright
