// Dense, shuffled, grouped, dilated and one-dimensional networks, with several inputs or outputs.
#include "zoo/network_builder.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {
namespace {

constexpr double kGain = 5;

int64_t image_of(const NetworkSize& size, int64_t usual) { return size.image == 0 ? usual : size.image; }

ValueId classify(NetworkBuilder& net, ValueId x, int64_t classes) {
  return net.dense(net.flatten(net.global_average(x)), classes);
}

// Normalisation and rectifier before the convolution.
ValueId pre_activated(NetworkBuilder& net, ValueId x, int64_t outputs, const Window& window) {
  return net.conv(net.relu(net.batch_norm(x)), outputs, window);
}

ValueId fire(NetworkBuilder& net, ValueId x, int64_t narrow) {
  const ValueId squeezed = net.conv_relu(x, narrow, {.kernel = 1});
  return net.concat(
      {net.conv_relu(squeezed, 4 * narrow, {.kernel = 1}), net.conv_relu(squeezed, 4 * narrow, {.pad = 1})});
}

ValueId inception(NetworkBuilder& net, ValueId x, int64_t unit) {
  return net.concat({net.conv_relu(x, 2 * unit, {.kernel = 1}),
                     net.conv_relu(net.conv_relu(x, unit, {.kernel = 1}), 2 * unit, {.pad = 1}),
                     net.conv_relu(net.conv_relu(x, unit / 2, {.kernel = 1}), unit, {.kernel = 5, .pad = 2}),
                     net.conv_relu(net.average_pool(x, {.pad = 1}), unit, {.kernel = 1})});
}

// Half of the maps by a pointwise layer, the other half from those by a depthwise one.
ValueId ghost(NetworkBuilder& net, ValueId x, int64_t outputs) {
  const ValueId half = net.conv_bn_relu(x, outputs / 2, {.kernel = 1});
  return net.concat({half, net.conv_bn_relu(half, outputs / 2, {.pad = 1, .groups = outputs / 2})});
}

ValueId shuffled(NetworkBuilder& net, ValueId x) {
  const std::vector<ValueId> halves = net.split(x, 2);
  const int64_t channels = net.channels(halves[1]);
  ValueId y = net.conv_bn_relu(halves[1], channels, {.kernel = 1});
  y = net.conv_bn(y, channels, {.pad = 1, .groups = channels});
  y = net.conv_bn_relu(y, channels, {.kernel = 1});
  return net.shuffle_channels(net.concat({halves[0], y}), 2);
}

ValueId causal(NetworkBuilder& net, ValueId x, int64_t channels, int64_t dilation) {
  const ValueId y = net.conv_relu(x, channels, {.kernel = 3, .pad = dilation, .dilation = dilation});
  return net.relu(net.add(x, net.conv(y, channels, {.kernel = 3, .pad = dilation, .dilation = dilation})));
}

}  // namespace

Graph densenet(const NetworkSize& size) {
  NetworkBuilder net("densenet");
  const int64_t image = image_of(size, 64), growth = 12 / size.divide;
  ValueId x = net.conv(net.input("image", {1, 3, image, image}), 2 * growth, {.stride = 2, .pad = 1});
  for (int block = 0; block < 2; ++block) {
    for (int layer = 0; layer < 4; ++layer) {
      const ValueId narrow = pre_activated(net, x, 4 * growth, {.kernel = 1});
      x = net.concat({x, pre_activated(net, narrow, growth, {.pad = 1})});
    }
    x = net.average_pool(pre_activated(net, x, net.channels(x) / 2, {.kernel = 1}),
                         {.kernel = 2, .stride = 2});
  }
  return net.finish(classify(net, net.relu(net.batch_norm(x)), 20), kGain);
}

Graph shufflenet_v2(const NetworkSize& size) {
  NetworkBuilder net("shufflenet_v2");
  const int64_t image = image_of(size, 64), unit = 32 / size.divide;
  ValueId x = net.conv_bn_relu(net.input("image", {1, 3, image, image}), unit, {.stride = 2, .pad = 1});
  for (int stage = 0; stage < 2; ++stage) {
    const int64_t channels = net.channels(x);
    const auto down = [&](ValueId v) {
      return net.conv_bn(v, net.channels(v), {.stride = 2, .pad = 1, .groups = net.channels(v)});
    };
    const ValueId left = net.conv_bn_relu(down(x), channels, {.kernel = 1});
    const ValueId right =
        net.conv_bn_relu(down(net.conv_bn_relu(x, channels, {.kernel = 1})), channels, {.kernel = 1});
    x = shuffled(net, net.shuffle_channels(net.concat({left, right}), 2));
  }
  return net.finish(classify(net, x, 50), kGain);
}

