// Every stage of the passes is a valid ONNX file: written, checked by the reader and read back, it is the
// same graph.
#include <gtest/gtest.h>

#include "model_files.h"
#include "tilewright/frontend/onnx/graph_equality_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/transform/pipeline.h"
#include "tilewright/transform/random_graph.h"

namespace tilewright {
namespace {

int check_every_stage(const Graph& graph) {
  int stages = 0;
  optimize(graph, nullptr, [&](const std::string& pass, const Graph& after) {
    EXPECT_EQ(describe_difference(after, parse_onnx(format_onnx(after))), "") << pass;
    ++stages;
  });
  return stages;
}

TEST(DumpedPasses, OfRandomGraphs) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    EXPECT_GE(check_every_stage(random_graph(seed)), int(pass_names().size()));
  }
}

TEST(DumpedPasses, OfModels) {
  int models = 0;
  for (const char* model : {"onnx_mnist8/model.onnx", "onnx_from_tflite/ic_resnet8_qdq.onnx",
                            "dory_frontnet/Frontnet.onnx", "onnx_ultraface/ultraface_rfb320.onnx"}) {
    if (!std::filesystem::exists(models_folder() / model)) continue;
    SCOPED_TRACE(model);
    check_every_stage(read_onnx(models_folder() / model));
    ++models;
  }
  if (models == 0) GTEST_SKIP() << "no shared models";
}

}  // namespace
}  // namespace tilewright
