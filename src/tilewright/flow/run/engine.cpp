// An overlay step is compiled to a program, a host step is cut out as a graph of its own; values go from step
// to step under their ids in the whole graph. A session has its own copy of every program, as their memory
// holds inputs and results.
#include "tilewright/flow/run/engine.h"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <optional>

#include "tilewright/overlay/program/layer_timing.h"
#include "tilewright/overlay/program/program_timing.h"

namespace tilewright {
namespace {

// The ids that a part's inputs or outputs have in the whole graph, found by name.
std::vector<ValueId> ids_of(const Graph& part, const std::vector<ValueId>& part_ids,
                            const std::map<std::string, ValueId>& by_name) {
  std::vector<ValueId> ids;
  for (ValueId v : part_ids) ids.push_back(by_name.at(part.value(v).name));
  return ids;
}

void add(overlay::RunCounters& total, const overlay::RunCounters& run) {
  total.instructions += run.instructions;
  total.uop_load_bytes += run.uop_load_bytes;
  total.input_load_bytes += run.input_load_bytes;
  total.weight_load_bytes += run.weight_load_bytes;
  total.accumulator_load_bytes += run.accumulator_load_bytes;
  total.output_store_bytes += run.output_store_bytes;
  total.gemm_uops += run.gemm_uops;
  total.gemm_reset_uops += run.gemm_reset_uops;
  total.alu_uops += run.alu_uops;
  total.alu_lanes += run.alu_lanes;
}

// The fetcher's queue is of the fetcher; compute, which is most of an overlay, shows its own parts. Generate
// blocks are none.
std::string overlay_module(const std::string& path) {
  std::vector<std::string> parts = instances_of(path);
  std::erase_if(parts, [](const std::string& part) { return part.starts_with("gen_"); });
  if (parts.empty()) return "wires between modules";
  if (parts[0] != "computer") return parts[0];
  return parts.size() == 1 ? "compute" : "compute: " + parts[1];
}

// Tells two observers.
class Both final : public overlay::CycleObserver {
 public:
  Both(overlay::CycleObserver& a, overlay::CycleObserver& b) : a_(a), b_(b) {}
  void instruction(const overlay::InstructionSpan& span) override {
    a_.instruction(span);
    b_.instruction(span);
  }
  void token(overlay::TokenChannel channel, uint32_t pusher, uint64_t push_cycle, uint32_t popper,
             uint64_t pop_cycle) override {
    a_.token(channel, pusher, push_cycle, popper, pop_cycle);
    b_.token(channel, pusher, push_cycle, popper, pop_cycle);
  }

 private:
  overlay::CycleObserver& a_;
  overlay::CycleObserver& b_;
};

}  // namespace

Engine::Engine(const Bundle& bundle, Execution execution, HostOptions host)
    : graph_(bundle.graph), hardware_(bundle.hardware) {
  std::map<std::string, ValueId> by_name;
  for (size_t v = 0; v < graph_.values.size(); ++v) by_name[graph_.values[v].name] = ValueId(v);
  std::vector<PartitionStep> steps = bundle.steps();
  if (execution == Execution::kOnHost) {
    PartitionStep all{kHost, std::vector<NodeId>(graph_.nodes.size())};
    std::iota(all.nodes.begin(), all.nodes.end(), 0);
    steps = {all};
  }
  for (const PartitionStep& step : steps) {
    PreparedStep prepared;
    if (!step.on_host()) {
      prepared.program = std::make_shared<const overlay::OverlayProgram>(
          overlay::compile_overlay(graph_, step.nodes, hardware_, bundle.schedules));
    } else {
      const Graph part = extract(graph_, step.nodes);
      prepared.inputs = ids_of(part, part.inputs, by_name);
      prepared.outputs = ids_of(part, part.outputs, by_name);
      prepared.executor = std::make_shared<const Executor>(part, host);
    }
    steps_.push_back(std::move(prepared));
  }
}

Session::Session(std::shared_ptr<const Engine> engine, const overlay::ProgramEngineOptions& overlay_engine)
    : engine_(std::move(engine)),
      overlay_engine_(overlay::make_program_engine(engine_->hardware(), overlay_engine)),
      deadline_(overlay_engine.deadline),
      memory_(overlay_engine.memory) {
  for (const Engine::PreparedStep& step : engine_->steps()) {
    programs_.push_back(step.program ? *step.program : overlay::OverlayProgram{});
  }
}

void Session::check_inputs(const std::vector<Tensor>& inputs) const {
  const Graph& graph = engine_->graph();
  if (inputs.size() != graph.inputs.size()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the model has {} inputs, {} are given", graph.inputs.size(), inputs.size()));
  }
  const auto may_be_empty = [&](ValueId id) {
    return std::ranges::any_of(programs_, [&](const overlay::OverlayProgram& program) {
      return std::ranges::find(program.states, id, &overlay::ProgramState::before) != program.states.end();
    });
  };
  Diagnostics diagnostics;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph.value(graph.inputs[i]);
    if (inputs[i].type() == value.type && inputs[i].shape() == value.shape) continue;
    if (inputs[i].size() == 0 && may_be_empty(graph.inputs[i])) continue;
    diagnostics.error(ErrorKind::kInvalidInput, fmt::format("input '{}'", value.name), "",
                      fmt::format("{} is expected, {} is given", to_string(value.type, value.shape),
                                  to_string(inputs[i].type(), inputs[i].shape())));
  }
  diagnostics.raise_if_any();
}

