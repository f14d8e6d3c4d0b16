// Whole layers as the compiler emits them.
#include <gtest/gtest.h>

#include "resnet18_layers.h"
#include "support/overlay/cycle_reference_testing.h"
#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/time/cycle_simulator.h"

namespace tilewright::overlay {
namespace {

OverlayHardware preset(const char* name) {
  return read_overlay_hardware(std::string(TILEWRIGHT_SOURCE_DIR "/hardware/") + name + ".yaml");
}

OverlayProgram compiled(const ResnetLayer& layer, const OverlayHardware& hardware) {
  Random random(5);
  const Graph graph = resnet18_graph(layer, random);
  const NodeId nodes[] = {0};
  OverlayProgram program = compile_overlay(graph, nodes, hardware);
  write_program_inputs(program, {{graph.inputs[0], resnet18_input(layer, random)}});
  return program;
}

TimedRun timed(const OverlayProgram& program, const char* memory, std::vector<std::byte>& bytes) {
  bytes = program.memory;
  return CycleSimulator(program.hardware, find_memory_model(memory))
      .run(bytes, program.instruction_address, program.instruction_count);
}

TEST(CycleSimulatorLayers, MemoryModelsDifferOnC2) {
  const OverlayProgram program = compiled(kResnet18Layers[0], preset("vta-default"));
  std::vector<std::byte> untimed = program.memory;
  FunctionalSimulator(program.hardware).run(untimed, program.instruction_address, program.instruction_count);
  std::vector<uint64_t> cycles;
  for (const char* memory : {"ideal", "fixed", "ddr"}) {
    std::vector<std::byte> bytes;
    cycles.push_back(timed(program, memory, bytes).cycles.cycles);
    EXPECT_TRUE(bytes == untimed) << memory;
  }
  EXPECT_LT(cycles[0], cycles[1]);
  EXPECT_LT(cycles[0], cycles[2]);
  EXPECT_NE(cycles[1], cycles[2]);
}

TEST(CycleSimulatorLayers, EqualTheLiteralReference) {
  for (const char* name : {"vta-default", "overlay-16x16"}) {
    for (const ResnetLayer* layer : {&kResnet18Layers[2], &kResnet18Layers[8]}) {
      const OverlayProgram program = compiled(*layer, preset(name));
      for (const char* memory : {"fixed", "ddr"}) {
        SCOPED_TRACE(std::string(name) + " " + layer->name + " " + memory);
        std::vector<std::byte> bytes, literal = program.memory;
        const TimedRun a = timed(program, memory, bytes);
        const TimedRun b = CycleReference(program.hardware, find_memory_model(memory))
                               .run(literal, program.instruction_address, program.instruction_count);
        EXPECT_TRUE(a.cycles == b.cycles) << a.cycles.cycles << " and " << b.cycles.cycles;
        EXPECT_TRUE(bytes == literal);
      }
    }
  }
}

}  // namespace
}  // namespace tilewright::overlay
