#include "tilewright/pipeline/allocate/width_options.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/pipeline/network_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/pipeline/allocate/stage_options.h"
#include "tilewright/pipeline/network/narrow_scales.h"

namespace tilewright::pipeline {
namespace {

using synthesis::Resources;

Budget large_part() {
  Budget budget;
  budget.resources = {200'000, 400'000, 0, 900, 900, 0};
  return budget;
}

int64_t least(const std::vector<Resources>& needs, int64_t Resources::*resource) {
  int64_t result = INT64_MAX;
  for (const Resources& need : needs) result = std::min(result, need.*resource);
  return result;
}

// All layers at 8 bits are the stages that the allocator knows, before and after others were asked for;
// narrower numbers never need more blocks or memories, nor more tables by more than the error of the fit.
TEST(WidthOptions, EightBitsAreTheNetworkAndFewerNeedLess) {
  Random random(test_seed());
  int compared = 0, fewer = 0;
  for (int i = 0; i < 6; ++i) {
    SCOPED_TRACE("seed " + std::to_string(test_seed()) + ", case " + std::to_string(i));
    Network network = random_network(random.next());
    narrow_scales(network);  // as all that were read from files
    const Budget budget = large_part();
    const Judge judge(budget, Objective::kThroughput);
    const std::vector<LayerFacts> facts = network_facts(network);
    const Allocation frame = blank_stages(network, budget, false);
    WidthOptions options(network, budget, std::vector<double>(network.layers.size(), 1e5));
    for (size_t l = 0; l < network.layers.size(); ++l) {
      const std::vector<StageOption> known = stage_options(network, facts, frame, l, judge, true, 1e5);
      const StageWidths narrow{int(random.between(2, 7)), int(random.between(2, 7)),
                               int(random.between(2, 7))};
      const std::vector<Resources> before = options.needs(l, {}), less = options.needs(l, narrow);
      EXPECT_EQ(options.needs(l, {}), before);
      ASSERT_EQ(before.empty(), known.empty());
      if (before.empty()) continue;
      for (const auto resource : {&Resources::lut, &Resources::dsp, &Resources::bram}) {
        int64_t own = INT64_MAX;
        for (const StageOption& option : known) own = std::min(own, option.resources.*resource);
        EXPECT_LE(least(before, resource), own);  // the first layer may also be unrolled
        if (network.layers[l].input != network.input) {
          EXPECT_EQ(least(before, resource), own);
        }
      }
      EXPECT_LE(least(less, &Resources::bram), least(before, &Resources::bram));
      EXPECT_LE(least(less, &Resources::dsp), least(before, &Resources::dsp));
      // A narrow element may need a product where the wide one's scale is a shift.
      EXPECT_LE(double(least(less, &Resources::lut)), 1.25 * double(least(before, &Resources::lut)) + 150);
      ++compared;
      fewer += least(less, &Resources::lut) < least(before, &Resources::lut) ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 5);
  EXPECT_GE(2 * fewer, compared);
}

}  // namespace
}  // namespace tilewright::pipeline
