// Two importers, one network: the TFLite files and their ONNX twins (QDQ form, NCHW, converted by others)
// give integer graphs whose operators compute the same bits, layer by layer.
#include <gtest/gtest.h>

#include <cstdio>

#include "support/outside_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/tflite/tflite_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/tensor/layout.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

struct TwinCase {
  const char* tflite;
  const char* onnx;
};
void PrintTo(const TwinCase& c, std::ostream* out) { *out << c.onnx; }

class Twins : public ::testing::TestWithParam<TwinCase> {};

struct Layer {
  std::string op;
  Tensor output;
};

// What the integer operators of a graph compute, in their order.
std::vector<Layer> run_layers(const Graph& graph, const Tensor& input) {
  const Executor executor(graph);
  const std::vector<NodeId> producers = executor.graph().producers();
  std::vector<Layer> layers;
  executor.run({input}, [&](ValueId id, const Tensor& tensor) {
    const NodeId producer = producers[size_t(id)];
    if (producer == kNoNode) return;
    const Node& node = executor.graph().nodes[size_t(producer)];
    if (node.domain == kTilewrightDomain) layers.push_back({node.op, tensor});
  });
  return layers;
}

// The real numbers that the twin takes for the stored integers of the TFLite input.
Tensor input_of_twin(const Graph& tflite, const Graph& twin, const Tensor& integers) {
  Tensor real(ElementType::kF32, integers.shape());
  for (const Node& node : tflite.nodes) {
    if (!node.is("DequantizeLinear") || tflite.is_constant(node.input(0))) continue;
    const float scale = tflite.constant_input(node, 1)->data<float>()[0];
    const int64_t zero = tflite.constant_input(node, 2)->integer_at(0);
    for (int64_t i = 0; i < real.size(); ++i) {
      real.set_number(i, double(scale) * double(integers.integer_at(i) - zero));
    }
    break;
  }
  if (real.shape().rank() == 4) real = nhwc_to_nchw(real);
  EXPECT_EQ(real.shape(), twin.value(twin.inputs[0]).shape);
  return real;
}

TEST_P(Twins, EveryIntegerLayerHasTheSameBits) {
  const fs::path models = outside_models();
  const fs::path tflite_file = models / (std::string(GetParam().tflite) + ".tflite");
  const fs::path onnx_file = models / "onnx_from_tflite" / (std::string(GetParam().onnx) + "_qdq.onnx");
  TfliteOptions once;  // as the ONNX file is rounded
  once.rounding = Rounding::kOnce;
  const Graph tflite = read_tflite(tflite_file, once), twin = read_onnx(onnx_file);
  const Tensor input = read_npy(models / (std::string(GetParam().tflite) + ".ref.in0.npy"));
  const auto ours = run_layers(integerize(optimize(tflite)), input);
  const auto theirs = run_layers(integerize(optimize(twin)), input_of_twin(tflite, twin, input));
  ASSERT_EQ(ours.size(), theirs.size());
  int64_t elements = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i].op, theirs[i].op) << "layer " << i;
    EXPECT_TRUE(ours[i].output.identical(theirs[i].output)) << "layer " << i << ", " << ours[i].op;
    elements += ours[i].output.size();
  }
  std::printf("%s: %zu integer layers, %lld values, all the same\n", GetParam().onnx, ours.size(),
              static_cast<long long>(elements));
  EXPECT_GT(elements, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Shared, Twins,
    ::testing::Values(TwinCase{"tflite_mlperf_tiny/ic_resnet8_int8", "ic_resnet8"},
                      TwinCase{"tflite_mlperf_tiny/kws_dscnn_int8", "kws_dscnn"},
                      TwinCase{"tflite_mlperf_tiny/vww_mobilenet_int8", "vww_mobilenet"},
                      TwinCase{"tflite_mlperf_tiny/ad_autoencoder_int8", "ad_autoencoder"},
                      TwinCase{"tflite_mobilenet/mobilenet_v1_0.25_128_uint8", "mobilenet_v1_0.25_128"},
                      TwinCase{"tflite_mobilenet/mobilenet_v2_1.0_224_uint8", "mobilenet_v2_1.0_224"}),
    [](const auto& test) {
      std::string name = test.param.onnx;
      for (char& letter : name) letter = letter == '.' ? '_' : letter;
      return name;
    });

}  // namespace
}  // namespace tilewright
