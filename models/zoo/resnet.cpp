// ResNet v1: basic blocks (two 3x3 convolutions) for 18 and 34 layers, bottlenecks (1x1, 3x3, 1x1) for 50. A
// block whose shape changes has a 1x1 convolution in its shortcut.
#include <array>

#include "zoo/network_builder.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {
namespace {

constexpr double kGain = 3;  // shortcuts keep the signal's size, rectified branches add to it

ValueId shortcut(NetworkBuilder& net, ValueId x, int64_t outputs, int64_t stride) {
  if (net.channels(x) == outputs && stride == 1) return x;
  return net.conv_bn(x, outputs, {.kernel = 1, .stride = stride});
}

ValueId basic_block(NetworkBuilder& net, ValueId x, int64_t channels, int64_t stride) {
  const ValueId first = net.conv_bn_relu(x, channels, {.kernel = 3, .stride = stride, .pad = 1});
  const ValueId second = net.conv_bn(first, channels, {.kernel = 3, .pad = 1});
  return net.relu(net.add(second, shortcut(net, x, channels, stride)));
}

ValueId bottleneck(NetworkBuilder& net, ValueId x, int64_t channels, int64_t stride) {
  const ValueId narrow = net.conv_bn_relu(x, channels, {.kernel = 1, .stride = stride});
  const ValueId middle = net.conv_bn_relu(narrow, channels, {.kernel = 3, .pad = 1});
  const ValueId wide = net.conv_bn(middle, 4 * channels, {.kernel = 1});
  return net.relu(net.add(wide, shortcut(net, x, 4 * channels, stride)));
}

Graph resnet(const std::string& name, const std::array<int, 4>& blocks,
             ValueId (*block)(NetworkBuilder&, ValueId, int64_t, int64_t), const NetworkSize& size) {
  const int64_t image = size.image == 0 ? 224 : size.image;
  NetworkBuilder net(name);
  ValueId x = net.input("image", {1, 3, image, image});
  x = net.conv_bn_relu(x, 64 / size.divide, {.kernel = 7, .stride = 2, .pad = 3});
  x = net.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1});
  int64_t channels = 64 / size.divide;
  for (size_t stage = 0; stage < blocks.size(); ++stage, channels *= 2) {
    for (int b = 0; b < blocks[stage]; ++b) x = block(net, x, channels, b == 0 && stage > 0 ? 2 : 1);
  }
  return net.finish(net.dense(net.flatten(net.global_average(x)), 1000), kGain);
}

}  // namespace

Graph resnet18(const NetworkSize& size) { return resnet("resnet18", {2, 2, 2, 2}, basic_block, size); }
Graph resnet34(const NetworkSize& size) { return resnet("resnet34", {3, 4, 6, 3}, basic_block, size); }
Graph resnet50(const NetworkSize& size) { return resnet("resnet50", {3, 4, 6, 3}, bottleneck, size); }

Graph residual_block(int64_t channels, int64_t image) {
  NetworkBuilder net("residual_block");
  const ValueId x = net.input("x", {1, channels, image, image});
  return net.finish(basic_block(net, x, channels, 1), kGain);
}

}  // namespace tilewright::zoo
