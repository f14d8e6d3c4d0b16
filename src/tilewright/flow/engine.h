// Execution of a bundle: overlay programs on a simulator and host steps in turn, or the whole integer graph
// on the host, which is the reference the former must equal bit for bit.
#pragma once

#include <memory>
#include <vector>

#include "tilewright/flow/bundle.h"
#include "tilewright/host/executor.h"
#include "tilewright/overlay/program.h"

namespace tilewright {

enum class EngineKind { kFunctional, kHost };

// A bundle made ready: programs generated, weights packed, kernels resolved. Immutable, shared by sessions.
class Engine {
 public:
  // Errors: those of overlay::compile_overlay and Executor.
  Engine(const Bundle& bundle, EngineKind kind, HostOptions host = {});

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
  explicit Session(std::shared_ptr<const Engine> engine);

  // Sees every value that crosses between steps, graph outputs included.
  using Observe = std::function<void(ValueId, const Tensor&)>;
  // One tensor per graph output. Errors (invalid input): number, type or shape of the inputs.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, const Observe& observe = {});
  // Of all runs of this session so far.
  const overlay::RunCounters& counters() const { return counters_; }

 private:
  std::shared_ptr<const Engine> engine_;
  std::vector<overlay::OverlayProgram> programs_;  // by step; host steps have an empty one
  overlay::FunctionalSimulator simulator_;
  overlay::RunCounters counters_;
};

}  // namespace tilewright
