// The networks for which designs are generated and measured, in the numbers of the hardware, with the device
// and the budget that each is held to.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/outside_testing.h"
#include "tilewright/flow/model/hardware_form.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/hardware/device.h"
#include "tilewright/pipeline/allocate/allocate.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright {

struct PipelineCase {
  std::string name;
  std::string device, budget;  // of hardware/devices; as apply_budget reads it
  bool fixed = false;          // Q10.22, else int8
  std::function<Graph()> graph;

  pipeline::Budget limits() const {
    pipeline::Budget limits = pipeline::device_budget(
        find_device(device, std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / "devices"));
    pipeline::apply_budget(limits, budget);
    return limits;
  }
  pipeline::Network network() const {
    Graph model = graph();
    const std::vector<Tensor> calibration = {zoo::seeded_input(model)};
    NumberFormat format;
    format.fixed = fixed;
    return pipeline::extract_network(hardware_form(std::move(model), format, calibration, 2));
  }
};

inline std::vector<PipelineCase> pipeline_cases() {
  const std::filesystem::path models = outside_models();
  const auto file = [&](const char* name, double gain = 0) {
    return [path = models / name, gain] {
      LoadOptions options;
      options.fill_gain = gain;
      return load_model(path, options);
    };
  };
  const auto lenet = file("tf_lenet/lenet.pb"), resnet50 = file("tf_resnet50_official/saved_model.pb", 3);
  return {
      {"lenet_int8", "xc7z020", "dsp=220", false, lenet},
      {"lenet_q10_22", "f1-vu9p", "multipliers=705", true, lenet},
      {"cifar10_int8", "f1-vu9p", "", false, [] { return zoo::cifar10_tutorial({}); }},
      {"cifar10_q10_22", "f1-vu9p", "multipliers=705", true, [] { return zoo::cifar10_tutorial({}); }},
      {"djinn_asr_int8", "f1-vu9p", "", false, [] { return zoo::djinn_asr({}); }},
      {"djinn_asr_q10_22", "f1-vu9p", "multipliers=705", true, [] { return zoo::djinn_asr({}); }},
      {"resnet8_int8", "xc7z020", "", false, file("tflite_mlperf_tiny/ic_resnet8_int8.tflite")},
      {"dscnn_int8", "xc7z020", "", false, file("tflite_mlperf_tiny/kws_dscnn_int8.tflite")},
      {"tfc_1w1a", "xc7z020", "", false, file("qonnx_tfc/TFC_1W1A.onnx")},
      {"tfc_2w2a", "xc7z020", "", false, file("qonnx_tfc/TFC_2W2A.onnx")},
      {"mobilenet_v1_int8", "f1-vu9p", "", false, [] { return zoo::mobilenet_v1({}); }},
      {"resnet50_int8", "f1-vu9p", "", false, resnet50},
      {"resnet50_q10_22", "f1-vu9p", "multipliers=705", true, resnet50},
  };
}

}  // namespace tilewright
