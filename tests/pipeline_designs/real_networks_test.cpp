// LeNet in Q10.22, ResNet-8 and DS-CNN in int8, an MLP of signs on engines, from their files to Verilog:
// whole inferences, with and without random pauses of the memory, bit for bit and cycle for cycle.
#include <gtest/gtest.h>

#include <filesystem>

#include "outside.h"
#include "tilewright/base/random.h"
#include "tilewright/flow/hardware_form.h"
#include "tilewright/flow/load_model.h"
#include "tilewright/pipeline/allocate/allocate.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"
#include "tilewright/pipeline/simulate/driver.h"
#include "tilewright/pipeline/simulate/rtl_testing.h"

namespace tilewright::pipeline {
namespace {

struct RealNetwork {
  const char* file;
  bool fixed;
  const char* device;
  const char* budget;
  bool engines = false;  // processors, else the allocator chooses
};

class RealDesign : public testing::TestWithParam<RealNetwork> {};

TEST_P(RealDesign, EqualsItsSimulationInEveryCycle) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  const std::filesystem::path file = outside_models() / GetParam().file;
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  NumberFormat format;
  format.fixed = GetParam().fixed;
  const Network network = extract_network(hardware_form(load_model(file), format, {}, 2));
  Budget budget = device_budget(
      find_device(GetParam().device, std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / "devices"));
  apply_budget(budget, GetParam().budget);
  AllocateOptions shape;
  shape.streaming = !GetParam().engines;
  const Design design = build(network, allocate(network, budget, Objective::kLatency, shape).allocation);
  RtlPortOptions options;
  options.model = rtl_options();
  options.limit_cycles = 10'000'000;
  RtlDesignPort port(design, options);
  Random random(9);
  std::vector<std::vector<int32_t>> images(
      2, std::vector<int32_t>(size_t(network.tensors[size_t(network.input)].shape.elements())));
  for (auto& image : images) {
    for (int32_t& value : image) {
      const bool bipolar = network.tensors[size_t(network.input)].bipolar;
      value = format.fixed ? int32_t(random.uniform() * (1 << format.fraction))
              : bipolar    ? 1 - 2 * int32_t(random.between(0, 1))
                           : int32_t(random.between(-128, 127));
    }
  }
  for (const uint64_t seed : {0, 1, 2}) {
    port.restart(seed);
    const DesignRun run = run_design(design, port, images);
    EXPECT_EQ(simulate(design, {options.memory, seed, int64_t(images.size())}).cycles, run.cycles) << seed;
    for (size_t i = 0; i < images.size(); ++i) {
      EXPECT_EQ(run.outputs[i], evaluate(network, images[i])[size_t(network.output)])
          << seed << ", image " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shared, RealDesign,
    testing::Values(RealNetwork{"tf_lenet/lenet.pb", true, "f1-vu9p", "multipliers=128"},
                    RealNetwork{"qonnx_tfc/TFC_1W1A.onnx", false, "f1-vu9p", "lut=60000", true},
                    RealNetwork{"tflite_mlperf_tiny/ic_resnet8_int8.tflite", false, "xc7z020", "dsp=220"},
                    RealNetwork{"tflite_mlperf_tiny/kws_dscnn_int8.tflite", false, "xc7z020", "dsp=220"}));

}  // namespace
}  // namespace tilewright::pipeline
