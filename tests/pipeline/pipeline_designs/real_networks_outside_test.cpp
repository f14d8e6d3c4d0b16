// LeNet in Q10.22, ResNet-8 and DS-CNN in int8, an MLP of signs on engines, from their files to Verilog.
#include <gtest/gtest.h>

#include "pipeline/pipeline_designs/real_design.h"
#include "support/outside_testing.h"
#include "support/pipeline/rtl_testing.h"
#include "tilewright/flow/model/load_model.h"

namespace tilewright::pipeline {
namespace {

struct RealFile {
  const char* name;
  const char* file;
  RealDesign form;
};
void PrintTo(const RealFile& c, std::ostream* out) { *out << c.name; }

class RealDesigns : public testing::TestWithParam<RealFile> {};

TEST_P(RealDesigns, EqualTheirSimulationInEveryCycle) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  expect_equal_in_every_cycle(load_model(outside_models() / GetParam().file), GetParam().form);
}

INSTANTIATE_TEST_SUITE_P(
    Outside, RealDesigns,
    testing::Values(
        RealFile{"lenet", "tf_lenet/lenet.pb", {true, "f1-vu9p", "multipliers=128"}},
        RealFile{"signs", "qonnx_tfc/TFC_1W1A.onnx", {false, "f1-vu9p", "lut=60000", true}},
        RealFile{"resnet8", "tflite_mlperf_tiny/ic_resnet8_int8.tflite", {false, "xc7z020", "dsp=220"}},
        RealFile{"dscnn", "tflite_mlperf_tiny/kws_dscnn_int8.tflite", {false, "xc7z020", "dsp=220"}}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tilewright::pipeline
