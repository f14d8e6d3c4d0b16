// Random networks as random designs of both shapes, weights on chip and in DRAM: in Verilog every result is
// the network's own evaluation bit for bit, and the cycle simulation takes exactly as long, with memories
// that are always ready and with ones that pause at random.
#include <gtest/gtest.h>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "support/pipeline/random_branchy_graph_testing.h"
#include "support/pipeline/rtl_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"
#include "tilewright/pipeline/simulate/driver.h"
#include "tilewright/pipeline/simulate/fifo_sizing.h"

namespace tilewright::pipeline {
namespace {

enum class Form { kStreaming, kProcessors, kProcessorsWithDram, kBranchyProcessors };

struct Case {
  Form form;
  uint64_t seed;
};
void PrintTo(const Case& c, std::ostream* out) { *out << "form " << int(c.form) << " seed " << c.seed; }

Allocation allocation_of(const Network& network, const Case& c) {
  if (c.form == Form::kStreaming) {
    Allocation stages = random_stages(network, c.seed);
    size_fifos(network, stages);
    return stages;
  }
  const Allocation processors = random_processors(network, c.seed);
  return c.form != Form::kProcessorsWithDram ? processors : with_dram(network, processors, c.seed);
}

class RandomDesigns : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  }
};

// Moved elements, branches, products: of a random graph.
Network branchy_network(uint64_t seed) {
  for (uint64_t attempt = 0;; ++attempt) {
    try {
      return extract_network(random_branchy_graph(seed * 1000 + attempt));
    } catch (const Error&) {
      if (attempt == 50) throw;
    }
  }
}

std::vector<std::vector<int32_t>> evaluated(const Network& network,
                                            const std::vector<std::vector<int32_t>>& images) {
  std::vector<std::vector<int32_t>> outputs;
  for (const auto& image : images) outputs.push_back(evaluate(network, image)[size_t(network.output)]);
  return outputs;
}

RtlPortOptions port_options() {
  RtlPortOptions options;
  options.model = rtl_options();
  options.memory = find_memory_model("fixed:40:1:90");
  options.limit_cycles = 4'000'000;
  return options;
}

TEST_P(RandomDesigns, ComputeTheNetworkInTheCyclesOfTheSimulation) {
  const bool branchy = GetParam().form == Form::kBranchyProcessors;
  const Network network = branchy ? branchy_network(GetParam().seed) : random_network(GetParam().seed);
  const Design design = build(network, allocation_of(network, GetParam()));
  const RtlPortOptions options = port_options();
  RtlDesignPort port(design, options);
  auto images = random_images(network, 3, GetParam().seed + 9);
  const NetworkTensor& input = network.tensors[size_t(network.input)];
  for (auto& image : images) {
    for (int32_t& value : image) {
      value = input.bipolar ? (value > 0 ? 1 : -1) : input.bits < 8 ? value >> (8 - input.bits) : value;
    }
  }
  const auto expected = evaluated(network, images);
  for (const uint64_t pause_seed : {0, 1, 2}) {
    port.restart(pause_seed);
    const DesignRun run = run_design(design, port, images);
    EXPECT_EQ(run.outputs, expected) << "pause seed " << pause_seed;
    EXPECT_EQ(run.cycles, simulate(design, {options.memory, pause_seed, int64_t(images.size())}).cycles)
        << "pause seed " << pause_seed;
  }
}

std::vector<Case> cases(uint64_t first, uint64_t last) {
  std::vector<Case> list;
  for (uint64_t seed = first; seed <= last; ++seed) {
    for (const Form form :
         {Form::kStreaming, Form::kProcessors, Form::kProcessorsWithDram, Form::kBranchyProcessors}) {
      list.push_back({form, seed});
    }
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomDesigns, testing::ValuesIn(cases(2, 6)));

}  // namespace
}  // namespace tilewright::pipeline
