// The main loop. A clock: messages arrive, flows start threads, values move, instructions start where their
// flow has a thread (its start lies the entry's number of clocks back), registers take their next values.
#include "tilewright/cgra/simulate/fabric_simulator.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/cgra/simulate/datapath.h"

namespace tilewright::cgra {
namespace {

constexpr int kNoThread = -1;
constexpr size_t kNoPosition = size_t(-1);

class Machine {
 public:
  Machine(const Configuration& configuration, const Inputs& inputs, const FabricSimulationOptions& options)
      : configuration_(configuration),
        inputs_(inputs),
        options_(options),
        ii_(configuration.ii),
        latency_(configuration.fabric.operation_latency_cycles),
        datapath_(configuration),
        memories_(configuration, inputs, options.threads, options.latency, options.seed) {
    compile();
    set_limits();
    result_.started.assign(size_t(configuration.fabric.tiles()), std::vector<int64_t>(size_t(ii_), 0));
  }

  FabricSimulationResult run() {
    try {
      while (!step()) ++clock_;
    } catch (FaultStop& stop) {
      result_.fault = std::move(stop.fault);
    }
    report();
    return std::move(result_);
  }

 private:
  struct Flow {
    const FlowConfiguration* given = nullptr;
    std::vector<int> waits_for, fills;  // variables
    std::vector<int> threads;           // per position, i.e. II after the start of the one before
    int next = 0;                       // thread
    int64_t last_clock = 0;             // of its instructions, after its start
    std::string first;                  // an instruction, to name the flow
  };
  struct Start {  // of an instruction
    int tile = 0;
    const SpokeEntry* entry = nullptr;
    const FabricInstruction* instruction = nullptr;
    std::vector<int> variables;  // per operand; -1: none
    int sends = -1;
    bool asynchronous = false;     // a load whose value is a message, or a store to memory
    std::vector<int32_t> history;  // results, by position mod period
    std::vector<StoreRecord>* stream = nullptr;
    std::vector<int32_t>* values = nullptr;
  };

  void compile();
  Start compile(const TileConfiguration& tile, const SpokeEntry& entry);
  bool step();
  void start_flow(Flow& flow);
  bool ready(const Flow& flow) const;
  void activate(Start& start);
  void execute(Start& start, int thread);
  size_t position(const Start& start) const;
  int32_t operand(const Start& start, size_t index, size_t& input, int thread);
  bool done() const;
  void check_progress() const;
  std::string waits(const Flow& flow) const;
  std::string partner(int variable, bool fills) const;
  void set_limits();
  void report();

