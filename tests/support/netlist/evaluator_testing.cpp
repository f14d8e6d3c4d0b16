// At an edge every part reads the settled nets and changes its own state; afterwards all show their state on
// the nets that they drive, so the order of the parts does not matter.
#include "support/netlist/evaluator_testing.h"

#include <fmt/format.h>

#include "support/netlist/flatten_testing.h"
#include "tilewright/base/error.h"

namespace tilewright::netlist {
namespace {

std::vector<uint64_t> start_words(const Memory& memory, const MemoryContents& contents) {
  std::vector<uint64_t> words(size_t(memory.words), 0);
  if (memory.contents.empty()) return words;
  for (int bank = 0; bank < memory.banks; ++bank) {
    const std::string file =
        memory.banks == 1 ? memory.contents : fmt::format("{}.{}", memory.contents, bank);
    const auto found = contents.find(file);
    if (found == contents.end()) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("no contents '{}' for memory '{}'", file, memory.name), "give them");
    }
    for (size_t i = 0; i < found->second.size() && i * size_t(memory.banks) < words.size(); ++i) {
      words[i * size_t(memory.banks) + size_t(bank)] = found->second[i];
    }
  }
  return words;
}

}  // namespace

Evaluator::Evaluator(const Netlist& design, const MemoryContents& contents) : module_(flatten(design)) {
  for (const Instance& instance : module_.instances) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("instance '{}' of the component '{}' cannot be evaluated", instance.name,
                            instance.module),
                "simulate its Verilog");
  }
  for (const Net& net : module_.nets) {
    if (net.width > kWordBits) {
      throw Error(ErrorKind::kUnsupported, fmt::format("net '{}' has {} bits", net.name, net.width),
                  "simulate its Verilog");
    }
  }
  values_.resize(module_.nets.size());
  order_operators();
  registers_.resize(module_.registers.size());
  for (const Memory& memory : module_.memories) {
    memories_.push_back({start_words(memory, contents), std::vector<uint64_t>(memory.reads.size())});
  }
  for (const Fifo& fifo : module_.fifos) queues_.push_back({std::vector<uint64_t>(size_t(fifo.depth))});
  for (const Pipeline& p : module_.pipelines) delays_.push_back({std::vector<uint64_t>(size_t(p.latency))});
  states_.resize(module_.state_machines.size());
  show();
}

void Evaluator::order_operators() {
  std::vector<int> driver(module_.nets.size(), -1);
  for (size_t i = 0; i < module_.assigns.size(); ++i) driver[size_t(module_.assigns[i].result)] = int(i);
  std::vector<bool> placed(module_.assigns.size());
  // Depth first without recursion: an operator is placed when it is met again after its operands.
  for (size_t root = 0; root < module_.assigns.size(); ++root) {
    std::vector<int> open{int(root)};
    while (!open.empty()) {
      const int at = open.back();
      const Assign& assign = module_.assigns[size_t(at)];
      bool ready = true;
      for (const NetId operand : assign.operands) {
        const int before = driver[size_t(operand)];
        if (before < 0 || placed[size_t(before)]) continue;
        open.push_back(before);
        ready = false;
      }
      if (!ready) continue;
      open.pop_back();
      if (placed[size_t(at)]) continue;
      placed[size_t(at)] = true;
      operators_.push_back(make_operator(module_, assign, values_));
    }
  }
}

int Evaluator::port(const std::string& name) const {
  for (const Port& port : module_.ports) {
    if (port.name == name) return int(module_.net(name));
  }
  throw Error(ErrorKind::kInternal, fmt::format("the top has no port '{}'", name));
}

void Evaluator::settle() {
  for (const CellOperator& own : operators_) own.evaluate();
}

void Evaluator::step_memories() {
  for (size_t m = 0; m < memories_.size(); ++m) {
    const Memory& memory = module_.memories[m];
    Words& own = memories_[m];
    for (size_t i = 0; i < memory.reads.size(); ++i) {
      const ReadPort& port = memory.reads[i];
      if (!high(port.enable)) continue;
      const uint64_t address = value(port.address);
      own.read[i] = address < own.words.size() ? own.words[address] : 0;
    }
    for (const WritePort& port : memory.writes) {
      const uint64_t address = value(port.address);
      if (high(port.enable) && address < own.words.size()) own.words[address] = value(port.data);
    }
  }
}

