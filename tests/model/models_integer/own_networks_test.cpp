// The project's networks in 8 bits: the integer path against the QDQ graph, layer by layer.
#include "model/own_networks/own_networks.h"

#include <gtest/gtest.h>

#include "model/models_integer/layer_comparison.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

class IntegerTrained : public ::testing::TestWithParam<const char*> {};

TEST_P(IntegerTrained, EveryLayer) {
  const FashionImages set = fashion_test_images(3);
  const Graph quantised = quantized_network(GetParam());
  for (int64_t i = 0; i < 3; ++i) expect_layers_of_float(quantised, image_of(set, i));
}

INSTANTIATE_TEST_SUITE_P(Fashion, IntegerTrained, ::testing::ValuesIn(kTrainedNetworks),
                         [](const auto& test) { return std::string(test.param); });

INSTANTIATE_TEST_SUITE_P(Gated, IntegerTrained, ::testing::ValuesIn(kGatedNetworks),
                         [](const auto& test) { return std::string(test.param); });

class IntegerZoo : public ::testing::TestWithParam<const char*> {};

TEST_P(IntegerZoo, EveryLayer) {
  const zoo::Network& network = zoo::network(GetParam());
  const Graph real = optimize(network.build(network.small));
  expect_layers_of_float(quantize(real, {zoo::seeded_input(real, 1)}, {}), zoo::seeded_input(real, 2));
}

INSTANTIATE_TEST_SUITE_P(Small, IntegerZoo,
                         ::testing::Values("resnet18", "resnet50", "mobilenet_v1", "alexnet", "vgg16"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace tilewright
