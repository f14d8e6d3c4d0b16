// Layers after a flattened image: in the overlay's memory it still lies as an image, which some can read,
// and the others leave to the host.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/flow/run/bundle.h"
#include "tilewright/flow/run/engine.h"

namespace tilewright {
namespace {

// So slow that all that can run on the overlay does.
constexpr HostModel kSlowHost{1e-9, 1e-9};

struct Network {
  Graph graph;
  Random random;
  bool signs = false;  // weights -1 and +1 only

  explicit Network(uint64_t seed) : random(seed) {}

  ValueId add(const std::string& op, std::vector<ValueId> inputs, Shape shape, bool own = true) {
    const std::string name = fmt::format("{}{}", op, graph.nodes.size());
    const ValueId y = graph.add_value(name, ElementType::kI8, std::move(shape));
    graph.add_node(name, op, std::move(inputs), {y}, own ? kTilewrightDomain : "");
    return y;
  }
  Node& last() { return graph.nodes.back(); }
  const Shape& shape(ValueId value) const { return graph.value(value).shape; }

  // QConv or QGemm with weights of this shape.
  ValueId layer(const std::string& op, ValueId x, const Shape& weights, Shape result) {
    const auto constant = [&](Tensor tensor) {
      return graph.add_constant(fmt::format("c{}", graph.values.size()), std::move(tensor));
    };
    Tensor w(ElementType::kI8, weights);
    for (int64_t i = 0; i < w.size(); ++i) {
      w.set_integer(i, signs ? (random.chance(0.5) ? 1 : -1) : random.between(-9, 9));
    }
    const ValueId inputs[] = {x, constant(std::move(w)), constant(Tensor(ElementType::kI32, {weights[0]})),
                              constant(Tensor::of<int32_t>({1}, {1})),
                              constant(Tensor::of<int32_t>({1}, {5}))};
    return add(op, {std::begin(inputs), std::end(inputs)}, std::move(result));
  }
  ValueId conv(ValueId x, int64_t outputs, int64_t kernel) {
    const Shape from = shape(x);
    const ValueId y = layer("QConv", x, {outputs, from[1], kernel, kernel}, {1, outputs, from[2], from[3]});
    last().attributes["pads"] = std::vector<int64_t>(4, kernel / 2);
    return y;
  }
  ValueId gemm(ValueId x, int64_t outputs) { return layer("QGemm", x, {outputs, shape(x)[1]}, {1, outputs}); }
  ValueId flatten(ValueId x) {
    const ValueId y = add("Flatten", {x}, {1, shape(x).element_count()}, false);
    last().attributes["axis"] = int64_t{1};
    return y;
  }
  ValueId unsqueeze(ValueId x) {
    const ValueId axes = graph.add_constant("axes", Tensor::of<int64_t>({2}, {2, 3}));
    return add("Unsqueeze", {x, axes}, {1, shape(x)[1], 1, 1}, false);
  }
  ValueId requantize(ValueId x) {
    const ValueId y = add("QRequantize", {x}, shape(x));
    last().attributes["shift"] = int64_t{1};
    return y;
  }
  ValueId sum(ValueId a, ValueId b) {
    const ValueId y = add("QAdd", {a, b}, shape(a));
    last().attributes["shift"] = int64_t{1};
    return y;
  }
};

OverlayHardware overlay_of(IsaVersion isa) {
  OverlayHardware hardware;
  hardware.name = "overlay";
  hardware.isa = isa;
  return hardware;
}

// Compiles, and compares what runs with the host.
Bundle run(Network& network, const OverlayHardware& hardware) {
  const Bundle bundle = compile(network.graph, hardware, kSlowHost).bundle;
  Tensor input(ElementType::kI8, network.shape(network.graph.inputs[0]));
  for (int64_t i = 0; i < input.size(); ++i) input.set_integer(i, network.random.between(-128, 127));
  Session functional(std::make_shared<const Engine>(bundle, Execution::kAsPlaced));
  Session host(std::make_shared<const Engine>(bundle, Execution::kOnHost));
  const Tensor expected = host.run({input})[0];
  EXPECT_TRUE(functional.run({input})[0].identical(expected));
  return bundle;
}

TEST(FlattenedLayers, AConvolutionDoesNotReadTheImageAsChannels) {
  Network network(1);
  const ValueId x = network.graph.add_input("x", ElementType::kI8, {1, 32, 4, 4});
  const ValueId flat = network.requantize(network.flatten(network.conv(x, 32, 3)));
  network.graph.outputs = {network.conv(network.unsqueeze(flat), 64, 1)};
  const Bundle bundle = run(network, overlay_of(IsaVersion::kVta));
  ASSERT_EQ(bundle.nodes.size(), 5u);
  for (const size_t n : {0u, 1u, 2u, 4u}) EXPECT_FALSE(bundle.nodes[n].on_host()) << bundle.nodes[n].reason;
  EXPECT_TRUE(bundle.nodes[3].on_host());
  EXPECT_EQ(bundle.nodes[3].reason, "its input lies in the overlay's memory as images of 32 x 4 x 4");
}

TEST(FlattenedLayers, AVectorWithTwoMoreAxesIsAView) {
  Network network(1);
  const ValueId x = network.graph.add_input("x", ElementType::kI8, {1, 32, 4, 4});
  const ValueId dense = network.gemm(network.flatten(network.conv(x, 32, 3)), 48);
  network.graph.outputs = {network.conv(network.unsqueeze(dense), 64, 1)};
  for (const BundleNode& node : run(network, overlay_of(IsaVersion::kVta)).nodes) {
    EXPECT_FALSE(node.on_host()) << node.reason;
  }
}

TEST(FlattenedLayers, ASumOfAnImageAndAVectorIsTheHosts) {
  Network network(2);
  const ValueId x = network.graph.add_input("x", ElementType::kI8, {1, 16, 4, 4});
  const ValueId flat = network.flatten(network.conv(x, 16, 3));
  network.graph.outputs = {network.sum(flat, network.gemm(flat, 256))};
  const Bundle bundle = run(network, overlay_of(IsaVersion::kVta));
  EXPECT_FALSE(bundle.nodes[2].on_host());
  EXPECT_TRUE(bundle.nodes[3].on_host());
  EXPECT_EQ(bundle.nodes[3].reason,
            "its operands lie in the overlay's memory as images of different shapes or places");
}

TEST(FlattenedLayers, ADenseLayerWhoseWeightsOfOneImageDoNotFitIsTheHosts) {
  Network network(3);
  const ValueId x = network.graph.add_input("x", ElementType::kI8, {1, 16, 12, 12});
  network.graph.outputs = {network.gemm(network.flatten(network.conv(x, 16, 3)), 32)};
  OverlayHardware small = overlay_of(IsaVersion::kVta);
  small.weight_buffer_bytes = 64 * small.weight_bytes();  // 144 are needed
  const Bundle bundle = run(network, small);
  EXPECT_FALSE(bundle.nodes[0].on_host());
  EXPECT_TRUE(bundle.nodes[2].on_host());
  EXPECT_EQ(bundle.nodes[2].reason,
            "its smallest tile does not fit: WGT scratchpad needs 144 elements of 64");
  const Bundle large = compile(network.graph, overlay_of(IsaVersion::kVta), kSlowHost).bundle;
  EXPECT_FALSE(large.nodes[2].on_host()) << large.nodes[2].reason;
  EXPECT_EQ(retarget(large, small).nodes[2], bundle.nodes[2]);
}

TEST(FlattenedLayers, ADenseLayerOfSignsReadsWholeBlocksOnly) {
  Network network(4);
  network.signs = true;
  const ValueId x = network.graph.add_input("x", ElementType::kI8, {1, 16, 8, 8});
  network.graph.outputs = {network.gemm(network.flatten(network.conv(x, 8, 3)), 32)};
  OverlayHardware signs = overlay_of(IsaVersion::kWide);
  signs.weight_bits = 1;
  const Bundle bundle = run(network, signs);
  EXPECT_FALSE(bundle.nodes[0].on_host()) << bundle.nodes[0].reason;
  EXPECT_TRUE(bundle.nodes[2].on_host());
  EXPECT_NE(bundle.nodes[2].reason.find("beyond the last channel"), std::string::npos)
      << bundle.nodes[2].reason;
}

// Any of these networks compiles for any of these overlays, and computes the same there.
TEST(FlattenedLayersClass, EveryNetworkRuns) {
  const int64_t cases = test_cases(24);
  RecordProperty("cases", int(cases));
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = test_seed() + uint64_t(i);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Network network(seed);
    Random& random = network.random;
    const int64_t channels = 8 << random.between(0, 2), size = random.between(1, 5);
    ValueId y = network.graph.add_input("x", ElementType::kI8, {1, channels, size, size});
    if (random.chance(0.8)) y = network.conv(y, channels, 3);
    y = network.flatten(y);
    if (random.chance(0.5)) y = network.requantize(y);
    const ValueId flat = y;
    if (random.chance(0.5)) y = network.gemm(y, random.chance(0.5) ? network.shape(y)[1] : 24);
    if (random.chance(0.7) && network.shape(y) == network.shape(flat)) y = network.sum(flat, y);
    if (random.chance(0.7)) y = network.conv(network.unsqueeze(y), 16, 1);
    network.graph.outputs = {y};
    OverlayHardware hardware = overlay_of(random.chance(0.5) ? IsaVersion::kVta : IsaVersion::kWide);
    hardware.weight_buffer_bytes = (8 << random.between(0, 4)) * hardware.weight_bytes();
    run(network, hardware);
  }
}

}  // namespace
}  // namespace tilewright
