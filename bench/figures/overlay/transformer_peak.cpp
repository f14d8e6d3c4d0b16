// transformer_peak: one block of ViT-Tiny/16 (197 tokens) and one of BERT-base (128 tokens), seeded weights,
// on the 16x16 overlay with a 128-bit memory port of 32 cycles latency, without and with a GEMM beside the
// ALU.
//
// Peak is 256 multiply-accumulates per cycle over all cycles of the block: softmaxes, norms, residual sums
// and tables included. `epilogues` is the share of cycles of layers without products. Every output is
// compared bit for bit with the integer reference. Exits non-zero if a bit differs or the cycles of the run
// are not those of its layers.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/time/network_timing.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace {

using namespace tilewright;

// Everything that is legal there is placed on the overlay.
constexpr HostModel kVerySlowHost{.gmac_per_s = 1e-6, .gbyte_per_s = 1e-6, .row_gbyte_per_s = 1e-6};

struct Result {
  NetworkTiming timing;
  uint64_t epilogue_cycles = 0;
  int mismatches = 0;
  bool cycles_agree = false;

  double share_of_epilogues() const { return double(epilogue_cycles) / double(timing.cycles()); }
};

Result measure(const Graph& block, const OverlayHardware& hardware, const MemoryModel& memory) {
  const Bundle bundle = compile(zoo::seeded_integer_form(block, hardware), hardware, kVerySlowHost).bundle;
  Result result;
  result.timing = time_network(bundle, memory);
  for (const overlay::LayerTiming& layer : result.timing.layers) {
    if (layer.macs == 0) result.epilogue_cycles += layer.cycles();
  }
  std::printf("%s", to_string(result.timing).c_str());
  overlay::ProgramEngineOptions engine;
  engine.kind = overlay::ProgramEngineKind::kCycle;
  engine.memory = memory;
  Session cycle(std::make_shared<const Engine>(bundle, Execution::kAsPlaced), engine);
  Session reference(std::make_shared<const Engine>(bundle, Execution::kOnHost));
  const Tensor input = zoo::seeded_input(bundle.graph, 2);
  const std::vector<Tensor> outputs = cycle.run({input}), expected = reference.run({input});
  for (size_t i = 0; i < outputs.size(); ++i) result.mismatches += !outputs[i].identical(expected[i]);
  result.cycles_agree = cycle.cycles().cycles == result.timing.cycles();
  return result;
}

}  // namespace

int main() {
  const MemoryModel memory = find_memory_model("fixed:32");
  OverlayHardware hardware =
      find_overlay_hardware("overlay-16x16", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  hardware.memory_width_bits = 128;
  int mismatches = 0, host_nodes = 0, disagreements = 0;
  std::string json;
  const std::pair<const char*, zoo::BlockShape> blocks[] = {{"vit_tiny", zoo::kVitTinyBlock},
                                                            {"bert", zoo::kBertBaseBlock}};
  for (const auto& [name, shape] : blocks) {
    const Graph block = zoo::transformer_block(name, shape);
    for (const bool beside : {false, true}) {
      hardware.gemm_beside_alu = beside;
      const Result result = measure(block, hardware, memory);
      mismatches += result.mismatches;
      host_nodes += result.timing.host.nodes;
      disagreements += !result.cycles_agree;
      const std::string end = beside ? "_beside" : "";
      char text[200];
      std::snprintf(
          text, sizeof text, ", \"%s_share%s\": %.4f, \"%s_cycles%s\": %llu, \"%s_epilogues%s\": %.4f", name,
          end.c_str(), result.timing.share_of_peak(), name, end.c_str(),
          (unsigned long long)result.timing.cycles(), name, end.c_str(), result.share_of_epilogues());
      json += text;
    }
  }
  std::printf("{\"figure\": \"transformer_peak\"%s, \"nodes_on_host\": %d, \"mismatches\": %d}\n",
              json.c_str(), host_nodes, mismatches);
  return mismatches == 0 && disagreements == 0 ? 0 : 1;
}
