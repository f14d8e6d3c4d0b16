// The quantised models of the shared folder with every integer operator run by its reference kernel: the
// outputs are those that ONNX Runtime stored, bit for bit.
#include <gtest/gtest.h>

#include <cstdio>

#include "outside.h"
#include "reference_node.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class ReferenceQdq : public ::testing::TestWithParam<const char*> {};

TEST_P(ReferenceQdq, GivesTheStoredOutputs) {
  const fs::path base = outside_models() / "onnx_from_tflite" / GetParam();
  if (!fs::exists(base.string() + ".onnx")) GTEST_SKIP() << "no " << base;
  const Graph graph = integerize(optimize(read_onnx(base.string() + ".onnx")));
  std::vector<Tensor> values(graph.values.size());
  values[size_t(graph.inputs[0])] = read_npy(base.string() + ".ref.in0.npy");
  int reference_nodes = 0, other_integer_nodes = 0;
  for (const Node& node : graph.nodes) {
    std::vector<Tensor> inputs;
    for (const ValueId id : node.inputs)
      inputs.push_back(graph.is_constant(id) ? *graph.value(id).constant : values[size_t(id)]);
    std::optional<Tensor> output = run_reference(node, inputs);
    if (output) {
      ++reference_nodes;
    } else {
      // Borders and movement of data: float operators, reshapes.
      EXPECT_NE(node.domain, kTilewrightDomain) << node.op << " has no reference kernel";
      other_integer_nodes += node.is("MaxPool") ? 1 : 0;
      std::vector<const Tensor*> pointers;
      for (const Tensor& input : inputs) pointers.push_back(&input);
      output = evaluate(graph, node, pointers)[0];
    }
    values[size_t(node.outputs[0])] = *output;
  }
  EXPECT_EQ(other_integer_nodes, 0);
  EXPECT_GE(reference_nodes, 10);
  std::printf("%s: %d nodes by reference kernels\n", GetParam(), reference_nodes);
  EXPECT_TRUE(values[size_t(graph.outputs[0])].identical(read_npy(base.string() + ".ref.out0.npy")));
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
