// Topologies of today's networks at the sizes of small devices: detectors, segmenters, gates, dense and
// shuffled connections, one-dimensional networks.
#include "zoo/network_builder.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {
namespace {

constexpr double kGain = 5;

int64_t image_of(const NetworkSize& size, int64_t usual) { return size.image == 0 ? usual : size.image; }

ValueId conv_silu(NetworkBuilder& net, ValueId x, int64_t outputs, int64_t kernel = 1, int64_t stride = 1) {
  return net.silu(net.conv_bn(x, outputs, {.kernel = kernel, .stride = stride, .pad = kernel / 2}));
}

// One half through `depth` bottlenecks, the other past them.
ValueId cross_stage(NetworkBuilder& net, ValueId x, int64_t outputs, int depth) {
  ValueId deep = conv_silu(net, x, outputs / 2);
  const ValueId past = conv_silu(net, x, outputs / 2);
  for (int i = 0; i < depth; ++i) {
    deep = net.add(deep, conv_silu(net, conv_silu(net, deep, outputs / 2), outputs / 2, 3));
  }
  return conv_silu(net, net.concat({deep, past}), outputs);
}

// Maxima over growing windows beside each other.
ValueId pyramid_pool(NetworkBuilder& net, ValueId x, int64_t outputs) {
  const ValueId narrow = conv_silu(net, x, outputs / 2);
  std::vector<ValueId> parts{narrow};
  for (int i = 0; i < 3; ++i) parts.push_back(net.max_pool(parts.back(), {.kernel = 5, .pad = 2}));
  return conv_silu(net, net.concat(parts), outputs);
}

// Boxes, objectness and classes of one scale, [1, positions, values].
ValueId detections(NetworkBuilder& net, ValueId x, int64_t values) {
  const ValueId scores = net.sigmoid(net.conv(x, values, {.kernel = 1}));
  const Shape shape = net.shape(scores);
  return net.transpose(net.reshape(scores, {1, values, shape[2] * shape[3]}), {0, 2, 1});
}

// The weights of channels by a bottleneck over their means.
ValueId squeeze(NetworkBuilder& net, ValueId x, bool hard) {
  const int64_t channels = net.channels(x);
  ValueId gate = net.conv(net.global_average(x), channels / 4, {.kernel = 1});
  gate = net.conv(hard ? net.relu(gate) : net.silu(gate), channels, {.kernel = 1});
  return net.multiply(x, hard ? net.hard_sigmoid(gate) : net.sigmoid(gate));
}

// Expansion, depthwise layer, gate, projection, shortcut.
ValueId inverted(NetworkBuilder& net, ValueId x, int64_t outputs, int64_t stride, bool hard) {
  const auto act = [&](ValueId v) { return hard ? net.hard_swish(v) : net.silu(v); };
  const int64_t wide = net.channels(x) * 4;
  ValueId y = act(net.conv_bn(x, wide, {.kernel = 1}));
  y = act(net.conv_bn(y, wide, {.kernel = 3, .stride = stride, .pad = 1, .groups = wide}));
  y = net.conv_bn(squeeze(net, y, hard), outputs, {.kernel = 1});
  return stride == 1 && outputs == net.channels(x) ? net.add(x, y) : y;
}

Graph gated_classifier(const std::string& name, const NetworkSize& size, bool hard) {
  NetworkBuilder net(name);
  const int64_t image = image_of(size, 96), unit = 16 / size.divide;
  ValueId x = net.input("image", {1, 3, image, image});
  x = net.conv_bn(x, unit, {.kernel = 3, .stride = 2, .pad = 1});
  x = hard ? net.hard_swish(x) : net.silu(x);
  x = inverted(net, x, unit, 1, hard);
  x = inverted(net, x, 2 * unit, 2, hard);
  x = inverted(net, x, 2 * unit, 1, hard);
  x = inverted(net, x, 4 * unit, 2, hard);
  return net.finish(net.dense(net.flatten(net.global_average(x)), 100), kGain);
}

ValueId twice(NetworkBuilder& net, ValueId x, int64_t outputs) {
  return net.conv_bn_relu(net.conv_bn_relu(x, outputs, {.pad = 1}), outputs, {.pad = 1});
}

enum class Up { kTransposed, kNearest, kLinear };

Graph u_net(const std::string& name, const NetworkSize& size, Up up, bool gates) {
  NetworkBuilder net(name);
  const int64_t image = image_of(size, 128);
  int64_t channels = 16 / size.divide;
  ValueId x = net.input("image", {1, 3, image, image});
  std::vector<ValueId> skips;
  for (int level = 0; level < 3; ++level, channels *= 2) {
    skips.push_back(twice(net, x, channels));
    x = net.max_pool(skips.back(), {.kernel = 2, .stride = 2});
  }
  x = twice(net, x, channels);
  for (; !skips.empty(); skips.pop_back()) {
    channels /= 2;
    x = up == Up::kTransposed ? net.transposed(x, channels, {.kernel = 2, .stride = 2})
                              : net.conv_bn_relu(net.upsample(x, 2, up == Up::kLinear), channels, {.pad = 1});
    ValueId skip = skips.back();
    if (gates) {  // one weight per position
      const ValueId both =
          net.relu(net.add(net.conv(x, channels, {.kernel = 1}), net.conv(skip, channels, {.kernel = 1})));
      skip = net.multiply(skip, net.sigmoid(net.conv(both, 1, {.kernel = 1})));
    }
    x = twice(net, net.concat({skip, x}), channels);
  }
  return net.finish(net.conv(x, 4, {.kernel = 1}), kGain);
}

}  // namespace

