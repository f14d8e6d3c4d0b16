#include "tilewright/flow/time/network_timing.h"

#include <gtest/gtest.h>

#include "tilewright/flow/time/explain.h"
#include "tilewright/flow/time/roofline.h"

namespace tilewright {
namespace {

using overlay::CycleCause;
using overlay::LayerTiming;

LayerTiming layer(const std::string& name, int64_t macs, uint64_t begin, uint64_t end, CycleCause bound) {
  LayerTiming timing;
  timing.name = name, timing.op = "QConv", timing.macs = macs;
  timing.begin = begin, timing.end = end;
  timing.caused[size_t(bound)] = end - begin;
  timing.traffic.input_bytes = 6000, timing.traffic.weight_bytes = 2000, timing.traffic.output_bytes = 4000;
  return timing;
}

// 256 MACs and 16 bytes per cycle; one layer at half of the peak, one that memory holds back.
NetworkTiming two_layers(MemoryModelKind kind = MemoryModelKind::kFixed) {
  NetworkTiming timing;
  timing.network = "two";
  timing.hardware.name = "machine";
  timing.hardware.memory_width_bits = 128;
  timing.memory.kind = kind;
  timing.limits = machine_limits(timing.hardware, timing.memory);
  timing.layers.push_back(layer("fast", 256 * 1000, 0, 2000, CycleCause::kGemm));
  timing.layers.push_back(layer("slow", 256 * 100, 2000, 3000, CycleCause::kLoad));
  return timing;
}

TEST(NetworkTiming, BoundsCountTheBusierChannelOrTheSharedBus) {
  const NetworkTiming fixed = two_layers(), ddr = two_layers(MemoryModelKind::kDdr);
  EXPECT_EQ(fixed.limits.macs_per_cycle, 256);
  EXPECT_EQ(fixed.limits.bytes_per_cycle, 16);
  EXPECT_EQ(fixed.limits.memory_cycles(fixed.layers[0].traffic), 8000 / 16.0);
  EXPECT_EQ(ddr.limits.memory_cycles(ddr.layers[0].traffic), 12000 / 16.0);
  EXPECT_EQ(fixed.limits.roofline_cycles(256 * 1000, fixed.layers[0].traffic), 1000);
  EXPECT_EQ(fixed.limits.roofline_cycles(256 * 100, fixed.layers[1].traffic), 500);
  MemoryModel slow;
  slow.beat_interval = 4;
  EXPECT_EQ(machine_limits(fixed.hardware, slow).bytes_per_cycle, 4);
}

TEST(NetworkTiming, TotalsAreSumsOfLayers) {
  const NetworkTiming timing = two_layers();
  EXPECT_EQ(timing.cycles(), 3000u);
  EXPECT_EQ(timing.ideal_cycles(), 1100);
  EXPECT_EQ(timing.roofline_cycles(), 1500);
  EXPECT_DOUBLE_EQ(timing.share_of_peak(), 1100.0 / 3000);
  EXPECT_EQ(timing.traffic().total(), 24000u);
  EXPECT_EQ(timing.caused()[size_t(CycleCause::kLoad)], 1000u);
  LayerTiming half = timing.layers[0];
  EXPECT_EQ(timing.array_fill(half), 0);
  half.gemm_uops = 2000;
  EXPECT_EQ(timing.array_fill(half), 0.5);
}

TEST(NetworkTiming, TheTableHasALinePerLayerAndTheTotal) {
  const std::string text = to_string(two_layers());
  EXPECT_NE(text.find("two on machine at 100 MHz: at best 256 MACs and 16 bytes each way per cycle"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("50.0%"), std::string::npos) << text;
  EXPECT_NE(text.find("3000 cycles, 0.030 ms: 36.7% of peak, 50.0% of the roofline; 24000 bytes moved"),
            std::string::npos)
      << text;
}

size_t count(const std::string& text, const std::string& part) {
  size_t number = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++number;
  return number;
}

TEST(Roofline, EveryLayerIsMarkedAndListed) {
  NetworkTiming timing = two_layers();
  LayerTiming pool = layer("pool & more", 0, 3000, 3100, CycleCause::kAlu);
  timing.layers.push_back(pool);
  const std::string svg = roofline_svg(timing);
  EXPECT_EQ(svg.rfind("<?xml", 0), 0u);
  EXPECT_EQ(count(svg, "<title>"), 1u + 2u) << svg;  // the document's, and a tooltip per mark
  EXPECT_EQ(count(svg, "<circle"), 2u + overlay::kCycleCauses);
  EXPECT_NE(svg.find("256 MACs per cycle (25.6 GMAC/s at 100 MHz)"), std::string::npos);
  EXPECT_NE(svg.find("16 bytes per cycle"), std::string::npos);
  EXPECT_NE(svg.find("1  fast  50%"), std::string::npos);
  EXPECT_NE(svg.find("3  pool &amp; more  (no MACs)"), std::string::npos);
}

TEST(Roofline, MarksInOnePlaceShareALabel) {
  NetworkTiming timing = two_layers();
  timing.layers.push_back(timing.layers[0]);
  const std::string svg = roofline_svg(timing);
  EXPECT_EQ(count(svg, "<title>"), 1u + 2u);
  EXPECT_NE(svg.find(">1,3</text>"), std::string::npos) << svg;
}

TEST(Explain, NamesTheBestMeasuredChanges) {
  Explanation explanation;
  explanation.base = two_layers();
  explanation.trials.push_back({"memory port of 256 bits", true, "", {2000, 600}, {}});
  explanation.trials.push_back({"half the rows", false, "", {1500, Trial::kNotTried}, {"rows 8 -> 4", ""}});
  explanation.trials.push_back({"twice the rows", false, "", {2500, 990}, {"rows 8 -> 16", "rows 4 -> 8"}});
  explanation.trials.push_back({"input buffer of 64 KiB", true, "the encoding is full", {}, {}});
  EXPECT_EQ(explanation.saved(explanation.trials[0], 1), 400);
  EXPECT_EQ(explanation.saved(explanation.trials[0]), 400);
  EXPECT_EQ(explanation.saved(explanation.trials[1], 1), 0);
  EXPECT_EQ(explanation.saved(explanation.trials[2], 0), -500);
  ASSERT_EQ(explanation.best(0, 3).size(), 1u);
  EXPECT_EQ(explanation.best(0, 3)[0], &explanation.trials[1]);
  ASSERT_EQ(explanation.best(1, 3).size(), 2u);
  EXPECT_EQ(explanation.best(1, 1)[0], &explanation.trials[0]);
  EXPECT_EQ(explanation.saved_by_schedules(), 510);
  const std::string text = to_string(explanation);
  EXPECT_NE(text.find("rows 8 -> 4: -25.0%"), std::string::npos) << text;
  EXPECT_NE(text.find("memory port of 256 bits: -40.0%; rows 4 -> 8: -1.0%"), std::string::npos) << text;
  EXPECT_NE(text.find("the best neighbouring schedule of every layer saves 510 cycles, 17.0%"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("not possible: the encoding is full"), std::string::npos) << text;
}

}  // namespace
}  // namespace tilewright
