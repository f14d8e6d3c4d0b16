// What is recognised in a published transformer: KWT-1, as TFLite's converter wrote it.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "model_files.h"
#include "tilewright/frontend/tflite/tflite_reader.h"
#include "tilewright/transform/attention.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

TEST(Transformers, NormsAndAttentionsOfKwt1) {
  const Graph graph = read_tflite(models_folder() / "tflite_kwt1" / "kwt1.tflite");
  const Graph simple = optimize(graph);
  std::map<std::string, int> counts;
  for (const Node& node : simple.nodes) ++counts[node.op];
  EXPECT_EQ(counts["LayerNormalization"], 24);  // two per block
  EXPECT_EQ(counts["ReduceMean"] + counts["GlobalAveragePool"], 0);
  EXPECT_EQ(counts["Sqrt"], 1);  // of the spectrum
  for (const Graph* form : {&graph, &simple}) {
    const std::vector<Attention> all = find_attention(*form);
    ASSERT_EQ(all.size(), 12u);
    for (const Attention& a : all) {
      EXPECT_EQ(a.reason, "");
      EXPECT_EQ(a.heads, 1);
      EXPECT_EQ(a.width, 64);
      EXPECT_EQ(a.queries, 99);
      EXPECT_EQ(a.keys, 99);
      EXPECT_NEAR(a.scale, 0.125, 1e-6);
      EXPECT_EQ(a.mask, kNoValue);
      for (const ValueId part : {a.q, a.k, a.v}) {
        const NodeId maker = form->producers()[size_t(part)];
        ASSERT_NE(maker, kNoNode);
        EXPECT_TRUE(form->nodes[size_t(maker)].is("Gemm"));  // the projections
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
