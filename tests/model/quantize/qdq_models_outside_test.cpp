// The quantised twins of the TFLite models, lowered to integers, against the outputs that ONNX Runtime
// computed for them.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "model_data.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/graph/inference/verifier.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

struct QdqModel {
  const char* name;
  int allowed_steps;  // of the output scale
};
void PrintTo(const QdqModel& c, std::ostream* out) { *out << c.name; }

class QdqModels : public testing::TestWithParam<QdqModel> {};

// The scale of the last DequantizeLinear.
double output_scale(const Graph& graph) {
  double scale = 0;
  for (const Node& node : graph.nodes) {
    if (node.is("DequantizeLinear") && !graph.is_constant(node.input(0))) {
      scale = graph.constant_input(node, 1)->number_at(0);
    }
  }
  return scale;
}

void compare(const Graph& qdq, const std::filesystem::path& stem, int allowed_steps) {
  IntegerizeReport report;
  const Graph integer = integerize(qdq, &report);
  Diagnostics problems;
  verify(integer, problems);
  ASSERT_TRUE(problems.ok()) << to_string(problems.errors()[0]);
  EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
  const Tensor expected = read_npy(stem.string() + ".ref.out0.npy");
  const Tensor actual = run(integer, {read_npy(stem.string() + ".ref.in0.npy")})[0];
  ASSERT_EQ(actual.shape(), expected.shape());
  const double scale = output_scale(qdq);
  int64_t different = 0;
  double largest = 0;
  for (int64_t i = 0; i < actual.size(); ++i) {
    const double steps = std::round((actual.number_at(i) - expected.number_at(i)) / scale);
    different += steps != 0;
    largest = std::max(largest, std::fabs(steps));
  }
  std::cout << stem.filename().string() << ": " << different << " of " << actual.size()
            << " outputs differ, by at most " << largest << " steps\n";
  EXPECT_LE(largest, allowed_steps);
  EXPECT_TRUE(allowed_steps > 0 || actual.identical(expected));
}

TEST_P(QdqModels, IntegersEqualTheStoredOutputs) {
  const auto folder = shared_models() / "onnx_from_tflite";
  const Graph qdq = read_onnx(folder / (std::string(GetParam().name) + ".onnx"));
  compare(qdq, folder / GetParam().name, GetParam().allowed_steps);
  compare(optimize(qdq), folder / GetParam().name, GetParam().allowed_steps);
}

INSTANTIATE_TEST_SUITE_P(Stored, QdqModels,
                         testing::Values(QdqModel{"ad_autoencoder_qdq", 0}, QdqModel{"kws_dscnn_qdq", 0},
                                         QdqModel{"vww_mobilenet_qdq", 0},
                                         QdqModel{"mobilenet_v1_0.25_128_qdq", 0},
                                         QdqModel{"mobilenet_v2_1.0_224_qdq", 0},
                                         QdqModel{"ic_resnet8_qdq", 2}),
                         [](const auto& model) {
                           std::string name = model.param.name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace tilewright
