// Networks from before batch normalisation: plain chains with three dense layers, which hold most weights.
#include "zoo/network_builder.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {
namespace {

constexpr double kGain = 6;

Graph classify(NetworkBuilder& net, ValueId x, int64_t divide) {
  x = net.flatten(x);
  for (int layer = 0; layer < 2; ++layer) x = net.relu(net.dense(x, 4096 / divide));
  return net.finish(net.dense(x, 1000), kGain);
}

}  // namespace

Graph alexnet(const NetworkSize& size) {
  const int64_t image = size.image == 0 ? 227 : size.image;
  constexpr Window kPool{.kernel = 3, .stride = 2};
  NetworkBuilder net("alexnet");
  ValueId x = net.input("image", {1, 3, image, image});
  x = net.conv_relu(x, 96 / size.divide, {.kernel = 11, .stride = 4});
  x = net.max_pool(net.response_norm(x), kPool);
  x = net.conv_relu(x, 256 / size.divide, {.kernel = 5, .pad = 2, .groups = 2});
  x = net.max_pool(net.response_norm(x), kPool);
  x = net.conv_relu(x, 384 / size.divide, {.kernel = 3, .pad = 1});
  x = net.conv_relu(x, 384 / size.divide, {.kernel = 3, .pad = 1, .groups = 2});
  x = net.conv_relu(x, 256 / size.divide, {.kernel = 3, .pad = 1, .groups = 2});
  return classify(net, net.max_pool(x, kPool), size.divide);
}

Graph vgg16(const NetworkSize& size) {
  const int64_t image = size.image == 0 ? 224 : size.image;
  struct Stage {
    int layers;
    int64_t channels;
  };
  NetworkBuilder net("vgg16");
  ValueId x = net.input("image", {1, 3, image, image});
  for (const Stage& stage : {Stage{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}}) {
    for (int layer = 0; layer < stage.layers; ++layer) {
      x = net.conv_relu(x, stage.channels / size.divide, {.kernel = 3, .pad = 1});
    }
    x = net.max_pool(x, {.kernel = 2, .stride = 2});
  }
  return classify(net, x, size.divide);
}

}  // namespace tilewright::zoo
