// Weight-less models filled by the LCG rule, run on the host and held against the stored outputs of ONNX
// Runtime.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "support/outside_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/graph/lcg_weights.h"
#include "tilewright/host/executor.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

struct LcgModel {
  const char* file;
  const char* reference;  // .ref.in0.npy, .ref.out0.npy beside it
  LcgOrder order;
};
void PrintTo(const LcgModel& c, std::ostream* out) { *out << c.file; }

class LcgModels : public testing::TestWithParam<LcgModel> {};

double largest(const Tensor& tensor) {
  double result = 0;
  for (const float value : tensor.to_floats()) result = std::max(result, std::abs(double(value)));
  return result;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<float> x = a.to_floats(), y = b.to_floats();
  double result = 0;
  for (size_t i = 0; i < x.size(); ++i) result = std::max(result, std::abs(double(x[i]) - double(y[i])));
  return result;
}

TEST_P(LcgModels, GiveTheStoredOutputs) {
  const fs::path models = outside_models();
  const std::string reference = (models / GetParam().reference).string();
  OnnxOptions options;
  options.allow_missing_weights = true;
  Graph graph = read_onnx(models / GetParam().file, options);
  const auto gain = lcg_gain_of(GetParam().file);
  ASSERT_TRUE(gain.has_value());
  graph = fill_lcg_weights(std::move(graph), {*gain, GetParam().order});

  // The tensor before the softmax as a second output: after it, differences hide.
  if (fs::exists(reference + ".ref.out1.npy")) {
    for (const Node& node : graph.nodes) {
      if (node.is("Softmax")) graph.outputs.push_back(node.inputs[0]);
    }
  }
  LcgStream stream(1);
  const Value& input = graph.value(graph.inputs.at(0));
  const Tensor x = lcg_input(input.type, input.shape, stream);
  EXPECT_TRUE(x.identical(read_npy(reference + ".ref.in0.npy")));
  const std::vector<Tensor> outputs = run(graph, {x});
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor expected = read_npy(reference + ".ref.out" + std::to_string(i) + ".npy");
    ASSERT_EQ(outputs[i].size(), expected.size());
    EXPECT_LE(largest_difference(outputs[i], expected), 1e-4 * largest(expected)) << "output " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shared, LcgModels,
    testing::Values(LcgModel{"onnx_light_topologies/light_squeezenet.onnx",
                             "onnx_light_topologies/light_squeezenet.lcg", LcgOrder::kConstantOfShape},
                    LcgModel{"onnx_light_topologies/light_inception_v1.onnx",
                             "onnx_light_topologies/light_inception_v1.lcg", LcgOrder::kConstantOfShape},
                    LcgModel{"onnx_light_topologies/light_resnet50.onnx",
                             "onnx_light_topologies/light_resnet50.lcg", LcgOrder::kConstantOfShape},
                    LcgModel{"onnx_shape_only/resnet18_noweights.onnx", "onnx_shape_only/resnet18.lcg",
                             LcgOrder::kConstants}),
    [](const auto& test) { return std::filesystem::path(test.param.file).stem().string(); });

}  // namespace
}  // namespace tilewright
