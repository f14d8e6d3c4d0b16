// The trained LeNet in Q10.22 and in 4 bits, all trained networks in 8 bits, and an MLP of signs on engines,
// from their graphs to Verilog.
#include <gtest/gtest.h>

#include "model/own_networks/own_networks.h"
#include "pipeline/pipeline_designs/real_design.h"
#include "support/pipeline/rtl_testing.h"
#include "tilewright/frontend/onnx/onnx_reader.h"

namespace tilewright::pipeline {
namespace {

class OwnDesigns : public testing::Test {
  void SetUp() override {
    if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  }
};

TEST_F(OwnDesigns, LenetInFixedPoint) {
  expect_equal_in_every_cycle(trained_lenet(), {true, "f1-vu9p", "multipliers=128"});
}

TEST_F(OwnDesigns, ResidualInEightBits) {
  expect_equal_in_every_cycle(quantized_network("residual"), {false, "xc7z020", "dsp=220"});
}

TEST_F(OwnDesigns, DepthwiseInEightBits) {
  expect_equal_in_every_cycle(quantized_network("depthwise"), {false, "xc7z020", "dsp=220"});
}

TEST_F(OwnDesigns, LenetInEightBits) {
  expect_equal_in_every_cycle(quantized_lenet(), {false, "xc7z020", "dsp=220"});
}

// As TFLite's built-in kernels do: in stages, and on engines that layers share.
TEST_F(OwnDesigns, DepthwiseRoundedTwice) {
  Graph network = quantized_network("depthwise");
  network.rounding = Rounding::kTwice;
  for (const bool engines : {false, true}) {
    expect_equal_in_every_cycle(network, {false, "xc7z020", "dsp=220", engines});
  }
}

TEST_F(OwnDesigns, LenetInFourBits) {
  QuantizeOptions options;
  options.weight_bits = options.activation_bits = 4;
  expect_equal_in_every_cycle(quantized_lenet(options), {false, "xc7z020", "dsp=220"});
}

TEST_F(OwnDesigns, SignsOnEngines) {
  expect_equal_in_every_cycle(parse_onnx(signs_network_file(3)), {false, "f1-vu9p", "lut=60000", true});
}

}  // namespace
}  // namespace tilewright::pipeline
