#include "pipeline/pipeline_designs/real_design.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/pipeline/rtl_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/flow/model/hardware_form.h"
#include "tilewright/pipeline/allocate/allocate.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"
#include "tilewright/pipeline/simulate/driver.h"

namespace tilewright::pipeline {

void expect_equal_in_every_cycle(const Graph& model, const RealDesign& form) {
  NumberFormat format;
  format.fixed = form.fixed;
  const Network network = extract_network(hardware_form(model, format, {}, 2));
  Budget budget = device_budget(
      find_device(form.device, std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / "devices"));
  apply_budget(budget, form.budget);
  AllocateOptions shape;
  shape.streaming = !form.engines;
  const Design design = build(network, allocate(network, budget, Objective::kLatency, shape).allocation);
  RtlPortOptions options;
  options.model = rtl_options();
  options.limit_cycles = 10'000'000;
  RtlDesignPort port(design, options);
  Random random(9);
  const NetworkTensor& input = network.tensors[size_t(network.input)];
  std::vector<std::vector<int32_t>> images(2, std::vector<int32_t>(size_t(input.shape.elements())));
  for (auto& image : images) {
    for (int32_t& value : image) {
      const int32_t end = 1 << (std::min(input.bits, 8) - 1);
      value = format.fixed    ? int32_t(random.uniform() * (1 << format.fraction))
              : input.bipolar ? 1 - 2 * int32_t(random.between(0, 1))
                              : int32_t(random.between(-end, end - 1));
    }
  }
  for (const uint64_t seed : {0, 1, 2}) {
    port.restart(seed);
    const DesignRun run = run_design(design, port, images);
    EXPECT_EQ(simulate(design, {options.memory, seed, int64_t(images.size())}).cycles, run.cycles) << seed;
    for (size_t i = 0; i < images.size(); ++i) {
      EXPECT_EQ(run.outputs[i], evaluate(network, images[i])[size_t(network.output)])
          << seed << ", image " << i;
    }
  }
}

}  // namespace tilewright::pipeline
