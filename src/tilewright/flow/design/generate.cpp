// The steps in their order. One image is simulated; for stages, which work on several at once, more, to see
// the interval between results: as many as fit into some thousand cycles, since the first ones come at
// another pace while queues fill. Estimates may order two designs differently than their simulations: if the
// best for the other objective is near, it is simulated as well.
#include "tilewright/flow/design/generate.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/flow/design/design_folder.h"
#include "tilewright/netlist/verifier.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/design/layer_geometry.h"

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

struct Simulated {
  std::optional<pipeline::SimulationResult> one;
  int64_t interval = 0;
};

// What multipliers and memory ports need for an image. While queues run empty images come out faster.
int64_t least_interval(const pipeline::Network& network, const pipeline::Design& design,
                       const pipeline::Allocation& allocation) {
  const int64_t bytes = std::max(design.input.bytes + int64_t(design.weights.size()), design.output.bytes);
  return std::max(ceil_div(network.macs(), std::max<int64_t>(design.multipliers, 1)),
                  ceil_div(bytes, allocation.weight_channels * allocation.port_bytes));
}

Simulated simulate(const pipeline::Network& network, const pipeline::Design& design,
                   const pipeline::Allocation& allocation, const GenerateRequest& request,
                   const Deadline& deadline) {
  Simulated result;
  pipeline::SimulationOptions options;
  options.memory = request.memory ? *request.memory : design_memory(request.device);
  options.deadline = &deadline;
  result.one = pipeline::simulate(design, options);
  result.interval = int64_t(result.one->cycles);
  if (design.streaming) {
    const int64_t following =
        std::clamp(kPaceCycles / std::max<int64_t>(result.interval, 1), kFewestFollowing, kMostFollowing);
    const auto cycles = [&](int64_t images) {
      options.images = images;
      return int64_t(pipeline::simulate(design, options).cycles);
    };
    const int64_t filled = following > 3 ? following / 2 : 0;  // images that the queues fill with
    const int64_t before = filled > 0 ? cycles(1 + filled) : result.interval;
    result.interval = std::max((cycles(1 + following) - before) / (following - filled),
                               least_interval(network, design, allocation));
  }
  return result;
}

// Closed forms are off by less than this; where they say that an image leaves before its slowest stage is
// done with it, they are off by more.
bool near(const pipeline::AllocationResult& a, const pipeline::AllocationResult& b, bool latency) {
  const auto cycles = [&](const pipeline::AllocationResult& r) {
    return double(latency ? std::max(r.estimate.latency_cycles, r.estimate.interval_cycles)
                          : r.estimate.interval_cycles);
  };
  return cycles(b) < 1.5 * cycles(a);
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
  Simulated simulated;
  const auto simulate_best = [&] {
    simulated = simulate(result.network, result.design, result.allocated.allocation, request, deadline);
    const bool latency = request.objective == pipeline::Objective::kLatency;
    const std::vector<pipeline::AllocationResult> others = std::move(result.allocated.for_other_objective);
    for (const pipeline::AllocationResult& other : others) {
      if (!near(result.allocated, other, latency)) continue;
      pipeline::Design design = build_verified(result.network, other.allocation);
      Simulated trial = simulate(result.network, design, other.allocation, request, deadline);
      const bool better =
          latency ? trial.one->cycles < simulated.one->cycles : trial.interval < simulated.interval;
      if (!better) continue;
      result.allocated = other;
      result.design = std::move(design);
      simulated = std::move(trial);
    }
  };
  if (request.simulate && !finishes(deadline, simulate_best) && !simulated.one)
    result.ending = deadline.ending();
  result.simulation = std::move(simulated.one);
  result.report = design_report(result.network, result.allocated.allocation, result.design,
                                result.allocated.estimate, request.budget, &request.device,
                                result.simulation ? &*result.simulation : nullptr, simulated.interval);
  return result;
}

}  // namespace tilewright
