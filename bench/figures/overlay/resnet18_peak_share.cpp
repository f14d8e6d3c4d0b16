// Cycles of C2 to C11 of ResNet-18 on the cycle simulator, weighted as in the network: share of the GEMM peak
// with plain VTA programs, with the extended epilogue, and with that beside the sums of the next tile; with
// two virtual threads and with one. Each layer runs alone, from empty scratchpads to the response of its last
// store, under the compiler's default schedule; memory port 128 bits, fixed latency of 32 cycles. Outputs are
// compared with the host's integer execution, traffic and micro-ops with the estimate.
#include <cmath>
#include <cstdio>
#include <string>

#include "resnet18_layers.h"
#include "tilewright/host/executor.h"
#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/referee/checker.h"
#include "tilewright/overlay/time/cycle_simulator.h"

namespace {

using namespace tilewright;
using namespace tilewright::overlay;

struct Total {
  double cycles = 0, ideal = 0;
  double share() const { return ideal / cycles; }
};

struct Problems {
  int mismatches = 0, miscounts = 0, warnings = 0;
  double worst_estimate = 0;
};

int64_t checker_complaints(const OverlayProgram& program) {
  const auto uops = std::span(program.memory).subspan(program.uop_address, program.uop_bytes);
  Diagnostics diagnostics;
  check_program(program.hardware,
                {program.instruction_bytes(), uops, program.uop_address, program.memory.size()}, diagnostics);
  return int64_t(diagnostics.errors().size() + diagnostics.warnings().size());
}

Total measure(const OverlayHardware& hardware, int threads, Problems& problems) {
  std::printf("%s, %d virtual thread%s\n%-4s %9s %7s %9s %6s %6s %6s  schedule\n", hardware.name.c_str(),
              threads, threads == 1 ? "" : "s", "", "cycles", "share", "estimate", "GEMM", "ALU", "instr.");
  Random random(2);
  Total total;
  for (const ResnetLayer& shape : kResnet18Layers) {
    const Graph graph = resnet18_graph(shape, random);
    const NodeId nodes[] = {0};
    const OverlayLayer layer = extract_layer(graph, graph.nodes[0], hardware);
    const Schedule schedule = default_schedule(layer, hardware, {.memory = {}, .virtual_threads = threads});
    OverlayProgram program = compile_overlay(graph, nodes, hardware, {{shape.name, schedule}});
    const Tensor x = resnet18_input(shape, random);
    write_program_inputs(program, {{graph.inputs[0], x}});
    CycleSimulator simulator(hardware, {});
    const TimedRun timed =
        simulator.run(program.memory, program.instruction_address, program.instruction_count);
    const bool equal = read_program_outputs(program).at(graph.outputs[0]).identical(run(graph, {x})[0]);
    problems.mismatches += equal ? 0 : 1;
    problems.warnings += checker_complaints(program) == 0 ? 0 : 1;
    const LayerReport& report = program.layers[0];
    const TilingEstimate& cost = report.cost;
    problems.miscounts += uint64_t(cost.input_bytes) != timed.work.input_load_bytes ||
                          uint64_t(cost.weight_bytes) != timed.work.weight_load_bytes ||
                          uint64_t(cost.output_bytes) != timed.work.output_store_bytes ||
                          uint64_t(cost.gemm_uops) != timed.work.gemm_uops ||
                          uint64_t(cost.alu_uops) != timed.work.alu_uops;
    const auto cycles = double(timed.cycles.cycles);
    const double ideal = double(report.macs) / double(hardware.macs_per_uop());
    const double error = estimate_layer(Tiling(layer, hardware, schedule), hardware).cycles / cycles - 1;
    problems.worst_estimate = std::max(problems.worst_estimate, std::abs(error));
    total.cycles += shape.repeats * cycles;
    total.ideal += shape.repeats * ideal;
    std::printf("%-4s %9.0f %6.1f%% %+8.2f%% %5.1f%% %5.1f%% %6llu  %s\n", shape.name, cycles,
                100 * ideal / cycles, 100 * error, 100 * double(timed.cycles.compute_gemm) / cycles,
                100 * double(timed.cycles.compute_alu) / cycles, (unsigned long long)report.instructions,
                print_schedule(schedule).c_str());
  }
  std::printf("weighted: %.0f cycles, %.0f ideal, %.2f %% of peak\n\n", total.cycles, total.ideal,
              100 * total.share());
  return total;
}

}  // namespace

int main() {
  Problems problems;
  std::string json;
  struct Machine {
    const char *hardware, *prefix;
    bool gemm_beside_alu;
  };
  for (const Machine& machine : {Machine{"vta-default", "", false}, Machine{"overlay-16x16", "wide_", false},
                                 Machine{"overlay-16x16", "beside_", true}}) {
    OverlayHardware hardware =
        read_overlay_hardware(std::string(TILEWRIGHT_SOURCE_DIR "/hardware/") + machine.hardware + ".yaml");
    hardware.memory_width_bits = 128;
    hardware.gemm_beside_alu = machine.gemm_beside_alu;
    if (machine.gemm_beside_alu) hardware.name += " with GEMM beside ALU";
    const Total two = measure(hardware, 2, problems), one = measure(hardware, 1, problems);
    const char* prefix = machine.prefix;
    char text[300];
    std::snprintf(
        text, sizeof text,
        "\"%scycles\": %.0f, \"%sideal_cycles\": %.0f, \"%sshare\": %.4f, \"%sshare_one_thread\": %.4f, ",
        prefix, two.cycles, prefix, two.ideal, prefix, two.share(), prefix, one.share());
    json += text;
  }
  std::printf(
      "{\"figure\": \"resnet18_peak_share\", %s\"mismatches\": %d, \"miscounted_layers\": %d, "
      "\"programs_with_warnings\": %d, \"worst_estimate_error\": %.4f}\n",
      json.c_str(), problems.mismatches, problems.miscounts, problems.warnings, problems.worst_estimate);
  return problems.mismatches + problems.miscounts + problems.warnings == 0 ? 0 : 1;
}
