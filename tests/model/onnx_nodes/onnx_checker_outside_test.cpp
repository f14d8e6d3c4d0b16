// What the writer produces, held against the ONNX library's own checker and shape inference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "model/onnx_nodes/checker_comparison.h"
#include "support/outside_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class OnnxChecker : public testing::TestWithParam<const char*> {};

TEST_P(OnnxChecker, AcceptsWhatTheWriterMakes) {
  const fs::path file = outside_models() / GetParam();
  OnnxOptions options;
  options.allow_missing_weights = true;
  options.dimensions["batch_size"] = 1;
  const Graph graph = read_onnx(file, options);
  expect_accepted_by_checker(graph);
}

INSTANTIATE_TEST_SUITE_P(
    SharedModels, OnnxChecker,
    testing::Values("onnx_from_tflite/ic_resnet8_qdq.onnx", "onnx_from_tflite/kws_dscnn_fp32.onnx",
                    "onnx_mnist8/model.onnx", "onnx_seeded/dcgan_generator_seeded.onnx",
                    "onnx_seeded/fast_style_seeded_224.onnx", "onnx_light_topologies/light_inception_v1.onnx",
                    "onnx_light_topologies/light_resnet50.onnx", "onnx_shape_only/mobilenetv2_noweights.onnx",
                    "onnx_squeezenet10/squeezenet1.0_fp16.onnx", "onnx_super_resolution10/model.onnx",
                    "onnx_ultraface/ultraface_rfb320.onnx"),
    [](const auto& test) {
      std::string name = test.param;
      std::replace_if(
          name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

}  // namespace
}  // namespace tilewright
