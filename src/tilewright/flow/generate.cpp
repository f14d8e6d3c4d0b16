// The steps in their order. One image is simulated, and for stages, which work on several at once, a few more
// to see how far apart they come out.
#include "tilewright/flow/generate.h"

#include <fmt/format.h>

#include "tilewright/base/error.h"
#include "tilewright/flow/design_folder.h"

namespace tilewright {
namespace {

constexpr int64_t kFollowingImages = 2;

void check_budget(const pipeline::Estimate& estimate, const pipeline::Budget& budget) {
  const synthesis::Resources &need = estimate.resources, &have = budget.resources;
  Diagnostics diagnostics;
  const auto check = [&](const char* resource, int64_t needed, int64_t limit) {
    if (needed <= limit) return;
    diagnostics.error(
        ErrorKind::kInfeasible, "allocation", resource,
        fmt::format("it needs {}, the budget has {}: {} too few", needed, limit, needed - limit),
        "give a larger --budget or --device, or leave --allocation away");
  };
  check("LUT", need.lut, have.lut);
  check("FF", need.ff, have.ff);
  check("DSP", need.dsp, have.dsp);
  check("BRAM", need.bram, have.bram);
  check("URAM", need.uram, have.uram);
  if (budget.multipliers > 0) check("multipliers", estimate.multipliers, budget.multipliers);
  diagnostics.raise_if_any();
}

pipeline::AllocationResult take_given(const pipeline::Network& network, const GenerateRequest& request) {
  Diagnostics diagnostics;
  request.allocation->verify(network, diagnostics);
  diagnostics.raise_if_any("allocation");
  pipeline::AllocationResult result;
  result.allocation = *request.allocation;
  result.estimate =
      pipeline::estimate(network, result.allocation, request.budget.family, request.budget.port);
  check_budget(result.estimate, request.budget);
  return result;
}

}  // namespace

GeneratedDesign generate(const Graph& graph, const GenerateRequest& request) {
  GeneratedDesign result;
  result.network = pipeline::extract_network(graph);
  result.allocated = request.allocation ? take_given(result.network, request)
                                        : pipeline::allocate(result.network, request.budget,
                                                             request.objective, request.allocate);
  const pipeline::Allocation& allocation = result.allocated.allocation;
  result.design = pipeline::build(result.network, allocation);
  int64_t interval = 0;
  if (request.simulate) {
    pipeline::SimulationOptions options;
    options.memory = request.memory ? *request.memory : design_memory(request.device);
    result.simulation = pipeline::simulate(result.design, options);
    interval = int64_t(result.simulation->cycles);
    if (allocation.streaming) {
      options.images = 1 + kFollowingImages;
      const uint64_t all = pipeline::simulate(result.design, options).cycles;
      interval = (int64_t(all) - interval) / kFollowingImages;
    }
  }
  result.report =
      design_report(result.network, allocation, result.design, result.allocated.estimate, request.budget,
                    &request.device, result.simulation ? &*result.simulation : nullptr, interval);
  return result;
}

}  // namespace tilewright
