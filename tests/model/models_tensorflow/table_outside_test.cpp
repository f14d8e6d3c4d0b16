// The table of stages says what the paper's Table I and Fig. 4 say of ResNet-50.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/outside_testing.h"
#include "table_rows.h"

namespace tilewright {
namespace {

TEST(GraphTable, OfficialResNet50) {
  const auto file = outside_models() / "tf_resnet50_official/saved_model.pb";
  LoadOptions options;
  options.allow_missing_weights = true;
  const GraphTable table = graph_table(file, options);
  auto rows = by_stage(table);
  EXPECT_EQ(rows["stored"].nodes, 2034);
  EXPECT_EQ(rows["reachable"].nodes, 735);
  EXPECT_EQ(rows["frozen"].nodes, 460);  // as in the paper
  EXPECT_EQ(rows["frozen"].normalizations, 53);
  EXPECT_TRUE(rows["frozen"].needs_rsqrt() && rows["frozen"].needs_scale());
  EXPECT_TRUE(!rows["constants folded"].needs_rsqrt() && rows["constants folded"].needs_scale());
  EXPECT_TRUE(!rows["normalisation folded"].needs_rsqrt() && !rows["normalisation folded"].needs_scale());
  EXPECT_EQ(rows["constants folded"].normalizations, 0);
  EXPECT_EQ(rows["constants folded"].scales, 53);
  EXPECT_EQ(rows["normalisation folded"].scales, 0);
  EXPECT_EQ(rows["fused"].random + rows["fused"].moving_averages + rows["fused"].rsqrts, 0);
  EXPECT_LT(rows["fused"].operators, 60);
  for (size_t i = 1; i < table.rows.size(); ++i) {
    EXPECT_LT(table.rows[i].nodes, table.rows[i - 1].nodes) << table.rows[i].stage;
  }
  EXPECT_EQ(layers(table), (Counts{{"Conv 7x7 stride 2", 1},
                                   {"Conv 1x1 stride 1", 33},
                                   {"Conv 1x1 stride 2", 3},
                                   {"Conv 3x3 stride 1", 13},
                                   {"Conv 3x3 stride 2", 3},
                                   {"Gemm", 1},
                                   {"Add in a layer", 16}}));
  EXPECT_GT(table.intensity_gain(), 2);
  EXPECT_GT(table.activation_gain(), 2.55);
  EXPECT_GT(table.frozen_unfused, table.constants_folded_unfused);  // a factor and a summand apart
  EXPECT_NEAR(table.gain_from_constants_folded(), 2.46, 0.01);
  options.dimensions["input.0"] = 64;  // as the file declares
  EXPECT_GT(graph_table(file, options).intensity_gain(), 2.55);
}

}  // namespace
}  // namespace tilewright
