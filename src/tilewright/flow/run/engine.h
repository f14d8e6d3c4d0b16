// Execution of a bundle: overlay programs on one of their engines and host steps in turn, or the whole
// integer graph on the host, which is the reference the former must equal bit for bit.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tilewright/flow/run/bundle.h"
#include "tilewright/flow/target/energy_report.h"
#include "tilewright/host/executor.h"
#include "tilewright/overlay/program/program_engine.h"
#include "tilewright/overlay/time/trace.h"

namespace tilewright {

// Where the nodes of a bundle run. On which engine overlay programs run is the session's choice.
enum class Execution { kAsPlaced, kOnHost };

// A bundle made ready: programs generated, weights packed, kernels resolved. Immutable, shared by sessions.
class Engine {
 public:
  // Errors: those of overlay::compile_overlay and Executor.
  Engine(const Bundle& bundle, Execution execution, HostOptions host = {});

  struct PreparedStep {
    std::vector<ValueId> inputs, outputs;                    // values of the bundle's graph
    std::shared_ptr<const overlay::OverlayProgram> program;  // overlay step
    std::shared_ptr<const Executor> executor;                // host step
  };

  const Graph& graph() const { return graph_; }
  const OverlayHardware& hardware() const { return hardware_; }
  const std::vector<PreparedStep>& steps() const { return steps_; }

 private:
  Graph graph_;
  OverlayHardware hardware_;
  std::vector<PreparedStep> steps_;
};

// One thread's use of an engine: its own accelerator memory and scratchpads.
class Session {
 public:
  // `overlay_engine`: what runs the overlay's programs, until its deadline.
  explicit Session(std::shared_ptr<const Engine> engine,
                   const overlay::ProgramEngineOptions& overlay_engine = {});

  // Shows all later runs on the cycle simulator; must outlive them.
  void trace(overlay::TraceWriter& writer) { trace_ = &writer; }

  // Collects the energy of all later runs; the overlay's engine has to count its activity. Must outlive them.
  void measure_energy(EnergyReport& report) { energy_ = &report; }

  // Sees every value that crosses between steps, graph outputs included.
  using Observe = std::function<void(ValueId, const Tensor&)>;
  // One tensor per graph output. A cache that lies in accelerator memory stays there: its input may be an
  // empty tensor, which leaves it as the last run did, and its output then is one as well. Errors (invalid
  // input): number, type or shape of the inputs; a position beyond the caches.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, const Observe& observe = {});
  // What a cache in accelerator memory holds, by the graph's output; nullopt: it does not lie there.
  std::optional<Tensor> cache(ValueId output) const;
  bool has_cache(ValueId output) const;
  // Of all runs of this session so far.
  const overlay::RunCounters& counters() const { return counters_; }
  const overlay::CycleCounters& cycles() const { return cycles_; }

 private:
  void check_inputs(const std::vector<Tensor>& inputs) const;
  void prepare(overlay::OverlayProgram& program, const std::map<ValueId, Tensor>& values) const;
  ActivityLog activity_log(const overlay::OverlayProgram& program) const;
  void take_energy(const overlay::OverlayProgram& program, const ActivityLog& log);
  std::map<ValueId, Tensor> run_program(overlay::OverlayProgram& program,
                                        const std::map<ValueId, Tensor>& inputs);

  std::shared_ptr<const Engine> engine_;
  std::vector<overlay::OverlayProgram> programs_;  // by step; host steps have an empty one
  std::unique_ptr<overlay::ProgramEngine> overlay_engine_;
  Deadline* deadline_;
  MemoryModel memory_;
  overlay::TraceWriter* trace_ = nullptr;
  EnergyReport* energy_ = nullptr;
  overlay::RunCounters counters_;
  overlay::CycleCounters cycles_;
};

}  // namespace tilewright
