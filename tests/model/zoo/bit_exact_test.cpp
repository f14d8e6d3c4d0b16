// Every network of the zoo, at a small size, quantised and compiled: the overlay's bits are those of the
// integer reference.
#include <gtest/gtest.h>

#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/run/layer_table.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {
namespace {

void expect_identical(const Bundle& bundle, overlay::ProgramEngineKind kind) {
  const std::vector<Tensor> inputs = seeded_inputs(bundle.graph, 7);
  overlay::ProgramEngineOptions options;
  options.kind = kind;
  Session engine(std::make_shared<const Engine>(bundle, Execution::kAsPlaced), options);
  Session reference(std::make_shared<const Engine>(bundle, Execution::kOnHost));
  const std::vector<Tensor> outputs = engine.run(inputs), expected = reference.run(inputs);
  ASSERT_EQ(outputs.size(), expected.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_TRUE(outputs[i].identical(expected[i])) << bundle.graph.name << " output " << i;
  }
  // A network whose output does not depend on its input would agree as well.
  const std::vector<Tensor> others = reference.run(seeded_inputs(bundle.graph, 8));
  EXPECT_FALSE(others[0].identical(expected[0])) << bundle.graph.name;
}

class ZooNetworks : public testing::TestWithParam<const char*> {
 protected:
  OverlayHardware hardware() const {
    return find_overlay_hardware(GetParam(), std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  }
};

void expect_bits_of_the_reference(std::span<const Network> list, const OverlayHardware& hardware) {
  for (const Network& network : list) {
    SCOPED_TRACE(network.name);
    const Compilation compilation = seeded_compilation(network.build(network.small), hardware);
    EXPECT_GT(layer_table(compilation).overlay_mac_share(), 0.99);
    expect_identical(compilation.bundle, overlay::ProgramEngineKind::kFunctional);
    expect_identical(compilation.bundle, overlay::ProgramEngineKind::kCycle);
  }
}

TEST_P(ZooNetworks, BitIdenticalToTheReference) { expect_bits_of_the_reference(networks(), hardware()); }

// Sigmoids are tables, which the host looks up between the layers of the overlay.
TEST_P(ZooNetworks, TablesStandBetweenOverlayLayers) {
  expect_bits_of_the_reference(tensorflow_networks(), hardware());
}

TEST_P(ZooNetworks, ModernNetworks) {
  for (const Network& network : modern_networks()) {
    SCOPED_TRACE(network.name);
    const Compilation compilation = seeded_compilation(network.build(network.small), hardware());
    expect_identical(compilation.bundle, overlay::ProgramEngineKind::kFunctional);
    expect_identical(compilation.bundle, overlay::ProgramEngineKind::kCycle);
  }
}

TEST_P(ZooNetworks, SmallCasesRunOnTheOverlayAlone) {
  for (const SmallCase& small : small_cases(8)) {
    SCOPED_TRACE(small.name);
    const Compilation compilation = seeded_compilation(small.graph, hardware());
    EXPECT_EQ(layer_table(compilation).overlay_mac_share(), 1.0);
    expect_identical(compilation.bundle, overlay::ProgramEngineKind::kFunctional);
    expect_identical(compilation.bundle, overlay::ProgramEngineKind::kCycle);
  }
}

INSTANTIATE_TEST_SUITE_P(Hardware, ZooNetworks,
                         testing::Values("vta-default", "overlay-16x16", "overlay-8x8"));

}  // namespace
}  // namespace tilewright::zoo
