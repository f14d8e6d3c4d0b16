// The quantised models of the shared folder (TFLite networks in QDQ form) on the integer path, against the
// outputs that ONNX Runtime stored beside them. Its integer kernels round half to even and ours half up, so a
// network agrees bit for bit unless a sum lands on a boundary; where that happens the steps are stated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "outside.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

struct QdqCase {
  const char* model;
  int max_steps;  // largest difference of an output, in steps of its quantisation
};

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
  if (!fs::exists(file_of(c.model, ".onnx"))) GTEST_SKIP() << "no " << c.model;
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

// How many of the quantised values of one layer differ between the two paths, and by how much.
struct LayerDifference {
  int64_t elements = 0, different = 0, worst = 0;
};

// Runs the source graph in float, node by node. Where the integer path has a value of the same name, the
// float result is compared with it and then replaced by it, so that each layer is compared on the same
// inputs.
std::map<std::string, LayerDifference> compare_layers(const Graph& source, const Graph& integer,
                                                      const Tensor& input) {
  std::map<std::string, Tensor> exact;
  const Executor executor(integer);
  executor.run({input}, [&](ValueId id, const Tensor& t) { exact[executor.graph().value(id).name] = t; });
  std::map<std::string, LayerDifference> layers;
  std::vector<Tensor> values(source.values.size());
  values[size_t(source.inputs[0])] = input;
  for (const Node& node : source.nodes) {
    std::vector<const Tensor*> inputs;
    for (int i = 0; i < int(node.inputs.size()); ++i) {
      const Tensor* constant = source.constant_input(node, i);
      inputs.push_back(constant != nullptr ? constant : &values[size_t(node.inputs[size_t(i)])]);
    }
    Tensor output = evaluate(source, node, inputs)[0];
    const auto found = exact.find(source.value(node.outputs[0]).name);
    if (node.is("QuantizeLinear") && found != exact.end()) {
      // The integer path holds u8 values shifted to i8.
      const int64_t shift =
          output.type() == ElementType::kU8 && found->second.type() == ElementType::kI8 ? 128 : 0;
      LayerDifference& layer = layers[found->first];
      layer.elements = output.size();
      for (int64_t i = 0; i < output.size(); ++i) {
        const int64_t value = found->second.integer_at(i) + shift;
        const int64_t difference = std::abs(value - output.integer_at(i));
        layer.different += difference != 0 ? 1 : 0;
        layer.worst = std::max(layer.worst, difference);
        output.set_integer(i, value);
      }
    }
    values[size_t(node.outputs[0])] = std::move(output);
  }
  return layers;
}

// Half up against half even, and float sums against exact ones: a layer may differ by one step, in few
// places.
TEST_P(QdqModels, EveryLayerIsTheFloatLayerOnTheSameInputs) {
  const QdqCase& c = GetParam();
  if (!fs::exists(file_of(c.model, ".onnx"))) GTEST_SKIP() << "no " << c.model;
  const Graph source = read_onnx(file_of(c.model, ".onnx"));
  const Graph integer = integerize(optimize(source));
  const auto layers = compare_layers(source, integer, read_npy(file_of(c.model, ".ref.in0.npy")));
  const auto quantize_nodes = std::count_if(source.nodes.begin(), source.nodes.end(),
                                            [](const Node& node) { return node.is("QuantizeLinear"); });
  EXPECT_GE(int64_t(layers.size()), quantize_nodes - 3) << "too few layers have a name in both graphs";
  int64_t elements = 0, different = 0;
  for (const auto& [name, layer] : layers) {
    EXPECT_LE(layer.worst, 1) << name;
    EXPECT_LE(double(layer.different), 2 + 0.03 * double(layer.elements)) << name;
    elements += layer.elements;
    different += layer.different;
  }
  std::printf("%s: %zu layers, %lld of %lld values differ by one step\n", c.model, layers.size(),
              static_cast<long long>(different), static_cast<long long>(elements));
  EXPECT_LE(double(different), 2e-3 * double(elements));
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
