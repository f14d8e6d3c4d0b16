// The quantised networks of others with every integer operator run by its reference kernel: the
// outputs are those that ONNX Runtime stored, bit for bit.
#include <gtest/gtest.h>

#include "reference_node.h"
#include "support/outside_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class ReferenceQdq : public ::testing::TestWithParam<const char*> {};

TEST_P(ReferenceQdq, GivesTheStoredOutputs) {
  const fs::path base = outside_models() / "onnx_from_tflite" / GetParam();
  const Graph graph = integerize(optimize(read_onnx(base.string() + ".onnx")));
  const Tensor output = run_by_reference(graph, read_npy(base.string() + ".ref.in0.npy"), 10);
  EXPECT_TRUE(output.identical(read_npy(base.string() + ".ref.out0.npy")));
}

std::string case_name(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  for (char& letter : name) letter = letter == '.' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Shared, ReferenceQdq,
                         ::testing::Values("kws_dscnn_qdq", "vww_mobilenet_qdq", "ad_autoencoder_qdq",
                                           "mobilenet_v1_0.25_128_qdq", "mobilenet_v2_1.0_224_qdq",
                                           "ic_resnet8_qdq"),
                         case_name);

}  // namespace
}  // namespace tilewright
