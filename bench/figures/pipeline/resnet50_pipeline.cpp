// ResNet-50 and MobileNet v1 at batch 1 on generated hardware: cycles of one image in the cycle simulation of
// the generated design, weights fetched from DRAM included, with one and with four memory channels. Budgets:
// the pipeline paper's 705 wide multipliers (Q10.22), and the 5,640 DSP blocks of its card in int8, both
// compared with the multiplications that stand in the emitted Verilog.
//
//   resnet50_pipeline
#include <cstring>

#include "generated_designs.h"
#include "support/outside_testing.h"
#include "tilewright/flow/model/hardware_form.h"
#include "tilewright/flow/model/load_model.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

using namespace tilewright;

namespace {

struct Measured {
  uint64_t one_channel = 0, four_channels = 0;
  int64_t multipliers = 0, dsp = 0, macs = 0;
  int64_t operators = 0;
  double macs_per_byte = 0;  // of what the four memory channels moved
  bool held = true;  // both designs have the multipliers that were allocated, and no more than the budget
};

Graph integer_form(const Graph& graph) { return hardware_form(graph, {}, {zoo::seeded_input(graph)}, 2); }
Graph fixed_form(const Graph& graph) {
  NumberFormat format;
  format.fixed = true;
  return hardware_form(graph, format, {}, 2);
}

Measured measure(const char* what, const Graph& graph, const std::string& budget) {
  Measured result;
  for (const int channels : {1, 4}) {
    const std::string ports = budget + ",channels=" + std::to_string(channels);
    const GeneratedDesign generated = figures::generate_for(graph, "f1-vu9p", ports);
    const uint64_t cycles = generated.simulation->cycles;
    (channels == 1 ? result.one_channel : result.four_channels) = cycles;
    result.dsp = generated.allocated.estimate.resources.dsp;
    result.macs = generated.network.macs();
    std::printf(
        "%s, %s, %d channel(s): %lu cycles simulated (%ld estimated), %.2f ms at 125 MHz, %ld multipliers, "
        "%ld DSP, %.1f%% of the multipliers busy, %s\n",
        what, budget.c_str(), channels, static_cast<unsigned long>(cycles),
        long(generated.allocated.estimate.latency_cycles), double(cycles) / 125e3,
        long(generated.design.multipliers), long(result.dsp),
        100.0 * double(result.macs) / double(cycles) / double(generated.design.multipliers),
        generated.allocated.allocation.streaming ? "stages" : "processors");
    const double bytes = double(generated.simulation->read_beats + generated.simulation->write_beats) *
                         double(generated.design.port_bytes);
    result.macs_per_byte = double(result.macs) / bytes;
    std::printf("  memory: %.1f MB moved, %.1f MACs per byte\n", bytes / 1e6, result.macs_per_byte);
    const figures::CountedMultipliers counted = figures::count_in_verilog(generated, "f1-vu9p", ports);
    result.multipliers = counted.products();
    result.operators = counted.operators;
    result.held = result.held && counted.ok();
  }
  return result;
}

}  // namespace

int main() try {
  const std::filesystem::path models = outside_models();
  LoadOptions filled;
  filled.fill_gain = 3;
  const Graph official = load_model(models / "tf_resnet50_official" / "saved_model.pb", filled);
  const Measured fixed = measure("official ResNet-50, Q10.22", fixed_form(official), "multipliers=705");
  const Measured paper = measure("ResNet-50 as in the paper, Q10.22",
                                 fixed_form(zoo::network("resnet50").build({})), "multipliers=705");
  const Measured integer = measure("official ResNet-50, int8", integer_form(official), "dsp=5640");
  const Measured mobile =
      measure("MobileNet v1, int8", integer_form(zoo::network("mobilenet_v1").build({})), "dsp=5640");
  // Of the 11,280 products per cycle that 5,640 blocks make.
  const double share = double(mobile.macs) / double(mobile.four_channels) / 11'280;
  std::printf(
      "{\"figure\": \"resnet50_pipeline\", \"cycles_q10_22_705\": %lu, \"cycles_q10_22_705_one_channel\": "
      "%lu, "
      "\"cycles_q10_22_705_paper_network\": %lu, \"multipliers_q10_22\": %ld, \"macs_per_byte_q10_22\": "
      "%.2f, \"cycles_int8_5640\": %lu, "
      "\"cycles_int8_5640_one_channel\": %lu, \"dsp_int8\": %ld, \"dsp_multiplications_int8\": %ld, "
      "\"mobilenet_cycles\": %lu, "
      "\"mobilenet_cycles_one_channel\": %lu, \"mobilenet_mac_share\": %.3f}\n",
      static_cast<unsigned long>(fixed.four_channels), static_cast<unsigned long>(fixed.one_channel),
      static_cast<unsigned long>(paper.four_channels), long(fixed.multipliers), fixed.macs_per_byte,
      static_cast<unsigned long>(integer.four_channels), static_cast<unsigned long>(integer.one_channel),
      long(integer.dsp), long(integer.operators), static_cast<unsigned long>(mobile.four_channels),
      static_cast<unsigned long>(mobile.one_channel), share);
  const bool held = fixed.held && paper.held && integer.held && mobile.held;
  return held && integer.dsp <= 5640 && mobile.dsp <= 5640 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
