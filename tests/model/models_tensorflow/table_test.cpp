// The table of stages says what the paper's Table I and Fig. 4 say of ResNet-50.
#include <gtest/gtest.h>

#include "model/models_tensorflow/graphdef_twin.h"
#include "table_rows.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

TEST(GraphTable, TheVariantOfThePaper) {
  TfStages stages;
  const Graph twin = parse_tensorflow(graphdef_twin(zoo::resnet50({})), {}, nullptr, &stages);
  const GraphTable table = graph_table(twin, &stages);
  auto rows = by_stage(table);
  EXPECT_GT(rows["stored"].random, 0);
  EXPECT_GT(rows["stored"].rsqrts, 0);
  EXPECT_GT(rows["stored"].moving_averages, 0);
  EXPECT_EQ(rows["frozen"].random, 0);
  EXPECT_EQ(rows["constants folded"].rsqrts, 0);
  EXPECT_EQ(rows["fused"].rsqrts + rows["fused"].scales + rows["fused"].moving_averages, 0);
  EXPECT_EQ(layers(table), (Counts{{"Conv 7x7 stride 2", 1},
                                   {"Conv 1x1 stride 1", 30},
                                   {"Conv 1x1 stride 2", 6},
                                   {"Conv 3x3 stride 1", 16},
                                   {"Gemm", 1},
                                   {"Add in a layer", 16}}));
  EXPECT_GT(table.intensity_gain(), 2.55);
  EXPECT_NEAR(table.gain_from_constants_folded(), 2.55, 0.03);  // the paper's figure, within 1%
}

TEST(GraphTable, OtherFilesBeginAsTheyAreRead) {
  const GraphTable table = graph_table(zoo::mobilenet_v1(zoo::network("mobilenet_v1").small));
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0].stage, "as read");
  EXPECT_EQ(table.rows[0].normalizations, 27);
  EXPECT_EQ(table.fused_operators.at("Conv depthwise 3x3 stride 1"), 9);
  EXPECT_EQ(table.fused_operators.at("Conv depthwise 3x3 stride 2"), 4);
  const std::string text = to_string(table);
  EXPECT_NE(text.find("normalisation folded"), std::string::npos) << text;
  EXPECT_NE(text.find("9 x Conv depthwise 3x3 stride 1"), std::string::npos) << text;
}

}  // namespace
}  // namespace tilewright
