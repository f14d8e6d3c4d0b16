// Networks that make images: their transposed convolutions double rows and columns.
#include "zoo/network_builder.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {
namespace {

constexpr double kGain = 6;
constexpr Window kDouble{.kernel = 4, .stride = 2, .pad = 1};

ValueId transposed_bn_relu(NetworkBuilder& net, ValueId x, int64_t outputs, const Window& window) {
  return net.relu(net.batch_norm(net.transposed(x, outputs, window)));
}

// Two 3x3 convolutions without padding; the shortcut loses the border that they lose.
ValueId valid_block(NetworkBuilder& net, ValueId x) {
  const int64_t channels = net.channels(x);
  const ValueId first = net.conv_bn_relu(x, channels, {.kernel = 3});
  return net.add(net.conv_bn(first, channels, {.kernel = 3}), net.crop(x, 2));
}

}  // namespace

Graph dcgan_generator(const NetworkSize& size) {
  NetworkBuilder net("dcgan_generator");
  ValueId x = net.input("z", {1, 100, 1, 1});
  x = transposed_bn_relu(net, x, 1024 / size.divide, {.kernel = 4});
  for (const int64_t outputs : {512, 256, 128}) {
    x = transposed_bn_relu(net, x, outputs / size.divide, kDouble);
  }
  return net.finish(net.tanh(net.transposed(x, 3, kDouble)), kGain);
}

Graph fast_style(const NetworkSize& size) {
  const int64_t image = size.image == 0 ? 256 : size.image;
  constexpr int64_t kBorder = 40;  // what the residual blocks lose at a quarter of the resolution
  constexpr Window kWide{.kernel = 9, .pad = 4}, kHalve{.kernel = 3, .stride = 2, .pad = 1};
  constexpr Window kGrow{.kernel = 3, .stride = 2, .pad = 1, .output_pad = 1};
  NetworkBuilder net("fast_style");
  ValueId x = net.reflect_pad(net.input("image", {1, 3, image, image}), kBorder);
  x = net.conv_bn_relu(x, 32 / size.divide, kWide);
  x = net.conv_bn_relu(x, 64 / size.divide, kHalve);
  x = net.conv_bn_relu(x, 128 / size.divide, kHalve);
  for (int block = 0; block < 5; ++block) x = valid_block(net, x);
  x = transposed_bn_relu(net, x, 64 / size.divide, kGrow);
  x = transposed_bn_relu(net, x, 32 / size.divide, kGrow);
  return net.finish(net.tanh(net.conv(x, 3, kWide)), kGain);
}

Graph transposed_layer(int64_t inputs, int64_t outputs, int64_t image) {
  NetworkBuilder net("transposed_layer");
  const ValueId x = net.input("x", {1, inputs, image, image});
  return net.finish(transposed_bn_relu(net, x, outputs, kDouble), kGain);
}

}  // namespace tilewright::zoo
