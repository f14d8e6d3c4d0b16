#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "random_network.h"
#include "tilewright/base/random.h"
#include "tilewright/host/executor.h"
#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/referee/checker.h"

namespace tilewright::overlay_networks {
namespace {

Tensor random_input(Random& random, const Value& value) {
  Tensor tensor(value.type, value.shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(-128, 127));
  return tensor;
}

TEST(OverlayNetworks, BitIdenticalToTheHost) {
  constexpr const char* kFiles[] = {"vta-default",   "vta-1x8",         "vta-2x16",
                                    "overlay-16x16", "overlay-4x16x16", "overlay-8x8",
                                    "overlay-w4a4",  "overlay-w2a2",    "overlay-w1a1"};
  int varied = 0, compared = 0;
  for (uint64_t seed = 1; seed <= 135; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed * 17);
    OverlayHardware hardware = read_overlay_hardware(std::string(TILEWRIGHT_SOURCE_DIR "/hardware/") +
                                                     kFiles[seed % std::size(kFiles)] + ".yaml");
    Graph graph = random_network(seed, hardware);
    graph.remove_dead();
    if (random.chance(0.4)) hardware.uop_buffer_bytes = hardware.uop_bytes() * 64;
    // The nodes that make the inputs narrow, if any, are the host's.
    std::vector<ValueId> fed;
    std::vector<NodeId> nodes;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].name.starts_with("narrow")) {
        fed.push_back(graph.nodes[i].outputs[0]);
      } else {
        nodes.push_back(NodeId(i));
      }
    }
    const size_t results = graph.outputs.size();
    Graph observed = graph;
    observed.outputs.insert(observed.outputs.end(), fed.begin(), fed.end());
    try {
      overlay::OverlayProgram program = overlay::compile_overlay(graph, nodes, hardware);
      Diagnostics diagnostics;
      const auto uops = std::span(program.memory).subspan(program.uop_address, program.uop_bytes);
      overlay::check_program(hardware,
                             {program.instruction_bytes(), uops, program.uop_address, program.memory.size()},
                             diagnostics);
      for (const Diagnostic& problem : diagnostics.errors()) ADD_FAILURE() << to_string(problem);
      for (const Diagnostic& problem : diagnostics.warnings()) ADD_FAILURE() << to_string(problem);
      const Executor host(observed);
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
        for (size_t i = results; i < expected.size(); ++i)
          by_value.insert_or_assign(fed[i - results], expected[i]);
        const auto actual = overlay::run_overlay(program, by_value, simulator);
        ASSERT_EQ(actual.size(), results);
        for (size_t i = 0; i < results; ++i) {
          ASSERT_TRUE(actual.at(graph.outputs[i]).identical(expected[i]))
              << "run " << run << ", output " << i;
          const std::vector<int64_t> values = expected[i].to_integers();
          varied += std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end();
          ++compared;
        }
      }
    } catch (const Error& error) {
      FAIL() << error.what();
    }
  }
  // Outputs that are all the same would show nothing.
  EXPECT_GE(varied, compared * 9 / 10);
}

}  // namespace
}  // namespace tilewright::overlay_networks
