// Networks of others survive the writer.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/frontend/graph_equality_testing.h"
#include "support/outside_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

TEST(OnnxWriter, NetworksOfOthersSurvive) {
  const fs::path models = outside_models();
  for (const char* file :
       {"onnx_from_tflite/ic_resnet8_qdq.onnx", "onnx_ultraface/ultraface_rfb320.onnx",
        "dory_frontnet/Frontnet.onnx", "onnx_seeded/fast_style_seeded_224.onnx",
        "onnx_squeezenet10/squeezenet1.0_fp16.onnx", "onnx_light_topologies/light_resnet50.onnx"}) {
    const Graph graph = read_onnx(models / file);
    EXPECT_EQ(describe_difference(graph, parse_onnx(format_onnx(graph))), "") << file;
  }
}

}  // namespace
}  // namespace tilewright