  const Configuration& configuration_;
  const Inputs& inputs_;
  const FabricSimulationOptions& options_;
  int ii_ = 1, latency_ = 1;
  Datapath datapath_;
  AsynchronousFabric memories_;
  std::vector<Flow> flows_;
  std::vector<std::vector<Start>> starts_;  // per slot
  std::vector<int32_t> operands_;           // of the instruction at hand
  int64_t clock_ = 0, last_activity_ = 0, clock_limit_ = 0;
  int64_t patience_ = 0;  // clocks without activity that end in deadlock
  FabricSimulationResult result_;
};

void Machine::compile() {
  for (const FlowConfiguration& given : configuration_.flows) {
    Flow flow;
    flow.given = &given;
    for (const std::string& name : given.waits_for) flow.waits_for.push_back(memories_.variable(name));
    for (const std::string& name : given.fills) flow.fills.push_back(memories_.variable(name));
    flows_.push_back(std::move(flow));
  }
  result_.flows.resize(flows_.size());
  starts_.resize(size_t(ii_));
  for (const TileConfiguration& tile : configuration_.tiles) {
    for (const SpokeEntry& entry : tile.spoke) {
      if (entry.instruction >= 0) starts_[size_t(entry.slot)].push_back(compile(tile, entry));
    }
  }
}

Machine::Start Machine::compile(const TileConfiguration& tile, const SpokeEntry& entry) {
  Start start;
  start.tile = tile.tile;
  start.entry = &entry;
  start.instruction = &tile.instructions[size_t(entry.instruction)];
  const FabricInstruction& instruction = *start.instruction;
  for (const InstructionOperand& operand : instruction.operands) {
    const bool variable = operand.kind == InstructionOperand::Kind::kVariable;
    start.variables.push_back(variable ? memories_.variable(operand.variable) : -1);
  }
  if (instruction.sends) start.sends = memories_.variable(instruction.sends->variable);
  const bool store = instruction.op == Opcode::kStore || instruction.op == Opcode::kOutput;
  if (configuration_.fabric.memory_interfaces > 0)
    start.asynchronous = store || (instruction.op == Opcode::kLoad && start.sends >= 0);
  if (store) {
    start.stream = &result_.stores[instruction.name];
    start.stream->resize(size_t(options_.threads));
  }
  if (options_.values) {
    start.values = &result_.values[instruction.name];
    start.values->resize(size_t(options_.threads));
  }
  Flow& flow = flows_[size_t(entry.flow)];
  if (flow.first.empty()) flow.first = instruction.name;
  flow.last_clock = std::max(flow.last_clock, int64_t(entry.clock));
  start.history.resize(size_t(flow.given->period));
  return start;
}

bool Machine::ready(const Flow& flow) const {
  const int period = flow.given->period;
  if (period > 0 && int(flow.threads.size()) % period != flow.next % period) return false;
  return std::all_of(flow.waits_for.begin(), flow.waits_for.end(),
                     [&](int variable) { return memories_.holds(variable, flow.next); }) &&
         std::all_of(flow.fills.begin(), flow.fills.end(),
                     [&](int variable) { return memories_.free(variable, flow.next); });
}

void Machine::start_flow(Flow& flow) {
  const int64_t since = clock_ - flow.given->start;
  if (since < 0 || since % ii_ != 0) return;
  if (flow.next >= options_.threads || !ready(flow)) {
    flow.threads.push_back(kNoThread);
    return;
  }
  for (const int variable : flow.fills) memories_.reserve(variable, flow.next);
  FlowActivity& activity = result_.flows[size_t(&flow - flows_.data())];
  if (flow.next == 0) activity.first_start = clock_;
  activity.last_start = clock_;
  last_activity_ = std::max(last_activity_, clock_);
  flow.threads.push_back(flow.next++);
}

// Threads before the first carried value read its initial ones.
int32_t Machine::operand(const Start& start, size_t index, size_t& input, int thread) {
  const InstructionOperand& operand = start.instruction->operands[index];
  switch (operand.kind) {
    case InstructionOperand::Kind::kConstant:
      return operand.constant;
    case InstructionOperand::Kind::kThread:
      return thread;
    case InstructionOperand::Kind::kVariable:
      return memories_.read(start.variables[index], thread);
    case InstructionOperand::Kind::kInput:
      break;
  }
  const ValueSource& source = start.entry->inputs[input++];
  if (size_t(thread) < operand.initial.size()) return operand.initial[size_t(thread)];
  const MovingValue& value = datapath_.at(start.tile, source);
  if (!value.valid) {
    throw FaultStop{{FaultKind::kMissingOperand, clock_, start.tile,
                     fmt::format("'{}' of thread {} finds nothing in operand {}", start.instruction->name,
                                 thread, index)}};
  }
  return value.bits;
}

void Machine::execute(Start& start, int thread) {
  const FabricInstruction& instruction = *start.instruction;
  const bool lookup = instruction.op == Opcode::kLookup;
  operands_.clear();
  size_t input = 0;
  for (size_t i = lookup ? 1 : 0; i < instruction.operands.size(); ++i)
    operands_.push_back(operand(start, i, input, thread));
  const int32_t value = lookup ? memories_.table(start.variables[0], operands_[0])
                               : operation_value(instruction.op, instruction.then, operands_, thread,
                                                 instruction.array, inputs_);
  const int64_t end = clock_ + latency_;
  last_activity_ = std::max(last_activity_, end);
  ++result_.started[size_t(start.tile)][size_t(start.entry->slot)];
  if (start.values) (*start.values)[size_t(thread)] = value;
  if (start.stream) {
    const StoreRecord record = store_record(instruction.op, operands_, thread);
    (*start.stream)[size_t(thread)] = record;
    // Requests reach memory in the order in which they leave, whatever time memory takes to confirm them.
    if (instruction.array >= 0) result_.arrays[instruction.array][record.index] = record.value;
  }
  if (instruction.writes) memories_.write(*instruction.writes, thread, value);
  if (start.asynchronous) {
    memories_.request(start.sends, thread, value, end);
    if (instruction.op == Opcode::kLoad) return;
  } else if (start.sends >= 0) {
    memories_.send(start.sends, thread, value, end);
  }
  if (!start.history.empty()) start.history[position(start) % start.history.size()] = value;
  datapath_.start(start.tile, value);
}

// How many starts of its flow, II apart, lie before the one that the instruction would belong to now.
size_t Machine::position(const Start& start) const {
  const Flow& flow = flows_[size_t(start.entry->flow)];
  const int64_t since = clock_ - start.entry->clock - flow.given->start;
  return since < 0 ? kNoPosition : size_t(since / ii_);
}

void Machine::activate(Start& start) {
  const Flow& flow = flows_[size_t(start.entry->flow)];
  const size_t at = position(start);
  if (at >= flow.threads.size()) return;
  if (flow.threads[at] != kNoThread) {
    execute(start, flow.threads[at]);
  } else if (at >= start.history.size() && !start.history.empty()) {
    // Without a thread the instruction repeats its result, so that carried values stay in step.
    datapath_.start(start.tile, start.history[at % start.history.size()]);
  }
}

bool Machine::step() {
  if (!memories_.quiet()) last_activity_ = std::max(last_activity_, clock_);
  memories_.advance(clock_);
  for (Flow& flow : flows_) start_flow(flow);
  datapath_.move(clock_);
  for (Start& start : starts_[size_t(clock_ % ii_)]) activate(start);
  datapath_.end();
  check_progress();
  return done();
}

bool Machine::done() const {
  if (!memories_.quiet()) return false;
  return std::all_of(flows_.begin(), flows_.end(), [&](const Flow& flow) {
    const int64_t since_last = clock_ - result_.flows[size_t(&flow - flows_.data())].last_start;
    return flow.next >= options_.threads && since_last >= flow.last_clock;
  });
}

void Machine::check_progress() const {
  if (clock_ >= clock_limit_) {
    throw FaultStop{{FaultKind::kClockLimit, clock_, -1, fmt::format("not done after {} clocks", clock_)}};
  }
  // Nothing has happened for as long as a flow may have to wait for its turn: nothing will.
  if (clock_ - last_activity_ <= patience_ || !memories_.quiet() || done()) return;
  std::string text;
  for (const Flow& flow : flows_) {
    if (flow.next < options_.threads) text += (text.empty() ? "" : "; ") + waits(flow);
  }
  throw FaultStop{{FaultKind::kDeadlock, clock_, -1, std::move(text)}};
}

// Who fills or reads a variable, for the text of a deadlock.
std::string Machine::partner(int variable, bool fills) const {
  for (const std::vector<Start>& slot : starts_) {
    for (const Start& start : slot) {
      const bool found = fills ? start.sends == variable
                               : std::find(start.variables.begin(), start.variables.end(), variable) !=
                                     start.variables.end();
      if (found) return fmt::format("'{}' of flow {}", start.instruction->name, start.entry->flow);
    }
  }
  return fills ? "dispatch" : "nobody";
}

std::string Machine::waits(const Flow& flow) const {
  std::string text =
      fmt::format("flow {} ('{}', ...) waits at thread {}", &flow - flows_.data(), flow.first, flow.next);
  for (size_t i = 0; i < flow.waits_for.size(); ++i) {
    if (memories_.holds(flow.waits_for[i], flow.next)) continue;
    text += fmt::format(", for '{}' from {} ({})", flow.given->waits_for[i], partner(flow.waits_for[i], true),
                        memories_.state(flow.waits_for[i], flow.next));
  }
  for (size_t i = 0; i < flow.fills.size(); ++i) {
    if (memories_.free(flow.fills[i], flow.next)) continue;
    text += fmt::format(", for room in '{}', which {} reads ({})", flow.given->fills[i],
                        partner(flow.fills[i], false), memories_.state(flow.fills[i], flow.next));
  }
  return text;
}

void Machine::set_limits() {
  int64_t longest = 0, period = 1, instructions = 0;
  for (const Flow& flow : flows_) {
    longest = std::max(longest, flow.last_clock);
    period = std::max<int64_t>(period, flow.given->period);
    patience_ = std::max<int64_t>(patience_, flow.given->start);
  }
  for (const std::vector<Start>& slot : starts_) instructions += int64_t(slot.size());
  patience_ += longest + latency_ + 2 * period * ii_;
  const int64_t messages = options_.latency.most_memory + options_.latency.most_message + instructions;
  clock_limit_ = options_.most_cycles > 0
                     ? options_.most_cycles
                     : 100'000 + options_.threads * (period * ii_ + longest + latency_ + 2 * messages);
}

void Machine::report() {
  result_.cycles = last_activity_;
  int64_t slowest = 0, started = 0;
  for (FlowActivity& flow : result_.flows) {
    const int64_t span = flow.last_start - flow.first_start;
    flow.waited_cycles = std::max<int64_t>(0, span - int64_t(options_.threads - 1) * ii_);
    slowest = std::max(slowest, span);
  }
  result_.threads_per_cycle = slowest > 0 ? double(options_.threads - 1) / double(slowest) : 1.0 / ii_;
  for (const std::vector<int64_t>& tile : result_.started) {
    for (const int64_t count : tile) started += count;
  }
  if (result_.cycles > 0)
    result_.utilisation = double(started) / double(result_.cycles * configuration_.fabric.tiles());
  for (const TileConfiguration& tile : configuration_.tiles) {
    for (const FabricInstruction& instruction : tile.instructions) {
      if (!instruction.writes) continue;
      const std::string& name = instruction.writes->variable;
      result_.memories[name] = memories_.cells(memories_.variable(name));
    }
  }
}

}  // namespace

const char* fault_name(FaultKind kind) {
  switch (kind) {
    case FaultKind::kMissingOperand:
      return "missing operand";
    case FaultKind::kTooManyHops:
      return "too many hops";
    case FaultKind::kTooManyPassing:
      return "too many passing values";
    case FaultKind::kDeadlock:
      return "deadlock";
    case FaultKind::kClockLimit:
      return "clock limit";
  }
  return "?";
}

FabricSimulationResult simulate_fabric(const Configuration& configuration, const Inputs& inputs,
                                       const FabricSimulationOptions& options) {
  const AsynchronousLatency& latency = options.latency;
  if (options.threads < 1) throw Error(ErrorKind::kInvalidInput, "a simulation needs at least one thread");
  if (latency.least_message < 1 || latency.least_memory < 1 || latency.most_message < latency.least_message ||
      latency.most_memory < latency.least_memory)
    throw Error(ErrorKind::kInvalidInput, "latencies run from at least 1 clock upwards");
  return Machine(configuration, inputs, options).run();
}

}  // namespace tilewright::cgra
