// Bundles that do not say everything.
#include "tilewright/flow/tune/tuning.h"

#include <gtest/gtest.h>

#include "tilewright/flow/explore/exploration_testing.h"

namespace tilewright {
namespace {

// A layer without a schedule runs with the default one: that is what tuning starts from, and is as fast as.
TEST(NetworkTuning, LayersMayHaveNoSchedule) {
  const Bundle whole = small_network();
  Bundle part = whole;
  part.schedules.erase("second");
  part.schedules.erase("fourth");
  NetworkTuneOptions options;
  options.search = "random";
  options.trials = 3;
  const NetworkTuning expected = tune_network(whole, options), tuned = tune_network(part, options);
  EXPECT_EQ(tuned.before.cycles(), expected.before.cycles());
  EXPECT_EQ(tuned.after.cycles(), expected.after.cycles());
  EXPECT_EQ(tuned.bundle.schedules, expected.bundle.schedules);
  ASSERT_EQ(tuned.layers.size(), expected.layers.size());
  for (size_t l = 0; l < tuned.layers.size(); ++l)
    EXPECT_EQ(tuned.layers[l].before, expected.layers[l].before);
}

}  // namespace
}  // namespace tilewright
