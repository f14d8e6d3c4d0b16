// The steps in their order. One image is simulated; for stages, which work on several at once, more, to see
// the interval between results: as many as fit into some thousand cycles, since the first ones come at
// another pace while queues fill. Estimates may order designs differently than their simulations: rivals that
// are near are simulated as well.
#include "tilewright/flow/design/generate.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/flow/design/design_folder.h"
#include "tilewright/netlist/verifier.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/estimate/estimate_cycles.h"

namespace tilewright {
namespace {

constexpr double kSearchShare = 0.75;  // of the time that is left; the rest is for the simulation
constexpr int64_t kPaceCycles = 20'000, kFewestFollowing = 2, kMostFollowing = 16;

void check_budget(const pipeline::Estimate& estimate, const pipeline::Budget& budget) {
  const synthesis::Resources &need = estimate.resources, &have = budget.resources;
  Diagnostics diagnostics;
  const auto check = [&](const char* resource, int64_t needed, int64_t limit) {
    if (needed <= limit) return;
    diagnostics.error(
        ErrorKind::kInfeasible, "allocation", resource,
        fmt::format("it needs {}, the budget has {}: {} too few", needed, limit, needed - limit),
        "give a larger --budget or --device, or omit --allocation");
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

void need_time(const Deadline& deadline) {
  if (!deadline.over()) return;
  throw Error(ErrorKind::kInfeasible, "the time or memory limit was reached before there was a design",
              "give it more");
}

// Every design is verified before it is simulated or written.
pipeline::Design build_verified(const pipeline::Network& network, const pipeline::Allocation& allocation) {
  pipeline::Design design = pipeline::build(network, allocation);
  netlist::require_verified(design.netlist, pipeline::component_library(), "the generated netlist");
  return design;
}

// What the slowest stage and the memory ports need for an image. While queues run empty images come out
// faster.
int64_t least_interval(const pipeline::Network& network, const pipeline::Design& design,
                       const pipeline::Allocation& allocation) {
  const int64_t bytes = std::max(design.input.bytes + int64_t(design.weights.size()), design.output.bytes);
  int64_t least = ceil_div(bytes, allocation.weight_channels * allocation.port_bytes);
  const pipeline::NetworkTensor& output = network.tensors[size_t(network.output)];
  const int64_t beat = allocation.port_bytes * 8 / output.bits;
  if (design.streaming) least = std::max(least, pipeline::border_frame(output.shape.elements(), beat).cycles);
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const pipeline::LayerGeometry g = pipeline::layer_geometry(network, allocation, i);
    least = std::max(least, pipeline::array_cycles(g, g.output.rows * g.output.columns));
  }
  return least;
}

pipeline::SimulationOptions simulation_options(const GenerateRequest& request, const Deadline& deadline) {
  pipeline::SimulationOptions options;
  options.memory = request.memory ? *request.memory : design_memory(request.device);
  options.deadline = &deadline;
  return options;
}

// Cycles from one image to the next; `one`: those of a single image. Between their last stages' ends: a last
// burst of results would be counted to few images here.
int64_t simulated_interval(const pipeline::Network& network, const pipeline::Design& design,
                           const pipeline::Allocation& allocation, pipeline::SimulationOptions options,
                           int64_t one) {
  if (!design.streaming) return one;
  const int64_t following =
      std::clamp(kPaceCycles / std::max<int64_t>(one, 1), kFewestFollowing, kMostFollowing);
  const int64_t filled = following > 3 ? following / 2 : 0;  // images that the queues fill with
  options.images = 1 + following;
  const std::vector<uint64_t> ends = pipeline::simulate(design, options).image_end;
  return std::max(ceil_div(int64_t(ends[size_t(following)] - ends[size_t(filled)]), following - filled),
                  least_interval(network, design, allocation));
}

}  // namespace

GeneratedDesign generate(const Graph& graph, const GenerateRequest& request) {
  const Deadline deadline(Deadline::kNoLimit, request.deadline);
  GeneratedDesign result;
  result.network = pipeline::extract_network(graph);
  need_time(deadline);
  if (request.allocation) {
    result.allocated = take_given(result.network, request);
    need_time(deadline);
  } else {
    const Deadline search(deadline.left() * (request.simulate ? kSearchShare : 1), &deadline);
    pipeline::AllocateOptions options = request.allocate;
    options.deadline = &search;
    result.allocated = pipeline::allocate(result.network, request.budget, request.objective, options);
  }
  result.design = build_verified(result.network, result.allocated.allocation);
  const bool latency = request.objective == pipeline::Objective::kLatency;
  const pipeline::SimulationOptions options = simulation_options(request, deadline);
  int64_t interval = 0;
  const auto pace = [&](const pipeline::Design& design, const pipeline::Allocation& allocation,
                        const pipeline::SimulationResult& one) {
    return simulated_interval(result.network, design, allocation, options, int64_t(one.cycles));
  };
  const auto simulate_best = [&] {
    const std::vector<pipeline::AllocationResult> rivals = std::move(result.allocated.rivals);
    result.simulation = pipeline::simulate(result.design, options);
    interval = pace(result.design, result.allocated.allocation, *result.simulation);
    for (const pipeline::AllocationResult& rival : rivals) {
      pipeline::Design design = build_verified(result.network, rival.allocation);
      if (!latency && least_interval(result.network, design, rival.allocation) >= interval) continue;
      pipeline::SimulationResult one = pipeline::simulate(design, options);
      if (latency && one.cycles >= result.simulation->cycles) continue;
      const int64_t own = pace(design, rival.allocation, one);
      if (!latency && own >= interval) continue;
      result.allocated = rival;
      result.design = std::move(design);
      result.simulation = std::move(one);
      interval = own;
    }
  };
  if (request.simulate && !finishes(deadline, simulate_best) && !result.simulation)
    result.ending = deadline.ending();
  result.report = design_report(result.network, result.allocated.allocation, result.design,
                                result.allocated.estimate, request.budget, &request.device,
                                result.simulation ? &*result.simulation : nullptr, interval);
  return result;
}

}  // namespace tilewright
