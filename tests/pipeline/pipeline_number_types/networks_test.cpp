// Networks of the TensorFlow-to-FPGA paper and others as layers of the pipeline, in 8 bits, fewer, and
// Q10.22.
#include <gtest/gtest.h>

#include "model/own_networks/own_networks.h"
#include "pipeline/pipeline_number_types/number_type_checks.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/transform/pipeline.h"
#include "zoo/zoo.h"

namespace tilewright::pipeline {
namespace {

class TrainedNumberTypes : public testing::TestWithParam<const char*> {};

TEST_P(TrainedNumberTypes, EightBitsAndFixedPoint) {
  expect_both_number_types(trained_network(GetParam()), 0);
}

TEST_P(TrainedNumberTypes, NarrowForms) {
  for (const int bits : {2, 3, 4, 6}) {
    SCOPED_TRACE(bits);
    QuantizeOptions options;
    options.weight_bits = options.activation_bits = bits;
    const Graph integer = integerize(optimize(quantized_network(GetParam(), options)));
    expect_bits_of_the_host(integer, extract_network(integer));
  }
}

INSTANTIATE_TEST_SUITE_P(Fashion, TrainedNumberTypes, testing::ValuesIn(kTrainedNetworks),
                         [](const auto& test) { return std::string(test.param); });

// From a QONNX file: weights and activations are signs.
TEST(PipelineNumberTypes, ANetworkOfSigns) {
  const Graph integer = integerize(optimize(parse_onnx(signs_network_file(3))));
  const Network network = extract_network(integer);
  ASSERT_GE(network.layers.size(), 3u);  // the last one has no signs behind it
  for (const Layer& layer : network.layers) EXPECT_TRUE(layer.weight_bipolar);
  EXPECT_TRUE(network.tensors[size_t(network.layers[1].input)].bipolar);
  expect_bits_of_the_host(integer, network);
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
