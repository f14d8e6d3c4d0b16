// All 10,000 test images on the residual and the depthwise network, and one of them through the RTL.
#include <algorithm>
#include <memory>

#include "facts.h"
#include "model/own_networks/own_networks.h"
#include "support/pipeline/rtl_testing.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/report.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

class FashionNetworksSlow : public FashionNetworks {};

TEST_P(FashionNetworksSlow, AllTestImagesInFloatAndOnBothOverlays) {
  constexpr int64_t kAll = 10'000;
  const FashionImages set = fashion_test_images(kAll);
  const Graph graph = trained_network(GetParam().name);
  const std::filesystem::path presets = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";
  for (const bool plain : {false, true}) {
    QuantizeOptions options;
    options.scales = plain ? ScaleKind::kPowerOfTwo : ScaleKind::kReal;
    const Graph integer = integerize(quantized_network(GetParam().name, options, 512));
    const AccuracyReport report = compare_accuracy(graph, integer, {set.images}, set.labels, 2);
    EXPECT_LE(std::abs(report.float_correct - GetParam().float_right), 5);
    EXPECT_LE(std::abs(report.quantized_correct - (plain ? GetParam().plain_right : GetParam().int8_right)),
              20);
    const Bundle bundle =
        compile(integer, find_overlay_hardware(plain ? "vta-default" : "overlay-16x16", presets)).bundle;
    const auto placed = std::make_shared<const Engine>(bundle, Execution::kAsPlaced);
    Session host(std::make_shared<const Engine>(bundle, Execution::kOnHost)), functional(placed),
        cycle(placed, {.kind = overlay::ProgramEngineKind::kCycle});
    int64_t different = 0;
    for (int64_t i = 0; i < kAll; ++i) {
      const Tensor expected = host.run({image_of(set, i)})[0];
      different += !functional.run({image_of(set, i)})[0].identical(expected);
      different += !cycle.run({image_of(set, i)})[0].identical(expected);
    }
    EXPECT_EQ(different, 0);
  }
}

class FashionNetworksRtl : public FashionNetworks {
 protected:
  void SetUp() override {
    if (const std::string missing = pipeline::missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  }
};

TEST_P(FashionNetworksRtl, AnImageOnTheOverlay) {
  const OverlayHardware hardware =
      find_overlay_hardware("overlay-16x16", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  const Bundle bundle = compile(integerize(optimize(quantized_network(GetParam().name))), hardware).bundle;
  Session host(std::make_shared<const Engine>(bundle, Execution::kOnHost)),
      rtl(std::make_shared<const Engine>(bundle, Execution::kAsPlaced),
          {.kind = overlay::ProgramEngineKind::kRtl,
           .rtl_folder = TILEWRIGHT_SOURCE_DIR "/rtl",
           .cache_folder = TILEWRIGHT_RTL_CACHE});
  const Tensor image = image_of(fashion_test_images(1), 0);
  EXPECT_TRUE(rtl.run({image})[0].identical(host.run({image})[0]));
  EXPECT_EQ(rtl.cycles().cycles, GetParam().cycles);
}

}  // namespace

TILEWRIGHT_ON_BOTH(FashionNetworksSlow);
TILEWRIGHT_ON_BOTH(FashionNetworksRtl);

}  // namespace tilewright
