// Networks on the narrow overlays: LeNet quantised here to 4 and 2 bits, and a network of signs from its
// file; every simulated output equals the integer reference.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/narrow_models/overlay_network.h"
#include "model/own_networks/own_networks.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"

namespace tilewright {
namespace {

constexpr int64_t kImages = 20;

class NarrowLenet : public ::testing::TestWithParam<int> {};

TEST_P(NarrowLenet, RunsWhollyOnTheOverlay) {
  const int bits = GetParam();
  QuantizeOptions options;
  options.weight_bits = options.activation_bits = bits;
  OverlayNetwork network(quantized_lenet(options),
                         "overlay-w" + std::to_string(bits) + "a" + std::to_string(bits));
  EXPECT_EQ(network.overlay_layers(), 6);
  const FashionImages set = fashion_test_images(kImages);
  int right = 0;
  for (int64_t i = 0; i < kImages; ++i) {
    const std::vector<float> scores = network.run(image_of(set, i));
    right += int(std::ranges::max_element(scores) - scores.begin()) == set.labels[size_t(i)];
  }
  if (bits == 4) {
    EXPECT_GE(right, kImages * 7 / 10);
  }
}

// Layers of 1-bit weights and activations, as Brevitas exports them: decisions of the float graph, bits
// of the host on the overlay.
TEST(SignsNetwork, RunsWhollyOnTheOverlay) {
  const Graph graph = parse_onnx(signs_network_file(5));
  OverlayNetwork network(graph, "overlay-w1a1");
  EXPECT_GE(network.overlay_layers(), 3);  // the last one has no signs behind it
  const FashionImages set = fashion_test_images(kImages);
  for (int64_t i = 0; i < kImages; ++i) {
    const std::vector<float> expected = run(graph, {image_of(set, i)})[0].to_floats();
    const std::vector<float> scores = network.run(image_of(set, i));
    ASSERT_EQ(scores.size(), expected.size());
    for (size_t k = 0; k < scores.size(); ++k) EXPECT_NEAR(scores[k], expected[k], 1e-4) << "image " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Bits, NarrowLenet, ::testing::Values(4, 2));

}  // namespace
}  // namespace tilewright
