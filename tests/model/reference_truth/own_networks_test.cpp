// Whole networks with every integer operator run by its reference kernel: the host engine's bits.
#include "model/own_networks/own_networks.h"

#include <gtest/gtest.h>

#include "reference_node.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

class ReferenceTrained : public ::testing::TestWithParam<const char*> {};

TEST_P(ReferenceTrained, GivesTheBitsOfTheHostEngine) {
  const FashionImages set = fashion_test_images(4);
  for (const ScaleKind scales : {ScaleKind::kReal, ScaleKind::kPowerOfTwo}) {
    QuantizeOptions options;
    options.scales = scales;
    const Graph integer = integerize(optimize(quantized_network(GetParam(), options)));
    for (int64_t i = 0; i < 4; ++i) {
      const Tensor image = image_of(set, i);
      EXPECT_TRUE(run_by_reference(integer, image, 4).identical(run(integer, {image})[0])) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fashion, ReferenceTrained, ::testing::ValuesIn(kTrainedNetworks),
                         [](const auto& test) { return std::string(test.param); });

class ReferenceZoo : public ::testing::TestWithParam<const char*> {};

TEST_P(ReferenceZoo, GivesTheBitsOfTheHostEngine) {
  const zoo::Network& network = zoo::network(GetParam());
  const Graph real = optimize(network.build(network.small));
  const Graph integer = integerize(optimize(quantize(real, {zoo::seeded_input(real, 1)}, {})));
  const Tensor image = zoo::seeded_input(real, 2);
  EXPECT_TRUE(run_by_reference(integer, image, 5).identical(run(integer, {image})[0]));
}

INSTANTIATE_TEST_SUITE_P(Small, ReferenceZoo,
                         ::testing::Values("resnet18", "mobilenet_v1", "dcgan_generator", "cifar10_tutorial"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace tilewright
