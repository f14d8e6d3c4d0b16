// MobileNet v1 and its grouped form: thirteen blocks of a 3x3 layer that mixes few channels and a 1x1 layer
// that mixes all.
#include <algorithm>

#include "zoo/network_builder.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {
namespace {

constexpr double kGain = 6;
constexpr int64_t kGroupChannels = 16;

struct Block {
  int64_t outputs, stride;
};
constexpr Block kBlocks[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                             {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};

// Groups of `group_channels` channels in the 3x3 layers.
Graph mobilenet(const std::string& name, int64_t group_channels, const NetworkSize& size) {
  const int64_t image = size.image == 0 ? 224 : size.image;
  NetworkBuilder net(name);
  ValueId x = net.input("image", {1, 3, image, image});
  x = net.conv_bn_relu(x, 32 / size.divide, {.kernel = 3, .stride = 2, .pad = 1});
  for (const Block& block : kBlocks) {
    const int64_t channels = net.channels(x);
    const int64_t groups = std::max<int64_t>(1, channels / group_channels);
    x = net.conv_bn_relu(x, channels, {.kernel = 3, .stride = block.stride, .pad = 1, .groups = groups});
    x = net.conv_bn_relu(x, block.outputs / size.divide, {.kernel = 1});
  }
  return net.finish(net.dense(net.flatten(net.global_average(x)), 1000), kGain);
}

}  // namespace

Graph mobilenet_v1(const NetworkSize& size) { return mobilenet("mobilenet_v1", 1, size); }
Graph mobilenet_g(const NetworkSize& size) { return mobilenet("mobilenet_g", kGroupChannels, size); }

Graph depthwise_layer(int64_t channels, int64_t image) { return grouped_layer(channels, 1, image); }

Graph grouped_layer(int64_t channels, int64_t group_channels, int64_t image) {
  NetworkBuilder net(group_channels == 1 ? "depthwise_layer" : "grouped_layer");
  const ValueId x = net.input("x", {1, channels, image, image});
  const int64_t groups = channels / group_channels;
  return net.finish(net.conv_bn_relu(x, channels, {.kernel = 3, .pad = 1, .groups = groups}), kGain);
}

}  // namespace tilewright::zoo
