// Networks made by hand for tests: layers one after another, and random ones of legal shapes.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// Appends layers to a network; every method returns the tensor it writes. Weights are random in their bits,
// or left out (shapes alone) where `with_weights` is false.
class NetworkBuilder {
 public:
  NetworkBuilder(std::string name, TensorShape input, uint64_t seed = 1, bool with_weights = true)
      : random_(seed), with_weights_(with_weights) {
    network_.name = std::move(name);
    network_.tensors.push_back({"input", input, 8, false});
  }

  int convolution(int input, int64_t channels, int64_t kernel, int64_t stride = 1) {
    return add(LayerKind::kConvolution, input, channels, kernel, stride, (kernel - 1) / 2);
  }
  int depthwise(int input, int64_t kernel, int64_t stride = 1) {
    return add(LayerKind::kDepthwise, input, channels_of(input), kernel, stride, (kernel - 1) / 2);
  }
  int max_pool(int input, int64_t kernel, int64_t stride, int64_t pad = 0) {
    return add(LayerKind::kMaxPool, input, channels_of(input), kernel, stride, pad);
  }
  // Of the whole map.
  int average(int input) { return whole(LayerKind::kAveragePool, input, channels_of(input)); }
  int dense(int input, int64_t channels) { return whole(LayerKind::kConvolution, input, channels); }
  // The layer that wrote `tensor` adds `other` to its result.
  int residual(int tensor, int other) {
    for (Layer& layer : network_.layers) {
      if (layer.output == tensor) layer.add = FusedAdd{other, 1 << 20, 1 << 20, 0, 20, 0, -128, 127};
    }
    return tensor;
  }
  Network finish(int output) {
    network_.output = output;
    return std::move(network_);
  }
  const TensorShape& shape(int tensor) const { return network_.tensors[size_t(tensor)].shape; }

 private:
  int64_t channels_of(int tensor) const { return shape(tensor).channels; }

  int whole(LayerKind kind, int input, int64_t channels) {
    const TensorShape in = shape(input);
    Layer& layer = append(kind, input, {1, 1, channels});
    layer.window = {in.rows, in.columns};
    return fill(layer, in);
  }
  int add(LayerKind kind, int input, int64_t channels, int64_t kernel, int64_t stride, int64_t pad) {
    const TensorShape in = shape(input);
    const int64_t end = kind == LayerKind::kMaxPool ? pad : kernel - 1 - pad;
    const auto size = [&](int64_t n) { return (n + pad + end - kernel) / stride + 1; };
    Layer& layer = append(kind, input, {size(in.rows), size(in.columns), channels});
    layer.window = {kernel, kernel, stride, stride, pad, pad, kind == LayerKind::kMaxPool ? -128 : 0};
    return fill(layer, in);
  }
  Layer& append(LayerKind kind, int input, TensorShape output) {
    Layer& layer = network_.layers.emplace_back();
    layer.name = "layer" + std::to_string(network_.layers.size());
    layer.kind = kind;
    layer.input = input;
    layer.output = int(network_.tensors.size());
    network_.tensors.push_back({layer.name + "_out", output, 8, false});
    return layer;
  }
  int fill(Layer& layer, const TensorShape& in) {
    const TensorShape& out = shape(layer.output);
    const int64_t taps = layer.window.rows * layer.window.columns;
    const bool full = layer.kind == LayerKind::kConvolution;
    layer.macs = out.elements() * taps * (full ? in.channels : 1);
    layer.finish.clip_low = -128;
    layer.finish.clip_high = 127;
    layer.finish.bias.assign(size_t(out.channels), 0);
    layer.finish.scale.assign(size_t(out.channels), Requantization{1 << 30, 38});
    if (full || layer.kind == LayerKind::kDepthwise) {
      if (with_weights_) layer.weights.resize(size_t(out.channels * taps * (full ? in.channels : 1)));
      for (int32_t& weight : layer.weights) weight = int32_t(random_.between(-127, 127));
      for (int32_t& bias : layer.finish.bias) bias = random_.between(-1000, 1000);
    }
    return layer.output;
  }

  Network network_;
  Random random_;
  bool with_weights_;
};

// A few layers: convolutions, depthwise ones, pools, residual additions, perhaps an average and a dense
// layer.
inline Network random_network(uint64_t seed, bool with_weights = true) {
  Random random(seed);
  const int64_t side = random.between(5, 14);
  NetworkBuilder builder("random" + std::to_string(seed), {side, side, random.between(1, 4)}, seed,
                         with_weights);
  const auto channels = [&] { return int64_t{4} << random.between(0, 2); };
  int tensor = builder.convolution(0, channels(), 3, random.between(1, 2));
  for (int64_t left = random.between(1, 4); left > 0; --left) {
    const int64_t smallest = builder.shape(tensor).rows;
    const int64_t choice = random.between(0, 3);
    if (choice == 0 && smallest >= 4) {
      tensor = builder.max_pool(tensor, 2, 2);
    } else if (choice == 1) {
      tensor = builder.depthwise(tensor, 3, smallest >= 4 ? random.between(1, 2) : 1);
    } else if (choice == 2) {
      const int branch = tensor;
      const int64_t width = builder.shape(branch).channels;
      tensor = builder.convolution(builder.convolution(branch, channels(), 3), width, 3);
      tensor = builder.residual(tensor, branch);
    } else {
      tensor = builder.convolution(tensor, channels(), random.chance(0.5) ? 1 : 3);
    }
  }
  if (random.chance(0.5)) tensor = builder.dense(builder.average(tensor), random.between(2, 12));
  return builder.finish(tensor);
}

// ResNet-50 (He et al. 2015; strides in the 3x3 convolutions): its shapes for 224 x 224 images.
inline Network resnet50_shapes() {
  NetworkBuilder builder("resnet50", {224, 224, 3}, 1, false);
  int tensor = builder.max_pool(builder.convolution(0, 64, 7, 2), 3, 2, 1);
  const int64_t blocks[] = {3, 4, 6, 3};
  for (int64_t stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{64} << stage;
    for (int64_t block = 0; block < blocks[stage]; ++block) {
      const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      const int branch = block == 0 ? builder.convolution(tensor, 4 * width, 1, stride) : tensor;
      int body = builder.convolution(tensor, width, 1);
      body = builder.convolution(body, width, 3, stride);
      body = builder.convolution(body, 4 * width, 1);
      tensor = builder.residual(body, branch);
    }
  }
  return builder.finish(builder.dense(builder.average(tensor), 1000));
}

// Random bytes in the order of the input tensor.
inline std::vector<std::vector<int32_t>> random_images(const Network& network, int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<int32_t>> images(
      size_t(count), std::vector<int32_t>(size_t(network.tensors[size_t(network.input)].shape.elements())));
  for (auto& image : images) {
    for (int32_t& value : image) value = int32_t(random.between(-128, 127));
  }
  return images;
}

}  // namespace tilewright::pipeline
