// The values of netlists: those of the network for designs as they are built, others where a memory or a
// parameter says something else.
#include "tilewright/pipeline/simulate/design_values.h"

#include <gtest/gtest.h>

#include <bit>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/pipeline/simulate/fifo_sizing.h"

namespace tilewright::pipeline {
namespace {

// Pools that hand on what they read: the builder's own factor leaves zeros after them.
Network with_live_pools(Network network) {
  for (Layer& layer : network.layers) {
    if (!layer.weights.empty()) continue;
    const int64_t taps = layer.kind == LayerKind::kMaxPool ? 1 : layer.window.rows * layer.window.columns;
    layer.finish.scale.assign(layer.finish.scale.size(),
                              Requantization{1, int32_t(std::bit_width(uint64_t(taps)) - 1)});
  }
  return network;
}

std::vector<int32_t> random_image(const Network& network, Random& random) {
  std::vector<int32_t> image(size_t(network.tensors[size_t(network.input)].shape.elements()));
  for (int32_t& value : image) value = int32_t(random.between(-128, 127));
  return image;
}

Allocation with_dram(const Network& network, Allocation allocation, Random& random) {
  allocation.weights_on_chip = false;
  allocation.weight_channels = int64_t{1} << random.between(0, 2);
  for (allocation.ring_words = 64; allocation.ring_words < 1 << 16; allocation.ring_words *= 2) {
    Diagnostics diagnostics;
    allocation.verify(network, diagnostics);
    if (diagnostics.ok()) break;
  }
  return allocation;
}

TEST(DesignValuesClass, AreThoseOfTheNetwork) {
  const int64_t cases = test_cases(25);
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = test_seed() * 1000 + uint64_t(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Network network = with_live_pools(random_network(seed));
    const std::vector<int32_t> image = random_image(network, random);
    const std::vector<int32_t> expected = evaluate(network, image)[size_t(network.output)];
    const Allocation processors = random_processors(network, seed);
    for (const Allocation& allocation :
         {random_stages(network, seed), processors, with_dram(network, processors, random)}) {
      EXPECT_EQ(evaluate_design(build(network, allocation), image), expected);
    }
  }
  RecordProperty("cases", int(cases * 3));
}

// Four bits carry no -128: as 0 it wins against negative pixels.
TEST(DesignValues, ShowWhatAParameterGetsWrong) {
  NetworkBuilder builder("narrow", {6, 6, 4}, 1);
  Network network = with_live_pools(builder.finish(builder.max_pool(builder.convolution(0, 4, 1), 3, 1, 1)));
  network.layers[0].finish.clip_low = -8;
  network.layers[0].finish.clip_high = -1;
  network.tensors[1].bits = network.tensors[2].bits = 4;
  Random random(1);
  const std::vector<int32_t> image = random_image(network, random);
  Allocation stages = random_stages(network, 1);
  const auto values = [&](int64_t pad) {
    network.layers[1].window.pad_value = -8;
    for (LayerAllocation& layer : stages.layers) layer.stage.feeder = Feeder::kChannelMajor;
    Design design = build(network, stages);
    for (netlist::Instance& instance : design.netlist.modules[0].instances) {
      if (instance.module == "line_window") instance.parameters["PAD"] = pad;
    }
    return evaluate_design(design, image);
  };
  const std::vector<int32_t> expected = evaluate(network, image)[size_t(network.output)];
  EXPECT_EQ(values(-8), expected);
  EXPECT_NE(values(-128), expected);
}

TEST(DesignValues, ShowContentsOfMemories) {
  const Network network = with_live_pools(random_network(3));
  Design design = build(network, random_processors(network, 3));
  Random random(5);
  const std::vector<int32_t> image = random_image(network, random);
  const std::vector<int32_t> before = evaluate_design(design, image);
  for (auto& [name, contents] : design.images) {
    if (!name.starts_with("engine0_") || !name.ends_with("_weights.hex")) continue;
    for (uint8_t& byte : contents.bytes()) byte ^= 0x55;
  }
  EXPECT_NE(evaluate_design(design, image), before);
}

}  // namespace
}  // namespace tilewright::pipeline
