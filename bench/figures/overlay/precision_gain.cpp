// What narrow operands gain: the ten convolutions C2 to C11 of ResNet-18 on overlays of 8, 4, 2 and 1 bits
// with the same words, scratchpads and a 128-bit memory port (32 cycles of latency), all with output passes
// beside the sums of the next tile. Cycles are those of the cycle simulator, each layer from empty
// scratchpads to its last store response under its default schedule; outputs are compared with the host's
// integer execution. Inputs stand in memory as a layer before would have left them (no folding by the host),
// so the 64 channels of C2 to C4 fill half of a 128-lane word: W1A1 cannot gain more than four there. The
// totals weigh layers as the network does.
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "resnet18_layers.h"
#include "tilewright/host/executor.h"
#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/time/cycle_simulator.h"

using namespace tilewright;
using namespace tilewright::overlay;

namespace {

constexpr std::array kOverlays{"overlay-16x16", "overlay-w4a4", "overlay-w2a2", "overlay-w1a1"};

struct Measured {
  uint64_t cycles = 0;
  double share = 0;  // of the overlay's own peak
  bool correct = false;
};

Measured measure(const ResnetLayer& layer, const OverlayHardware& hardware) {
  Random random(7);
  const Graph graph = narrow_resnet18_graph(layer, hardware.input_bits, random);
  const Node& node = graph.nodes[1];
  const Schedule schedule = default_schedule(extract_layer(graph, node, hardware), hardware);
  const NodeId nodes[] = {1};
  OverlayProgram program = compile_overlay(graph, nodes, hardware, {{node.name, schedule}});
  const Tensor x = resnet18_input(layer, random);
  Graph ahead = graph;  // the host's part
  ahead.nodes.pop_back();
  ahead.outputs = {node.inputs[0]};
  write_program_inputs(program, {{node.inputs[0], run(ahead, {x})[0]}});
  CycleSimulator simulator(hardware, MemoryModel{});
  const TimedRun timed =
      simulator.run(program.memory, program.instruction_address, program.instruction_count);
  Measured result;
  result.cycles = timed.cycles.cycles;
  result.share = double(program.layers[0].macs) / double(hardware.macs_per_uop()) / double(result.cycles);
  result.correct = read_program_outputs(program).at(graph.outputs[0]).identical(run(graph, {x})[0]);
  return result;
}

}  // namespace

int main() {
  std::vector<OverlayHardware> overlays;
  for (const char* name : kOverlays) {
    overlays.push_back(
        read_overlay_hardware(std::string(TILEWRIGHT_SOURCE_DIR "/hardware/") + name + ".yaml"));
    overlays.back().memory_width_bits = 128;
    overlays.back().gemm_beside_alu = true;
  }
  std::array<uint64_t, kOverlays.size()> total{};
  int mismatches = 0;
  std::printf("%-4s", "");
  for (const char* name : kOverlays) std::printf(" %14s cycles share  gain", name);
  std::printf("\n");
  for (const ResnetLayer& layer : kResnet18Layers) {
    std::printf("%-4s", layer.name);
    uint64_t eight = 0;
    for (size_t k = 0; k < overlays.size(); ++k) {
      const Measured m = measure(layer, overlays[k]);
      if (k == 0) eight = m.cycles;
      mismatches += !m.correct;
      total[k] += uint64_t(layer.repeats) * m.cycles;
      std::printf(" %21llu %4.1f%% %5.2f", (unsigned long long)m.cycles, 100 * m.share,
                  double(eight) / double(m.cycles));
    }
    std::printf("\n");
  }
  std::printf("{\"figure\": \"precision_gain\", \"memory_width_bits\": 128");
  for (size_t k = 0; k < overlays.size(); ++k) {
    std::printf(", \"w%da%d\": {\"peak_ratio\": %.1f, \"measured_ratio\": %.3f, \"cycles\": %llu}",
                overlays[k].weight_bits, overlays[k].input_bits,
                double(overlays[k].macs_per_uop()) / double(overlays[0].macs_per_uop()),
                double(total[0]) / double(total[k]), (unsigned long long)total[k]);
  }
  std::printf(", \"mismatches\": %d}\n", mismatches);
  return mismatches == 0 ? 0 : 1;
}