std::optional<Tensor> Session::cache(ValueId output) const {
  for (const overlay::OverlayProgram& program : programs_) {
    for (const overlay::ProgramState& state : program.states)
      if (state.after == output) return read_program_state(program, state);
  }
  return {};
}

bool Session::has_cache(ValueId output) const {
  return std::ranges::any_of(programs_, [&](const overlay::OverlayProgram& program) {
    return std::ranges::find(program.states, output, &overlay::ProgramState::after) != program.states.end();
  });
}

// The position of the run, and the caches that are given.
void Session::prepare(overlay::OverlayProgram& program, const std::map<ValueId, Tensor>& values) const {
  if (program.position != kNoValue) set_position(program, values.at(program.position).integer_at(0));
  for (const overlay::ProgramState& state : program.states) {
    const Tensor& given = values.at(state.before);
    if (given.size() > 0) write_program_state(program, state, given);
  }
}

// The RTL takes as many cycles for each layer as the cycle simulator, which tells where they end.
ActivityLog Session::activity_log(const overlay::OverlayProgram& program) const {
  overlay::OverlayProgram timed = program;
  std::vector<uint64_t> ends;
  for (const overlay::LayerTiming& layer : overlay::time_program(timed, memory_, deadline_).layers) {
    ends.push_back(layer.end);
  }
  ends.pop_back();
  return ActivityLog(std::move(ends));
}

void Session::take_energy(const overlay::OverlayProgram& program, const ActivityLog& log) {
  TILEWRIGHT_CHECK(log.intervals().size() == program.layers.size(), "layers without activity");
  for (size_t l = 0; l < program.layers.size(); ++l) {
    Activity layer{0, 0, log.dram_bits()[l]};
    energy_->add_module(kDramRow, layer);
    for (size_t s = 0; s < log.scopes().size(); ++s) {
      const Activity& activity = log.intervals()[l][s];
      layer += activity;
      energy_->add_module(overlay_module(log.scopes()[s]), activity);
    }
    energy_->add_layer(program.layers[l].name, layer);
  }
}

std::map<ValueId, Tensor> Session::run_program(overlay::OverlayProgram& program,
                                               const std::map<ValueId, Tensor>& inputs) {
  overlay::TimedRun timed;
  std::optional<overlay::LayerTimer> timer;
  std::optional<Both> both;
  if (trace_ != nullptr) both.emplace(timer.emplace(program), *trace_);
  ActivityLog log;
  if (energy_ != nullptr) {
    log = activity_log(program);
    overlay_engine_->activity = &log;
  }
  std::map<ValueId, Tensor> outputs =
      overlay::run_overlay(program, inputs, *overlay_engine_, &timed, both ? &*both : nullptr, deadline_);
  if (energy_ != nullptr) take_energy(program, log);
  add(counters_, timed.work);
  overlay::add(cycles_, timed.cycles);
  if (trace_ != nullptr) {
    for (const overlay::LayerTiming& layer : timer->layers(timed.cycles.cycles)) {
      trace_->section(layer.name, layer.begin, layer.end);
    }
    trace_->end_run(timed.cycles.cycles);
  }
  return outputs;
}

std::vector<Tensor> Session::run(const std::vector<Tensor>& inputs, const Observe& observe) {
  const Graph& graph = engine_->graph();
  check_inputs(inputs);
  std::map<ValueId, Tensor> values;
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs[i]] = inputs[i];
  const auto keep = [&](ValueId id, Tensor tensor) {
    if (observe) observe(id, tensor);
    values[id] = std::move(tensor);
  };
  for (size_t s = 0; s < engine_->steps().size(); ++s) {
    const Engine::PreparedStep& step = engine_->steps()[s];
    if (step.program) {
      std::map<ValueId, Tensor> given;
      for (const overlay::ProgramTensor& input : programs_[s].inputs)
        given[input.value] = values.at(input.value);
      prepare(programs_[s], values);
      for (auto& [id, tensor] : run_program(programs_[s], given)) keep(id, std::move(tensor));
      for (const overlay::ProgramState& state : programs_[s].states) {
        const bool stays = values.at(state.before).size() == 0;
        keep(state.after, stays ? Tensor() : read_program_state(programs_[s], state));
      }
    } else {
      std::vector<Tensor> given;
      for (ValueId v : step.inputs) given.push_back(values.at(v));
      std::vector<Tensor> results = step.executor->run(std::move(given));
      for (size_t i = 0; i < results.size(); ++i) keep(step.outputs[i], std::move(results[i]));
    }
  }
  std::vector<Tensor> outputs;
  for (ValueId v : graph.outputs) {
    const auto found = values.find(v);
    outputs.push_back(found != values.end() ? found->second : *graph.value(v).constant);
  }
  return outputs;
}

}  // namespace tilewright
