// Small networks on generated hardware: cycles and milliseconds of one image, and images through the Verilog
// compared bit for bit. MLPerf Tiny's ResNet-8 and DS-CNN (int8, from TFLite) on an xc7z020, the pipeline
// paper's CIFAR-10 net and DjiNN-ASR (Q10.22 and int8) on its card, the 1- and 2-bit QONNX MLPs, and a
// residual block of ResNet. The multipliers of each are counted in its Verilog and compared with the budget.
//
//   small_networks [--quick]    --quick: 2 images through the Verilog where the full run takes 10
#include <cstring>

#include "generated_designs.h"
#include "support/outside_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/flow/model/hardware_form.h"
#include "tilewright/flow/model/load_model.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

using namespace tilewright;

namespace {

struct Case {
  std::string name, field;
  Graph graph;  // in hardware numbers
  std::string device, budget;
  double clock_mhz = 100;
  uint64_t cycle_bound = 0;  // of the issue; 0: none
  size_t rtl_images = 0;
};

Graph calibrated(const Graph& graph) { return hardware_form(graph, {}, {zoo::seeded_input(graph)}, 2); }

Graph fixed(const Graph& graph) {
  NumberFormat format;
  format.fixed = true;
  return hardware_form(graph, format, {}, 2);
}

std::vector<Case> cases(size_t images) {
  const std::filesystem::path models = outside_models();
  const auto stored = [&](const char* file) { return hardware_form(load_model(models / file), {}, {}, 2); };
  const Graph cifar = zoo::network("cifar10_tutorial").build({}), djinn = zoo::network("djinn_asr").build({});
  std::vector<Case> list;
  list.push_back({"ResNet-8 int8", "resnet8", stored("tflite_mlperf_tiny/ic_resnet8_int8.tflite"), "xc7z020",
                  "dsp=220", 100, 60'000, images});
  list.push_back({"DS-CNN int8", "dscnn", stored("tflite_mlperf_tiny/kws_dscnn_int8.tflite"), "xc7z020",
                  "dsp=220", 100, 20'000, images});
  list.push_back(
      {"TFC 1W1A", "tfc_1w1a", stored("qonnx_tfc/TFC_1W1A.onnx"), "xc7z020", "dsp=220", 100, 0, images});
  list.push_back(
      {"TFC 2W2A", "tfc_2w2a", stored("qonnx_tfc/TFC_2W2A.onnx"), "xc7z020", "dsp=220", 100, 0, images});
  // The residual block that ResNets are made of, 64 channels of 14 x 14.
  const Graph block = zoo::residual_block(64, 14);
  list.push_back(
      {"residual block Q10.22", "residual_q10_22", fixed(block), "f1-vu9p", "multipliers=160", 125, 0, 1});
  list.push_back(
      {"residual block int8", "residual_int8", calibrated(block), "xc7z020", "dsp=220", 100, 0, 1});
  for (const int channels : {1, 4}) {
    const std::string ports = ",channels=" + std::to_string(channels);
    const std::string suffix = channels == 1 ? "_one_channel" : "";
    const uint64_t cifar_bound = channels == 4 ? 150'000 : 0, djinn_bound = channels == 4 ? 1'340'000 : 0;
    list.push_back({"CIFAR-10 Q10.22", "cifar_q10_22" + suffix, fixed(cifar), "f1-vu9p",
                    "multipliers=705" + ports, 125, cifar_bound, 0});
    list.push_back({"CIFAR-10 int8", "cifar_int8" + suffix, calibrated(cifar), "f1-vu9p", "dsp=5640" + ports,
                    125, cifar_bound, 0});
    list.push_back({"DjiNN-ASR Q10.22", "djinn_q10_22" + suffix, fixed(djinn), "f1-vu9p",
                    "multipliers=705" + ports, 125, djinn_bound, 0});
    list.push_back({"DjiNN-ASR int8", "djinn_int8" + suffix, calibrated(djinn), "f1-vu9p", "dsp=5640" + ports,
                    125, djinn_bound, 0});
  }
  return list;
}

std::vector<std::vector<int32_t>> random_images(const pipeline::Network& network, size_t count) {
  const pipeline::NetworkTensor& input = network.tensors[size_t(network.input)];
  Random random(11);
  std::vector<std::vector<int32_t>> images(count, std::vector<int32_t>(size_t(input.shape.elements())));
  for (auto& image : images) {
    for (int32_t& value : image) {
      value = input.bipolar ? (random.chance(0.5) ? 1 : -1)
                            : int32_t(random.between(-(int64_t{1} << (input.bits - 1)),
                                                     (int64_t{1} << (input.bits - 1)) - 1));
    }
  }
  return images;
}

}  // namespace

int main(int argc, char** argv) try {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  std::string json;
  int64_t mismatches = 0, missed = 0, over_budget = 0;
  for (const Case& c : cases(quick ? 2 : 10)) {
    const GeneratedDesign generated = figures::generate_for(c.graph, c.device, c.budget);
    const uint64_t cycles = generated.simulation->cycles;
    const double ms = double(cycles) / c.clock_mhz / 1e3;
    const bool held = c.cycle_bound == 0 || cycles < c.cycle_bound;
    missed += held ? 0 : 1;
    const auto& need = generated.allocated.estimate.resources;
    std::printf(
        "%s on %s (%s): %s, %lu cycles (%ld estimated), %.3f ms at %.0f MHz%s; %ld multipliers, %ld DSP, %ld "
        "LUT, "
        "%ld BRAM18, %ld URAM\n",
        c.name.c_str(), c.device.c_str(), c.budget.c_str(),
        generated.allocated.allocation.streaming ? "stages" : "processors",
        static_cast<unsigned long>(cycles), long(generated.allocated.estimate.latency_cycles), ms,
        c.clock_mhz, held ? "" : " ABOVE ITS BOUND", long(generated.design.multipliers), long(need.dsp),
        long(need.lut), long(need.bram), long(need.uram));
    json += ", \"" + c.field + "_cycles\": " + std::to_string(cycles) + ", \"" + c.field +
            "_ms\": " + std::to_string(ms);
    const figures::CountedMultipliers counted = figures::count_in_verilog(generated, c.device, c.budget);
    over_budget += counted.ok() ? 0 : 1;
    json += ", \"" + c.field + "_multipliers\": " + std::to_string(counted.products()) + ", \"" + c.field +
            "_dsp_multiplications\": " + std::to_string(counted.operators);
    if (c.rtl_images > 0) {
      const auto rtl = figures::run_verilog(generated, figures::memory_of(c.device, c.budget),
                                            random_images(generated.network, c.rtl_images));
      std::printf("  Verilog: %ld images, %ld mismatches, %lu cycles, %s the simulator's\n", long(rtl.images),
                  long(rtl.mismatches), static_cast<unsigned long>(rtl.cycles),
                  rtl.cycles_equal ? "equal to" : "NOT");
      mismatches += rtl.mismatches + (rtl.cycles_equal ? 0 : 1);
      json += ", \"" + c.field + "_rtl_images\": " + std::to_string(rtl.images) + ", \"" + c.field +
              "_mismatches\": " + std::to_string(rtl.mismatches);
    }
    std::fflush(stdout);
  }
  std::printf(
      "{\"figure\": \"small_networks\"%s, \"mismatches\": %ld, \"bounds_missed\": %ld, "
      "\"over_budget\": %ld}\n",
      json.c_str(), long(mismatches), long(missed), long(over_budget));
  return mismatches == 0 && missed == 0 && over_budget == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
