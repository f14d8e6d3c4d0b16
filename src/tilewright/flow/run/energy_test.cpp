// The energy of a bundle: every bit that switches in the overlay's RTL belongs to one layer and to one
// module.
#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright {
namespace {

// Random 1x1 layers of eight channels, one behind the other.
Graph dense_layers(int64_t layers, Random& random) {
  Graph graph;
  graph.name = "layers";
  ValueId x = graph.add_input("x", ElementType::kI8, {1, 8, 2, 2});
  for (int64_t l = 0; l < layers; ++l) {
    const std::string mark = std::to_string(l);
    Tensor weights(ElementType::kI8, {8, 8, 1, 1});
    for (int64_t i = 0; i < weights.size(); ++i) weights.set_integer(i, random.between(-128, 127));
    const ValueId w = graph.add_constant("w" + mark, std::move(weights));
    const ValueId b = graph.add_constant("b" + mark, Tensor(ElementType::kI32, {8}));
    const ValueId m = graph.add_constant("m" + mark, Tensor::of<int32_t>({1}, {1}));
    const ValueId s = graph.add_constant("s" + mark, Tensor::of<int32_t>({1}, {7}));
    const ValueId y = graph.add_value("y" + mark, ElementType::kI8, {1, 8, 2, 2});
    Node& node = graph.add_node("layer" + mark, "QConv", {x, w, b, m, s}, {y}, kTilewrightDomain);
    node.attributes["strides"] = std::vector<int64_t>{1, 1};
    node.attributes["pads"] = std::vector<int64_t>{0, 0, 0, 0};
    x = y;
  }
  graph.outputs = {x};
  return graph;
}

TEST(BundleEnergyClass, EveryBitBelongsToALayerAndAModule) {
  const std::string missing = synthesis::missing_tools({"verilator", "g++"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  const uint64_t seed = test_seed();
  SCOPED_TRACE(seed);
  Random random(seed);
  const TemporaryFolder cache(testing::TempDir(), "energy");
  const OverlayHardware hardware =
      find_overlay_hardware("overlay-tiny", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  const int64_t layers = random.between(1, 3);
  const Bundle bundle = compile(dense_layers(layers, random), hardware, HostModel{.node_seconds = 1}).bundle;
  for (const auto& node : bundle.nodes) ASSERT_EQ(node.target, kOverlay) << node.reason;
  overlay::ProgramEngineOptions options;
  options.kind = overlay::ProgramEngineKind::kRtl;
  options.rtl_folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
  options.cache_folder = cache.path();
  options.activity = true;
  Session session(std::make_shared<const Engine>(bundle, Execution::kAsPlaced), options);
  EnergyReport report;
  session.measure_energy(report);
  Tensor input(ElementType::kI8, {1, 8, 2, 2});
  for (int run = 0; run < 2; ++run) {
    for (int64_t i = 0; i < input.size(); ++i) input.set_integer(i, random.between(-128, 127));
    session.run({input});
  }
  Activity modules;
  for (const EnergyRow& row : report.modules) modules += row.activity;
  EXPECT_EQ(report.total(), modules);
  EXPECT_EQ(int64_t(report.layers.size()), layers);
  for (const EnergyRow& row : report.layers) {
    EXPECT_GT(row.activity.toggled_bits, 0u) << row.name;
    EXPECT_GT(row.activity.memory_bits, 0u) << row.name;
  }
  const uint64_t beats = session.cycles().read_beats + session.cycles().write_beats;
  EXPECT_EQ(modules.dram_bits, beats * uint64_t(hardware.memory_width_bits));
}

}  // namespace
}  // namespace tilewright
