// Networks of the TensorFlow-to-FPGA paper and others in 8 bits and in Q10.22: what the pipeline's layers
// compute, formula by formula, is what the host engine computes on the lowered graph, bit for bit.
#include <gtest/gtest.h>

#include <filesystem>

#include "outside.h"
#include "tilewright/flow/load_model.h"
#include "tilewright/host/executor.h"
#include "tilewright/pipeline/network.h"
#include "tilewright/quantize/fixed_point_lowering.h"
#include "tilewright/quantize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright::pipeline {
namespace {

// NCHW integers as rows, columns, channels.
std::vector<int32_t> channels_last(const Tensor& tensor, const TensorShape& shape) {
  std::vector<int32_t> image(size_t(shape.elements()));
  const int64_t pixels = shape.rows * shape.columns;
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t c = 0; c < shape.channels; ++c) {
      image[size_t(p * shape.channels + c)] = int32_t(tensor.integer_at(c * pixels + p));
    }
  }
  return image;
}

Tensor channels_first(const std::vector<int32_t>& image, const TensorShape& shape, const Value& value) {
  Tensor tensor(value.type, value.shape);
  const int64_t pixels = shape.rows * shape.columns;
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t c = 0; c < shape.channels; ++c) {
      tensor.set_integer(c * pixels + p, image[size_t(p * shape.channels + c)]);
    }
  }
  return tensor;
}

void expect_bits_of_the_host(const Graph& graph, const Network& network) {
  const std::vector<Tensor> inputs{zoo::seeded_input(graph, 7)};
  const std::vector<Tensor> expected = run(graph, inputs);
  const Tensor border = run(network.before, inputs)[0];
  const std::vector<int32_t> image = channels_last(border, network.tensors[size_t(network.input)].shape);
  const std::vector<int32_t> result = evaluate(network, image)[size_t(network.output)];
  const Tensor y = channels_first(result, network.tensors[size_t(network.output)].shape,
                                  network.behind.value(network.behind.inputs[0]));
  const std::vector<Tensor> actual = run(network.behind, {y});
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_TRUE(actual[i].identical(expected[i])) << i;
}

void expect_both_number_types(const Graph& real, int64_t lookups) {
  const Graph graph = optimize(real);
  const auto expect_layers = [&](const Graph& lowered, NumberType number) {
    const Network network = extract_network(lowered);
    EXPECT_EQ(network.number, number);
    int64_t found = 0;
    for (const Layer& layer : network.layers) found += layer.lookup.has_value();
    EXPECT_EQ(found, lookups);
    expect_bits_of_the_host(lowered, network);
  };
  {
    SCOPED_TRACE("8 bits");
    expect_layers(integerize(quantize(graph, {zoo::seeded_input(graph, 1)}, {})), NumberType::kInteger);
  }
  SCOPED_TRACE("Q10.22");
  expect_layers(to_fixed_point(graph, 22), NumberType::kFixed);
}

TEST(PipelineNumberTypes, SharedNetworks) {
  for (const char* name : {"tf_lenet/lenet.pb", "onnx_mnist8/model.onnx",
                           "onnx_from_tflite/ic_resnet8_fp32.onnx", "onnx_from_tflite/kws_dscnn_fp32.onnx"}) {
    SCOPED_TRACE(name);
    const std::filesystem::path path = outside_models() / name;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
    expect_both_number_types(load_model(path), 0);
  }
}

TEST(PipelineNumberTypes, CifarTutorialNetwork) { expect_both_number_types(zoo::cifar10_tutorial({}), 0); }

TEST(PipelineNumberTypes, AcousticModelLooksUpItsSigmoids) {
  expect_both_number_types(zoo::djinn_asr({.divide = 4}), 6);
}

TEST(PipelineNumberTypes, ResidualAndDepthwiseNetworks) {
  for (const char* name : {"resnet18", "resnet50", "mobilenet_v1"}) {
    SCOPED_TRACE(name);
    const zoo::Network& network = zoo::network(name);
    expect_both_number_types(network.build(network.small), 0);
  }
}

}  // namespace
}  // namespace tilewright::pipeline