Graph shufflenet_v1(const NetworkSize& size) {
  NetworkBuilder net("shufflenet_v1");
  const int64_t image = image_of(size, 64), unit = 48 / size.divide;
  ValueId x = net.conv_bn_relu(net.input("image", {1, 3, image, image}), unit, {.stride = 2, .pad = 1});
  for (int block = 0; block < 3; ++block) {
    ValueId y = net.shuffle_channels(net.conv_bn_relu(x, unit, {.kernel = 1, .groups = 3}), 3);
    y = net.conv_bn(y, unit, {.pad = 1, .groups = unit});
    x = net.relu(net.add(x, net.conv_bn(y, unit, {.kernel = 1, .groups = 3})));
  }
  return net.finish(classify(net, x, 50), kGain);
}

Graph espcn(const NetworkSize& size) {
  NetworkBuilder net("espcn");
  const int64_t image = image_of(size, 64), unit = 32 / size.divide;
  ValueId x = net.tanh(net.conv(net.input("image", {1, 1, image, image}), 2 * unit, {.kernel = 5, .pad = 2}));
  x = net.tanh(net.conv(x, unit, {.pad = 1}));
  return net.finish(net.depth_to_space(net.conv(x, 9, {.pad = 1}), 3), kGain);
}

Graph tracker(const NetworkSize& size) {
  NetworkBuilder net("tracker");
  const int64_t image = image_of(size, 64), unit = 16 / size.divide;
  const auto tower = [&](ValueId x) {
    x = net.conv_bn_relu(x, unit, {.stride = 2, .pad = 1});
    return net.conv_bn_relu(x, 2 * unit, {.stride = 2, .pad = 1});
  };
  const ValueId target = tower(net.input("target", {1, 3, image / 2, image / 2}));
  const ValueId search = tower(net.input("search", {1, 3, image, image}));
  const ValueId matched = net.multiply(search, net.global_average(target));
  const ValueId x = net.conv_bn_relu(net.concat({matched, search}), 2 * unit, {.pad = 1});
  return net.finish({net.sigmoid(net.conv(x, 1, {.kernel = 1})), net.conv(x, 4, {.kernel = 1})}, kGain);
}

Graph autoencoder_1d(const NetworkSize& size) {
  NetworkBuilder net("autoencoder_1d");
  const int64_t length = image_of(size, 256), unit = 16 / size.divide;
  ValueId x = net.input("signal", {1, 2, length});
  x = net.leaky_relu(net.conv(x, unit, {.kernel = 7, .stride = 2, .pad = 3}), 0.1f);
  x = net.leaky_relu(net.conv(x, 2 * unit, {.kernel = 5, .stride = 2, .pad = 2}), 0.1f);
  x = net.leaky_relu(net.transposed(x, unit, {.kernel = 4, .stride = 2, .pad = 1}), 0.1f);
  return net.finish(net.transposed(x, 2, {.kernel = 4, .stride = 2, .pad = 1}), kGain);
}

Graph temporal_network(const NetworkSize& size) {
  NetworkBuilder net("temporal_network");
  const int64_t length = image_of(size, 128), unit = 32 / size.divide;
  ValueId x = net.conv_relu(net.input("signal", {1, 4, length}), unit, {.kernel = 1});
  for (const int64_t dilation : {1, 2, 4, 8}) x = causal(net, x, unit, dilation);
  return net.finish(classify(net, x, 12), kGain);
}

Graph lstm_spotter(const NetworkSize& size) {
  NetworkBuilder net("lstm_spotter");
  const int64_t length = image_of(size, 40), unit = 64 / size.divide;
  ValueId x = net.input("features", {1, 10, length});
  x = net.conv_relu(x, unit, {.kernel = 5, .stride = 2, .pad = 2});
  return net.finish(net.dense(net.lstm(x, unit), 12), kGain);
}

Graph dilated_segmenter(const NetworkSize& size) {
  NetworkBuilder net("dilated_segmenter");
  const int64_t image = image_of(size, 64), unit = 16 / size.divide;
  ValueId x = net.conv_bn_relu(net.input("image", {1, 3, image, image}), unit, {.stride = 2, .pad = 1});
  x = net.conv_bn_relu(x, 2 * unit, {.stride = 2, .pad = 1});
  for (const int64_t d : {2, 4}) {
    x = net.relu(net.add(x, net.conv_bn(x, 2 * unit, {.pad = d, .dilation = d})));
  }
  std::vector<ValueId> parts{net.conv_bn_relu(x, unit, {.kernel = 1})};
  for (const int64_t d : {1, 2, 3}) parts.push_back(net.conv_bn_relu(x, unit, {.pad = d, .dilation = d}));
  const ValueId pooled = net.conv_relu(net.global_average(x), unit, {.kernel = 1});
  parts.push_back(net.upsample(pooled, image / 4));
  x = net.conv_bn_relu(net.concat(parts), 2 * unit, {.kernel = 1});
  return net.finish(net.upsample(net.conv(x, 5, {.kernel = 1}), 4), kGain);
}

