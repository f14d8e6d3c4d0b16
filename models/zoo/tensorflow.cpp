// The small benchmarks of the TensorFlow-to-FPGA paper.
#include "zoo/network_builder.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {

Graph cifar10_tutorial(const NetworkSize& size) {
  const int64_t image = size.image == 0 ? 24 : size.image;
  constexpr Window kConv{.kernel = 5, .pad = 2};
  NetworkBuilder net("cifar10_tutorial");
  ValueId x = net.input("image", {1, 3, image, image});
  for (int layer = 0; layer < 2; ++layer) {
    x = net.conv_relu(x, 64 / size.divide, kConv);
    x = net.max_pool_same(x, 3, 2);
  }
  x = net.flatten(x);
  x = net.relu(net.dense(x, 384 / size.divide));
  x = net.relu(net.dense(x, 192 / size.divide));
  return net.finish(net.dense(x, 10), 6);
}

// A gain of 48 keeps the sums of sigmoids in a range where sigmoids bend.
Graph djinn_asr(const NetworkSize& size) {
  NetworkBuilder net("djinn_asr");
  ValueId x = net.input("features", {1, 440});
  for (int layer = 0; layer < 6; ++layer) x = net.sigmoid(net.dense(x, 2048 / size.divide));
  return net.finish(net.dense(x, 1706), 48);
}

}  // namespace tilewright::zoo
