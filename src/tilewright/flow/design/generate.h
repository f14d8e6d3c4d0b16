// From a graph in hardware numbers to a generated design: allocation, netlist, simulation and report.
#pragma once

#include <cstdint>
#include <optional>

#include "tilewright/flow/design/design_report.h"
#include "tilewright/flow/design/precision_search.h"
#include "tilewright/flow/model/answer.h"
#include "tilewright/graph/graph.h"
#include "tilewright/hardware/device.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/pipeline/allocate/allocate.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"

namespace tilewright {

struct GenerateRequest {
  Device device;
  pipeline::Budget budget;
  pipeline::Objective objective = pipeline::Objective::kLatency;
  pipeline::AllocateOptions allocate;
  std::optional<pipeline::Allocation> allocation;  // instead of searching one
  bool simulate = true;
  std::optional<MemoryModel> memory;   // of the simulation; none: the budget's port
  const Deadline* deadline = nullptr;  // a design that is not simulated by then is only estimated
};

struct GeneratedDesign {
  pipeline::Network network;
  // With a given allocation: evaluated is 0, the explanation empty.
  pipeline::AllocationResult allocated;
  pipeline::Design design;
  std::optional<pipeline::SimulationResult> simulation;  // of one image
  Ending ending = Ending::kNone;                         // what ended the simulation, where the deadline did
  DesignReport report;
  Answer preprocessing;  // of the calibration's pictures and sounds; empty: there are none
  std::optional<PrecisionSearchResult> precision;  // where bits were chosen
};

// `graph`: of hardware_form. Errors: those of extract_network (unsupported operators, all of them), of
// allocate; (infeasible) the deadline came before there was a design; a given allocation that breaks rules
// (invalid input) or does not fit the budget (infeasible, every resource with need and budget).
GeneratedDesign generate(const Graph& graph, const GenerateRequest& request);

}  // namespace tilewright