Graph squeezenet_fire(const NetworkSize& size) {
  NetworkBuilder net("squeezenet_fire");
  const int64_t image = image_of(size, 64), unit = 8 / size.divide;
  ValueId x = net.conv_relu(net.input("image", {1, 3, image, image}), 4 * unit, {.stride = 2, .pad = 1});
  for (const int64_t factor : {1, 2})
    x = net.max_pool(fire(net, fire(net, x, factor * unit), factor * unit), {.kernel = 2, .stride = 2});
  return net.finish(net.flatten(net.global_average(net.conv_relu(x, 30, {.kernel = 1}))), kGain);
}

Graph inception_small(const NetworkSize& size) {
  NetworkBuilder net("inception_small");
  const int64_t image = image_of(size, 64), unit = 16 / size.divide;
  ValueId x =
      net.conv_relu(net.input("image", {1, 3, image, image}), unit, {.kernel = 7, .stride = 2, .pad = 3});
  x = inception(net, net.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1}), unit);
  return net.finish(classify(net, inception(net, x, unit), 40), kGain);
}

Graph ghostnet(const NetworkSize& size) {
  NetworkBuilder net("ghostnet");
  const int64_t image = image_of(size, 64), unit = 16 / size.divide;
  ValueId x = net.conv_bn_relu(net.input("image", {1, 3, image, image}), unit, {.stride = 2, .pad = 1});
  for (int block = 0; block < 2; ++block) {
    ValueId y = ghost(net, x, 4 * unit);
    const ValueId gate =
        net.conv(net.relu(net.conv(net.global_average(y), unit, {.kernel = 1})), 4 * unit, {.kernel = 1});
    y = net.multiply(y, net.hard_sigmoid(gate));
    x = net.add(x, net.conv_bn(y, unit, {.kernel = 1}));
  }
  return net.finish(classify(net, x, 30), kGain);
}

Graph resnext(const NetworkSize& size) {
  NetworkBuilder net("resnext");
  const int64_t image = image_of(size, 64), unit = 64 / size.divide;
  ValueId x = net.conv_bn_relu(net.input("image", {1, 3, image, image}), unit, {.stride = 2, .pad = 1});
  for (int block = 0; block < 2; ++block) {
    ValueId y = net.conv_bn_relu(x, unit, {.kernel = 1});
    y = net.conv_bn_relu(y, unit, {.pad = 1, .groups = 4});
    x = net.relu(net.add(x, net.conv_bn(y, unit, {.kernel = 1})));
  }
  return net.finish(classify(net, x, 30), kGain);
}

Graph feature_pyramid(const NetworkSize& size) {
  NetworkBuilder net("feature_pyramid");
  const int64_t image = image_of(size, 96), unit = 16 / size.divide;
  ValueId x = net.conv_bn_relu(net.input("image", {1, 3, image, image}), unit, {.stride = 2, .pad = 1});
  std::vector<ValueId> levels;
  for (const int64_t factor : {2, 4, 8}) {
    x = net.conv_bn_relu(x, factor * unit, {.stride = 2, .pad = 1});
    levels.push_back(net.conv(x, 2 * unit, {.kernel = 1}));
  }
  std::vector<ValueId> outputs;
  for (size_t level = levels.size(); level-- > 0;) {
    x = level + 1 == levels.size() ? levels[level] : net.add(levels[level], net.upsample(x, 2));
    outputs.push_back(net.conv(net.conv_relu(x, 2 * unit, {.pad = 1}), 6, {.kernel = 1}));
  }
  return net.finish(outputs, kGain);
}

Graph convmixer(const NetworkSize& size) {
  NetworkBuilder net("convmixer");
  const int64_t image = image_of(size, 56), unit = 64 / size.divide;
  ValueId x = net.conv(net.input("image", {1, 3, image, image}), unit, {.kernel = 7, .stride = 7});
  x = net.batch_norm(net.gelu(x));
  for (int block = 0; block < 3; ++block) {
    const ValueId mixed =
        net.batch_norm(net.gelu(net.conv(x, unit, {.kernel = 5, .pad = 2, .groups = unit})));
    x = net.batch_norm(net.gelu(net.conv(net.add(x, mixed), unit, {.kernel = 1})));
  }
  return net.finish(classify(net, x, 30), kGain);
}

Graph prelu_landmarks(const NetworkSize& size) {
  NetworkBuilder net("prelu_landmarks");
  const int64_t image = image_of(size, 48), unit = 32 / size.divide;
  ValueId x = net.input("image", {1, 3, image, image});
  for (const int64_t factor : {1, 2, 2}) {
    x = net.channel_prelu(net.conv(x, factor * unit, {.kernel = 3}));
    x = net.max_pool(x, {.kernel = 2, .stride = 2});
  }
  return net.finish(net.dense(net.flatten(x), 10), kGain);
}

}  // namespace tilewright::zoo
