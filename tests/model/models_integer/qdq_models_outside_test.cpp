// Quantised networks of others (TFLite networks in QDQ form) on the integer path, against the
// outputs that ONNX Runtime stored beside them. Its integer kernels round half to even and ours half up, so a
// network agrees bit for bit unless a sum lands on a boundary; where that happens the steps are stated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "model/models_integer/layer_comparison.h"
#include "support/outside_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

struct QdqCase {
  const char* model;
  int max_steps;  // largest difference of an output, in steps of its quantisation
};
void PrintTo(const QdqCase& c, std::ostream* out) { *out << c.model; }

class QdqModels : public ::testing::TestWithParam<QdqCase> {};

fs::path file_of(const char* model, const std::string& suffix) {
  return outside_models() / "onnx_from_tflite" / (std::string(model) + suffix);
}

// The scale of the DequantizeLinear that makes the output.
double output_step(const Graph& graph) {
  ValueId id = graph.outputs[0];
  const std::vector<NodeId> producers = graph.producers();
  while (producers[size_t(id)] != kNoNode) {
    const Node& node = graph.nodes[size_t(producers[size_t(id)])];
    if (node.is("DequantizeLinear")) return graph.constant_input(node, 1)->number_at(0);
    id = node.input(0);
  }
  return 0;
}

void expect_close(const Tensor& actual, const Tensor& expected, double step, int max_steps,
                  const char* what) {
  ASSERT_EQ(actual.shape(), expected.shape());
  double worst = 0;
  int different = 0;
  for (int64_t i = 0; i < actual.size(); ++i) {
    const double difference = std::abs(actual.number_at(i) - expected.number_at(i));
    worst = std::max(worst, difference);
    different += difference != 0 ? 1 : 0;
  }
  std::printf("%s: %d of %lld outputs differ, by at most %.2f steps\n", what, different,
              static_cast<long long>(actual.size()), step == 0 ? worst : worst / step);
  if (max_steps == 0) {
    EXPECT_TRUE(actual.identical(expected));
  } else {
    ASSERT_GT(step, 0);
    EXPECT_LE(worst, (max_steps + 0.01) * step);
  }
}

TEST_P(QdqModels, IntegerPathGivesTheStoredOutputs) {
  const QdqCase& c = GetParam();
  const Graph source = read_onnx(file_of(c.model, ".onnx"));
  const Tensor input = read_npy(file_of(c.model, ".ref.in0.npy"));
  const Tensor stored = read_npy(file_of(c.model, ".ref.out0.npy"));
  IntegerizeReport report;
  const Graph integer = integerize(optimize(source), &report);
  EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
  for (const int threads : {1, 3}) {
    const Tensor output = run(integer, {input}, {threads})[0];
    expect_close(output, stored, output_step(source), c.max_steps, c.model);
  }
}

TEST_P(QdqModels, EveryLayerIsTheFloatLayerOnTheSameInputs) {
  expect_layers_of_float(read_onnx(file_of(GetParam().model, ".onnx")),
                         read_npy(file_of(GetParam().model, ".ref.in0.npy")));
}

std::string case_name(const ::testing::TestParamInfo<QdqCase>& info) {
  std::string name = info.param.model;
  for (char& letter : name) letter = letter == '.' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Shared, QdqModels,
                         ::testing::Values(QdqCase{"kws_dscnn_qdq", 0}, QdqCase{"vww_mobilenet_qdq", 0},
                                           QdqCase{"ad_autoencoder_qdq", 0},
                                           QdqCase{"mobilenet_v1_0.25_128_qdq", 0},
                                           QdqCase{"mobilenet_v2_1.0_224_qdq", 0},
                                           QdqCase{"ic_resnet8_qdq", 0}),
                         case_name);

}  // namespace
}  // namespace tilewright