void Evaluator::step_queues(bool reset) {
  for (size_t q = 0; q < queues_.size(); ++q) {
    const Fifo& fifo = module_.fifos[q];
    Queue& own = queues_[q];
    const uint64_t depth = uint64_t(fifo.depth);
    const bool push = high(fifo.in_valid) && own.count<depth, pop = own.count> 0 && high(fifo.out_ready);
    if (push) own.words[own.tail] = value(fifo.in_data);
    if (push) own.tail = own.tail + 1 == depth ? 0 : own.tail + 1;
    if (pop) own.head = own.head + 1 == depth ? 0 : own.head + 1;
    own.count += uint64_t(push) - uint64_t(pop);
    if (reset) own.head = own.tail = own.count = 0;
  }
}

void Evaluator::step_delays(bool reset) {
  for (size_t p = 0; p < delays_.size(); ++p) {
    const Pipeline& pipeline = module_.pipelines[p];
    Delay& own = delays_[p];
    if (reset) {
      own.stages.assign(own.stages.size(), 0);
      own.phase = 0;
      continue;
    }
    if (!high(pipeline.enable)) continue;
    for (size_t i = own.stages.size() - 1; i > 0; --i) own.stages[i] = own.stages[i - 1];
    if (own.phase == 0) own.stages[0] = value(pipeline.input);
    own.phase = own.phase + 1 == pipeline.initiation_interval ? 0 : own.phase + 1;
  }
}

void Evaluator::step_machines(bool reset) {
  for (size_t s = 0; s < states_.size(); ++s) {
    size_t next = reset ? 0 : states_[s];
    if (!reset) {
      for (const auto& transition : module_.state_machines[s].states[states_[s]].transitions) {
        if (!high(transition.condition)) continue;
        next = size_t(transition.target);
        break;
      }
    }
    states_[s] = next;
  }
}

void Evaluator::show() {
  for (size_t r = 0; r < registers_.size(); ++r) {
    values_[size_t(module_.registers[r].q)] = registers_[r];
  }
  for (size_t m = 0; m < memories_.size(); ++m) {
    for (size_t i = 0; i < memories_[m].read.size(); ++i) {
      values_[size_t(module_.memories[m].reads[i].data)] = memories_[m].read[i];
    }
  }
  for (size_t q = 0; q < queues_.size(); ++q) {
    const Fifo& fifo = module_.fifos[q];
    values_[size_t(fifo.in_ready)] = queues_[q].count < uint64_t(fifo.depth) ? 1 : 0;
    values_[size_t(fifo.out_valid)] = queues_[q].count > 0 ? 1 : 0;
    values_[size_t(fifo.out_data)] = queues_[q].words[queues_[q].head];
  }
  for (size_t p = 0; p < delays_.size(); ++p) {
    values_[size_t(module_.pipelines[p].result)] = delays_[p].stages.back();
  }
  for (size_t s = 0; s < states_.size(); ++s) {
    const StateMachine& machine = module_.state_machines[s];
    for (size_t i = 0; i < machine.outputs.size(); ++i) {
      values_[size_t(machine.outputs[i])] = machine.states[states_[s]].outputs[i];
    }
  }
}

void Evaluator::edge(bool reset) {
  for (size_t r = 0; r < registers_.size(); ++r) {
    const Register& reg = module_.registers[r];
    if (reset) {
      registers_[r] = reg.reset_value;
    } else if (high(reg.enable)) {
      registers_[r] = value(reg.d);
    }
  }
  step_memories();
  step_queues(reset);
  step_delays(reset);
  step_machines(reset);
  show();
}

void Evaluator::reset() {
  for (int i = 0; i < 4; ++i) {
    settle();
    edge(true);
  }
}

}  // namespace tilewright::netlist
