// A compiled overlay program: simulated memory with weights, micro-ops and instructions in place, and where
// the host puts inputs and finds outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/overlay/execute/functional_simulator.h"
#include "tilewright/overlay/lower/runtime.h"
#include "tilewright/overlay/schedule/estimate.h"

namespace tilewright::overlay {

// A tensor that crosses between host and overlay.
struct ProgramTensor {
  ValueId value = kNoValue;  // of the graph that was compiled
  std::string name;
  Shape shape;      // on the host, i8, row-major
  SourceView view;  // in DRAM, as an image batch (the folded one when `fold` is set)
  std::optional<InputFold> fold;
  bool bipolar = false;  // 1-bit lanes that stand for -1 and +1
  uint64_t address = 0;  // bytes
  int64_t bytes = 0;
};

// A cache that stays in the memory of the program from run to run, an image [tokens, channels].
struct ProgramState {
  ValueId before = kNoValue, after = kNoValue;  // the graph's values of it: an input, and what a run makes
  ProgramTensor tensor;
};

// The result for one layer.
struct LayerReport {
  std::string name, op;
  int64_t macs = 0;
  Schedule schedule;
  TilingEstimate cost;
  uint64_t instructions = 0;
  uint64_t uops = 0;         // distinct micro-ops in the image
  uint64_t uop_reloads = 0;  // kernels loaded again after an eviction
  int64_t weight_bytes = 0;  // packed
  bool folded = false;       // image positions folded into channels
};

struct OverlayProgram {
  OverlayHardware hardware;
  // All of the memory that the program uses, from address 0. Static parts are in place; a run reads and
  // writes it.
  std::vector<std::byte> memory;
  uint64_t static_address = 0, static_bytes = 0;  // weights, parameters, micro-ops, instructions
  uint64_t uop_address = 0, uop_bytes = 0;
  uint64_t instruction_address = 0, instruction_count = 0;
  // Instructions that fill the scratchpads with what all runs read there: to be run once, before the first
  // run and after any other program. 0: there are none.
  uint64_t setup_address = 0, setup_count = 0;
  int64_t kept_weight_bytes = 0;  // of them
  std::vector<ProgramTensor> inputs, outputs;
  std::vector<ProgramState> states;
  // The value that says at which position of the caches the token of a run stands (kNoValue: there is none),
  // how many positions there are, and the fields of instructions that depend on it.
  ValueId position = kNoValue;
  int64_t positions = 0;
  std::vector<RunField> run_fields;
  std::vector<LayerReport> layers;
  RuntimeStatistics statistics;

  std::span<const std::byte> instruction_bytes() const {
    return std::span(memory).subspan(instruction_address,
                                     instruction_count * uint64_t(hardware.instruction_bytes()));
  }
};

// Compiles nodes (in topological order, each one supported) into one program. Values produced outside `nodes`
// are its inputs; values read outside, or graph outputs, its outputs. `schedules` by node name; the others
// get the default schedule. Errors: (unsupported) a node that the overlay cannot run; (invalid input,
// infeasible) a schedule that does not fit, all problems at once; (infeasible) more memory than the overlay
// has.
OverlayProgram compile_overlay(const Graph& graph, std::span<const NodeId> nodes,
                               const OverlayHardware& hardware,
                               const std::map<std::string, Schedule>& schedules = {});

// The layers that compile_overlay would give schedules, in its order, unscheduled. Errors (unsupported): a
// node that the overlay cannot run.
std::vector<OverlayLayer> overlay_layers(const Graph& graph, std::span<const NodeId> nodes,
                                         const OverlayHardware& hardware);

// Those of `nodes` that cannot run together with the others, and why: (unsupported) their inputs lie in
// memory as images that they cannot read, which supports() does not see; (infeasible) no tile of theirs fits,
// or a tensor. Without these nodes the others can.
std::map<NodeId, Diagnostic> overlay_misfits(const Graph& graph, std::span<const NodeId> nodes,
                                             const OverlayHardware& hardware);

// Runs the program once. `inputs` by value id: an i8 tensor for each of program.inputs; returns the outputs.
// `counters` may be null. Errors (invalid input): a missing input, or one of another type or shape.
std::map<ValueId, Tensor> run_overlay(OverlayProgram& program, const std::map<ValueId, Tensor>& inputs,
                                      FunctionalSimulator& simulator, RunCounters* counters = nullptr);

// Makes the next runs those of the token at `position`: what was loaded as one program serves all. Errors
// (invalid input): it is beyond the caches.
void set_position(OverlayProgram& program, int64_t position);
// Fills a cache / reads it.
void write_program_state(OverlayProgram& program, const ProgramState& state, const Tensor& tensor);
Tensor read_program_state(const OverlayProgram& program, const ProgramState& state);

// Writes inputs into / reads outputs from the memory of a program; for engines other than the simulator.
void write_program_inputs(OverlayProgram& program, const std::map<ValueId, Tensor>& inputs);
std::map<ValueId, Tensor> read_program_outputs(const OverlayProgram& program);

}  // namespace tilewright::overlay
