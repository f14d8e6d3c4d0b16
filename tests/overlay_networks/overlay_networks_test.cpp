#include <gtest/gtest.h>

#include <numeric>

#include "random_network.h"
#include "tilewright/base/random.h"
#include "tilewright/host/executor.h"
#include "tilewright/overlay/checker.h"
#include "tilewright/overlay/program.h"

namespace tilewright::overlay_networks {
namespace {

Tensor random_input(Random& random, const Value& value) {
  Tensor tensor(value.type, value.shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(-128, 127));
  return tensor;
}

TEST(OverlayNetworks, BitIdenticalToTheHost) {
  constexpr const char* kFiles[] = {"vta-default",   "vta-1x8",         "vta-2x16",
                                    "overlay-16x16", "overlay-4x16x16", "overlay-8x8"};
  for (uint64_t seed = 1; seed <= 90; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed * 17);
    OverlayHardware hardware = read_overlay_hardware(std::string(TILEWRIGHT_SOURCE_DIR "/hardware/") +
                                                     kFiles[seed % std::size(kFiles)] + ".yaml");
    Graph graph = random_network(seed, hardware);
    graph.remove_dead();
    if (random.chance(0.4)) hardware.uop_buffer_bytes = hardware.uop_bytes() * 64;
    std::vector<NodeId> nodes(graph.nodes.size());
    std::iota(nodes.begin(), nodes.end(), 0);
    try {
      overlay::OverlayProgram program = overlay::compile_overlay(graph, nodes, hardware);
      Diagnostics diagnostics;
      const auto uops = std::span(program.memory).subspan(program.uop_address, program.uop_bytes);
      overlay::check_program(hardware,
                             {program.instruction_bytes(), uops, program.uop_address, program.memory.size()},
                             diagnostics);
      for (const Diagnostic& problem : diagnostics.errors()) ADD_FAILURE() << to_string(problem);
      for (const Diagnostic& problem : diagnostics.warnings()) ADD_FAILURE() << to_string(problem);
      const Executor host(graph);
      overlay::FunctionalSimulator simulator(hardware);
      // Twice: the second run must not depend on what the first left in memory.
      for (int run = 0; run < 2; ++run) {
        std::vector<Tensor> inputs;
        std::map<ValueId, Tensor> by_value;
        for (const ValueId input : graph.inputs) {
          inputs.push_back(random_input(random, graph.value(input)));
          by_value.insert_or_assign(input, inputs.back());
        }
        const std::vector<Tensor> expected = host.run(inputs);
        const auto actual = overlay::run_overlay(program, by_value, simulator);
        ASSERT_EQ(actual.size(), expected.size());
        for (size_t i = 0; i < expected.size(); ++i) {
          ASSERT_TRUE(actual.at(graph.outputs[i]).identical(expected[i]))
              << "run " << run << ", output " << i;
        }
      }
    } catch (const Error& error) {
      FAIL() << error.what();
    }
  }
}

}  // namespace
}  // namespace tilewright::overlay_networks
