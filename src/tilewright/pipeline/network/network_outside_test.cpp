// Networks of others, extracted and evaluated layer by layer, against the host engine on the same graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "support/outside_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/pipeline/network/network.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright::pipeline {
namespace {

Graph integer_model(const std::string& name) {
  const std::filesystem::path path = outside_models() / name;
  return integerize(optimize(read_onnx(path)));
}

// Runs `graph` between its border values with the network in the middle, and as a whole.
void expect_same_outputs(const Graph& graph, const Network& network, uint64_t seed) {
  Random random(seed);
  std::vector<Tensor> inputs;
  for (ValueId id : graph.inputs) {
    Tensor x(graph.value(id).type, graph.value(id).shape);
    for (int64_t i = 0; i < x.size(); ++i) x.set_number(i, 2 * random.uniform() - 1);
    inputs.push_back(x);
  }
  const std::vector<Tensor> expected = Executor(graph).run(inputs);
  const Tensor border = Executor(network.before).run(inputs)[0];
  const TensorShape shape = network.tensors[size_t(network.input)].shape;
  std::vector<int32_t> image(size_t(shape.elements()));
  for (int64_t p = 0; p < shape.rows * shape.columns; ++p) {
    for (int64_t c = 0; c < shape.channels; ++c) {
      image[size_t(p * shape.channels + c)] = int32_t(border.integer_at(c * shape.rows * shape.columns + p));
    }
  }
  const std::vector<int32_t> result = evaluate(network, image)[size_t(network.output)];
  const ValueId out = network.behind.inputs[0];
  const TensorShape last = network.tensors[size_t(network.output)].shape;
  Tensor y(network.behind.value(out).type, network.behind.value(out).shape);
  for (int64_t p = 0; p < last.rows * last.columns; ++p) {
    for (int64_t c = 0; c < last.channels; ++c) {
      y.set_integer(c * last.rows * last.columns + p, result[size_t(p * last.channels + c)]);
    }
  }
  const std::vector<Tensor> actual = Executor(network.behind).run({y});
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_TRUE(actual[i].identical(expected[i])) << i;
}

class RealNetwork : public testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(RealNetwork, EqualsTheHostEngine) {
  const auto [name, layers] = GetParam();
  const Graph graph = integer_model(name);
  const Network network = extract_network(graph);
  EXPECT_EQ(int(network.layers.size()), layers);
  expect_same_outputs(graph, network, 7);
}

INSTANTIATE_TEST_SUITE_P(Shared, RealNetwork,
                         testing::Values(std::pair("onnx_from_tflite/ic_resnet8_qdq.onnx", 11),
                                         std::pair("onnx_from_tflite/kws_dscnn_qdq.onnx", 11),
                                         std::pair("onnx_from_tflite/ad_autoencoder_qdq.onnx", 10),
                                         std::pair("onnx_from_tflite/vww_mobilenet_qdq.onnx", 29),
                                         std::pair("qonnx_tfc/TFC_1W1A.onnx", 3),
                                         std::pair("qonnx_tfc/TFC_2W2A.onnx", 3)),
                         [](const auto& test) {
                           std::string name = test.param.first;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

TEST(ExtractNetwork, NarrowTensorsAreFound) {
  const std::string name = "qonnx_tfc/TFC_1W1A.onnx";
  const Network network = extract_network(integer_model(name));
  for (const Layer& layer : network.layers) EXPECT_TRUE(layer.weight_bipolar);
  EXPECT_TRUE(network.tensors[size_t(network.layers[1].input)].bipolar);
}

}  // namespace
}  // namespace tilewright::pipeline
