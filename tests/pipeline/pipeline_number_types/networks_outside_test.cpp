// Networks of others as layers of the pipeline, in 8 bits and in Q10.22.
#include <gtest/gtest.h>

#include "pipeline/pipeline_number_types/number_type_checks.h"
#include "support/outside_testing.h"
#include "tilewright/flow/model/load_model.h"

namespace tilewright::pipeline {
namespace {

TEST(PipelineNumberTypes, NetworksOfOthers) {
  for (const char* name : {"tf_lenet/lenet.pb", "onnx_mnist8/model.onnx",
                           "onnx_from_tflite/ic_resnet8_fp32.onnx", "onnx_from_tflite/kws_dscnn_fp32.onnx"}) {
    SCOPED_TRACE(name);
    expect_both_number_types(load_model(outside_models() / name), 0);
  }
}

}  // namespace
}  // namespace tilewright::pipeline
