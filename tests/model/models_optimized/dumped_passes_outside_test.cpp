// Every stage of the passes is a valid ONNX file: written, checked by the reader and read back, it is the
// same graph.
#include <gtest/gtest.h>

#include "model_files.h"
#include "support/frontend/graph_equality_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

void check_every_stage(const Graph& graph) {
  optimize(graph, nullptr, [&](const std::string& pass, const Graph& after) {
    EXPECT_EQ(describe_difference(after, parse_onnx(format_onnx(after))), "") << pass;
  });
}

TEST(DumpedPasses, OfModels) {
  for (const char* model : {"onnx_mnist8/model.onnx", "onnx_from_tflite/ic_resnet8_qdq.onnx",
                            "dory_frontnet/Frontnet.onnx", "onnx_ultraface/ultraface_rfb320.onnx"}) {
    SCOPED_TRACE(model);
    check_every_stage(read_onnx(models_folder() / model));
  }
}

}  // namespace
}  // namespace tilewright