Graph yolo_silu(const NetworkSize& size) {
  NetworkBuilder net("yolo_silu");
  const int64_t image = image_of(size, 160), unit = 16 / size.divide;
  ValueId x = net.input("image", {1, 3, image, image});
  x = conv_silu(net, conv_silu(net, x, unit, 3, 2), 2 * unit, 3, 2);
  const ValueId fine =
      cross_stage(net, conv_silu(net, cross_stage(net, x, 2 * unit, 1), 4 * unit, 3, 2), 4 * unit, 2);
  const ValueId coarse = pyramid_pool(net, conv_silu(net, fine, 8 * unit, 3, 2), 8 * unit);
  const ValueId lateral = conv_silu(net, coarse, 4 * unit);
  const ValueId up = cross_stage(net, net.concat({net.upsample(lateral, 2), fine}), 4 * unit, 1);
  const ValueId down =
      cross_stage(net, net.concat({conv_silu(net, up, 4 * unit, 3, 2), lateral}), 8 * unit, 1);
  return net.finish(net.concat({detections(net, up, 25), detections(net, down, 25)}), kGain);
}

Graph yolox_focus(const NetworkSize& size) {
  NetworkBuilder net("yolox_focus");
  const int64_t image = image_of(size, 128), unit = 16 / size.divide;
  ValueId x = net.input("image", {1, 3, image, image});
  std::vector<ValueId> corners;
  for (const int64_t column : {0, 1}) {
    for (const int64_t row : {0, 1}) {
      corners.push_back(net.slice(net.slice(x, 2, row, image, 2), 3, column, image, 2));
    }
  }
  x = conv_silu(net, net.concat(corners), unit, 3);
  x = cross_stage(net, conv_silu(net, x, 2 * unit, 3, 2), 2 * unit, 1);
  x = cross_stage(net, conv_silu(net, x, 4 * unit, 3, 2), 4 * unit, 1);
  const ValueId boxes = conv_silu(net, x, 2 * unit, 3), classes = conv_silu(net, x, 2 * unit, 3);
  const ValueId head =
      net.concat({net.conv(boxes, 4, {.kernel = 1}), net.sigmoid(net.conv(boxes, 1, {.kernel = 1})),
                  net.sigmoid(net.conv(classes, 20, {.kernel = 1}))});
  return net.finish(head, kGain);
}

Graph u_net_transposed(const NetworkSize& size) {
  return u_net("u_net_transposed", size, Up::kTransposed, false);
}
Graph u_net_bilinear(const NetworkSize& size) { return u_net("u_net_bilinear", size, Up::kLinear, false); }
Graph u_net_attention(const NetworkSize& size) { return u_net("u_net_attention", size, Up::kNearest, true); }
Graph mobilenet_v3(const NetworkSize& size) { return gated_classifier("mobilenet_v3", size, true); }
Graph efficientnet(const NetworkSize& size) { return gated_classifier("efficientnet", size, false); }

Graph mish_darknet(const NetworkSize& size) {
  NetworkBuilder net("mish_darknet");
  const int64_t image = image_of(size, 96), unit = 16 / size.divide;
  ValueId x = net.input("image", {1, 3, image, image});
  for (const int64_t factor : {1, 2, 4}) {
    x = net.mish(net.conv_bn(x, factor * unit, {.kernel = 3, .stride = 2, .pad = 1}));
    const ValueId narrow = net.mish(net.conv_bn(x, factor * unit / 2, {.kernel = 1}));
    x = net.add(x, net.mish(net.conv_bn(narrow, factor * unit, {.pad = 1})));
  }
  return net.finish(net.dense(net.flatten(net.global_average(x)), 50), kGain);
}

}  // namespace tilewright::zoo
