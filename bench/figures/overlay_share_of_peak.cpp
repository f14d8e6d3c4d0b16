// The compiler's own schedules on the ten convolutions C2 to C11 of ResNet-18 (batch 1, plain overlay):
// estimated cycles and share of peak, instructions, micro-ops and traffic. Outputs are compared with the
// host's integer execution, traffic and micro-ops with what the simulator counts. Cycles are an estimate
// (docs/overlay.md).
#include <cstdio>
#include <string>
#include <vector>

#include "resnet18_layers.h"
#include "tilewright/host/executor.h"
#include "tilewright/overlay/program.h"

using namespace tilewright;
using namespace tilewright::overlay;

int main() {
  const OverlayHardware hardware = read_overlay_hardware(TILEWRIGHT_SOURCE_DIR "/hardware/vta-default.yaml");
  Random random(2);
  double cycles = 0, ideal = 0;
  int mismatches = 0, miscounts = 0;
  std::printf("%-4s %10s %7s %7s %6s %9s %9s %9s  schedule\n", "", "cycles", "share", "instr.", "uops",
              "inp B", "wgt B", "out B");
  for (const ResnetLayer& layer : kResnet18Layers) {
    const Graph graph = resnet18_graph(layer, random);
    const NodeId nodes[] = {0};
    OverlayProgram program = compile_overlay(graph, nodes, hardware);
    const Tensor x = resnet18_input(layer, random);
    FunctionalSimulator simulator(hardware);
    RunCounters counters;
    const auto outputs = run_overlay(program, {{graph.inputs[0], x}}, simulator, &counters);
    mismatches += !outputs.at(graph.outputs[0]).identical(run(graph, {x})[0]);
    const LayerReport& report = program.layers[0];
    const LayerCost& cost = report.cost;
    miscounts += uint64_t(cost.input_bytes) != counters.input_load_bytes ||
                 uint64_t(cost.weight_bytes) != counters.weight_load_bytes ||
                 uint64_t(cost.output_bytes) != counters.output_store_bytes ||
                 uint64_t(cost.gemm_uops) != counters.gemm_uops ||
                 uint64_t(cost.alu_uops) != counters.alu_uops;
    cycles += cost.cycles;
    ideal += double(report.macs) / double(hardware.macs_per_uop());
    std::printf("%-4s %10.0f %6.1f%% %7llu %6llu %9lld %9lld %9lld  %s\n", layer.name, cost.cycles,
                100 * cost.share_of_peak, (unsigned long long)report.instructions,
                (unsigned long long)report.uops, (long long)cost.input_bytes, (long long)cost.weight_bytes,
                (long long)cost.output_bytes, print_schedule(report.schedule).c_str());
  }
  std::printf(
      "{\"figure\": \"overlay_share_of_peak\", \"layers\": %zu, \"estimated_cycles\": %.0f, "
      "\"ideal_cycles\": %.0f, "
      "\"share_of_peak\": %.4f, \"mismatches\": %d, \"miscounted_layers\": %d}\n",
      std::size(kResnet18Layers), cycles, ideal, ideal / cycles, mismatches, miscounts);
  return mismatches == 0 && miscounts == 0 ? 0 : 1;
}
