// Simulated cycles per second of the cycle simulator and of the Verilated RTL (Verilator -O3, model compiled
// -O3, no trace) on the same whole layers: C2 to C11 of ResNet-18 on the plain default overlay with a memory
// port of 128 bits. Both drive the same memory and compute all data; memory afterwards, cycles and counters
// are compared. Process CPU time of one core; the cycle simulator repeats each layer and takes the fastest
// run. --quick: the RTL runs C4, C7 and C10 only.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "cpu_time.h"
#include "resnet18_layers.h"
#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/rtl/rtl_simulator.h"
#include "tilewright/overlay/time/cycle_simulator.h"
#include "tilewright/synthesis/tool.h"

namespace {

using namespace tilewright;
using namespace tilewright::overlay;

struct Rate {
  double cycles = 0, seconds = 0;
  double per_second() const { return seconds > 0 ? cycles / seconds : 0; }
};

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const bool verilator = synthesis::tool_installed("verilator");
  OverlayHardware hardware = read_overlay_hardware(TILEWRIGHT_SOURCE_DIR "/hardware/vta-default.yaml");
  hardware.memory_width_bits = 128;
  const RtlOptions rtl_options{
      .rtl_folder = TILEWRIGHT_SOURCE_DIR "/rtl",
      .cache_folder = std::filesystem::temp_directory_path() / "tilewright-rtl-cache"};
  Random random(2);
  Rate simulated, simulated_with_rtl, verilated, whole;
  int differences = 0, layers_on_rtl = 0;
  for (const ResnetLayer& shape : kResnet18Layers) {
    const Graph graph = resnet18_graph(shape, random);
    const NodeId nodes[] = {0};
    OverlayProgram program = compile_overlay(graph, nodes, hardware);
    write_program_inputs(program, {{graph.inputs[0], resnet18_input(shape, random)}});
    const std::vector<std::byte> before = program.memory;
    CycleSimulator simulator(hardware, {});
    TimedRun timed;
    double best = 1e9;
    for (int repeat = 0; repeat < 5; ++repeat) {
      program.memory = before;
      best = std::min(best, cpu_seconds_of([&] {
                        timed = simulator.run(program.memory, program.instruction_address,
                                              program.instruction_count);
                      }));
    }
    const auto cycles = double(timed.cycles.cycles);
    simulated.cycles += cycles, simulated.seconds += best;
    whole.cycles += shape.repeats * cycles, whole.seconds += shape.repeats * best;
    std::printf("%-4s %9.0f cycles, %6.1f M/s", shape.name, cycles, cycles / best * 1e-6);
    if (verilator && (!quick || shape.kernel == 1)) {
      std::vector<std::byte> memory = before;
      RtlSimulator rtl(hardware, {}, rtl_options);
      TimedRun run;
      const double seconds = cpu_seconds_of(
          [&] { run = rtl.run(memory, program.instruction_address, program.instruction_count); });
      differences += run.cycles == timed.cycles && memory == program.memory ? 0 : 1;
      verilated.cycles += cycles, verilated.seconds += seconds;
      simulated_with_rtl.cycles += cycles, simulated_with_rtl.seconds += best;
      ++layers_on_rtl;
      std::printf(", RTL %.3f M/s", cycles / seconds * 1e-6);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  const double ratio = verilated.seconds > 0 ? simulated_with_rtl.per_second() / verilated.per_second() : 0;
  std::printf("ResNet-18's 19 layers of these shapes: %.1f M cycles in %.3f s\n", whole.cycles * 1e-6,
              whole.seconds);
  std::printf(
      "{\"figure\": \"cycle_speed\", \"cycles_per_s\": %.0f, \"verilated_cycles_per_s\": %.0f, "
      "\"ratio_to_verilated\": "
      "%.1f, \"layers_on_rtl\": %d, \"differences\": %d, \"resnet18_seconds\": %.4f}\n",
      simulated.per_second(), verilated.per_second(), ratio, layers_on_rtl, differences, whole.seconds);
  return differences == 0 ? 0 : 1;
}
