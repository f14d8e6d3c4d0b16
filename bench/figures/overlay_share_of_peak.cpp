// The compiler's own schedules on the ten convolutions C2 to C11 of ResNet-18 (batch 1, plain overlay):
// estimated cycles and share of peak, instructions, micro-ops and traffic. Outputs are compared with the
// host's integer execution, traffic and micro-ops with what the simulator counts. Cycles are an estimate
// (docs/overlay.md).
#include <cstdio>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/host/executor.h"
#include "tilewright/overlay/program.h"

namespace {

using namespace tilewright;
using namespace tilewright::overlay;

struct Convolution {
  const char* name;
  int64_t size, inputs, outputs, kernel, stride;
};

constexpr Convolution kLayers[] = {{"C2", 56, 64, 64, 3, 1},    {"C3", 56, 64, 128, 3, 2},
                                   {"C4", 56, 64, 128, 1, 2},   {"C5", 28, 128, 128, 3, 1},
                                   {"C6", 28, 128, 256, 3, 2},  {"C7", 28, 128, 256, 1, 2},
                                   {"C8", 14, 256, 256, 3, 1},  {"C9", 14, 256, 512, 3, 2},
                                   {"C10", 14, 256, 512, 1, 2}, {"C11", 7, 512, 512, 3, 1}};

Tensor random_tensor(Random& random, ElementType type, Shape shape, int64_t low, int64_t high) {
  Tensor tensor(type, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(low, high));
  return tensor;
}

Graph make_graph(const Convolution& layer, Random& random) {
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, Shape{1, layer.inputs, layer.size, layer.size});
  const Shape kernel{layer.outputs, layer.inputs, layer.kernel, layer.kernel};
  const ValueId w = graph.add_constant("w", random_tensor(random, ElementType::kI8, kernel, -127, 127));
  const ValueId b =
      graph.add_constant("b", random_tensor(random, ElementType::kI32, Shape{layer.outputs}, -30000, 30000));
  const ValueId m = graph.add_constant("m", Tensor::of<int32_t>(Shape{1}, {1}));
  const ValueId s = graph.add_constant("s", Tensor::of<int32_t>(Shape{1}, {10}));
  const int64_t pad = layer.kernel / 2, out = (layer.size + 2 * pad - layer.kernel) / layer.stride + 1;
  const ValueId y = graph.add_value("y", ElementType::kI8, Shape{1, layer.outputs, out, out});
  Node& node = graph.add_node(layer.name, "QConv", {x, w, b, m, s}, {y}, kTilewrightDomain);
  node.attributes["strides"] = std::vector<int64_t>{layer.stride, layer.stride};
  node.attributes["pads"] = std::vector<int64_t>(4, pad);
  node.attributes["clip_low"] = int64_t{0};
  graph.outputs = {y};
  return graph;
}

}  // namespace

int main() {
  const OverlayHardware hardware = read_overlay_hardware(TILEWRIGHT_SOURCE_DIR "/hardware/vta-default.yaml");
  Random random(2);
  double cycles = 0, ideal = 0;
  int mismatches = 0, miscounts = 0;
  std::printf("%-4s %10s %7s %7s %6s %9s %9s %9s  schedule\n", "", "cycles", "share", "instr.", "uops",
              "inp B", "wgt B", "out B");
  for (const Convolution& convolution : kLayers) {
    const Graph graph = make_graph(convolution, random);
    const NodeId nodes[] = {0};
    OverlayProgram program = compile_overlay(graph, nodes, hardware);
    const Tensor x = random_tensor(random, ElementType::kI8, graph.value(graph.inputs[0]).shape, -128, 127);
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
    std::printf("%-4s %10.0f %6.1f%% %7llu %6llu %9lld %9lld %9lld  %s\n", convolution.name, cost.cycles,
                100 * cost.share_of_peak, (unsigned long long)report.instructions,
                (unsigned long long)report.uops, (long long)cost.input_bytes, (long long)cost.weight_bytes,
                (long long)cost.output_bytes, print_schedule(report.schedule).c_str());
  }
  std::printf(
      "{\"figure\": \"overlay_share_of_peak\", \"layers\": %zu, \"estimated_cycles\": %.0f, "
      "\"ideal_cycles\": %.0f, "
      "\"share_of_peak\": %.4f, \"mismatches\": %d, \"miscounted_layers\": %d}\n",
      std::size(kLayers), cycles, ideal, ideal / cycles, mismatches, miscounts);
  return mismatches == 0 && miscounts == 0 ? 0 : 1;
}
