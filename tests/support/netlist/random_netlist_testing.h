// For tests: random verified modules of all primitives.
#pragma once

#include <string>

#include "support/netlist/evaluator_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/netlist/netlist.h"

namespace tilewright::netlist {

// Adds random parts to a module. Operators read what is there before them, so there is no loop within a
// cycle; registers feed back.
class RandomNetlist {
 public:
  RandomNetlist(const std::string& name, uint64_t seed) : module_(name), random_(seed) {}

  // With `contents` some memories start from files that are added to it.
  Module build(MemoryContents* contents = nullptr) {
    contents_ = contents;
    for (int i = 0; i < 4; ++i) {
      pool_.push_back(module_.add_port("in" + std::to_string(i), Direction::kInput, width()));
    }
    std::vector<NetId> feedback;
    for (int i = 0; i < 3; ++i) feedback.push_back(fresh("q", width()));
    for (int i = 0; i < 40; ++i) part();
    for (const NetId q : feedback) {
      const int bits = width_of(q);
      module_.registers.push_back({q, as(bits), random_.chance(0.5) ? as(1) : kNoNet, value(bits)});
    }
    for (int i = 0; i < 6; ++i) {
      const NetId shown = pool_[pool_.size() - 1 - size_t(random_.between(0, 20))];
      module_.connect(module_.add_port("out" + std::to_string(i), Direction::kOutput, width_of(shown)),
                      shown);
    }
    return module_;
  }

 private:
  int width() { return int(random_.chance(0.3) ? 1 : random_.between(2, 40)); }
  int width_of(NetId net) const { return module_.nets[size_t(net)].width; }
  uint64_t value(int bits) { return low_bits(random_.next(), bits); }
  NetId fresh(const std::string& name, int bits) {
    pool_.push_back(module_.add_net(name, bits));
    return pool_.back();
  }
  NetId any() { return pool_[size_t(random_.between(0, int64_t(pool_.size()) - 1))]; }
  // Something of that width: a net, sliced or extended.
  NetId as(int bits) {
    const NetId net = any();
    const int have = width_of(net);
    if (have == bits) return net;
    if (have > bits) {
      return module_.add_assign(Operation::kSlice, {net}, bits, uint64_t(random_.between(0, have - bits)));
    }
    return module_.add_assign(random_.chance(0.5) ? Operation::kSignExtend : Operation::kZeroExtend, {net},
                              bits);
  }
  void assign(Operation operation, std::vector<NetId> operands, int bits, uint64_t number = 0) {
    pool_.push_back(module_.add_assign(operation, std::move(operands), bits, number));
  }

  void part() {
    switch (random_.between(0, 12)) {
      case 0:
        return add_memory();
      case 1:
        return add_fifo();
      case 2:
        return add_pipeline();
      case 3:
        return add_machine();
      case 4: {
        const NetId q = fresh("q", width());
        const NetId d = as(width_of(q));
        module_.registers.push_back({q, d, random_.chance(0.5) ? as(1) : kNoNet, value(width_of(q))});
        return;
      }
      default:
        return add_operator();
    }
  }

  void add_operator() {
    const auto operation = Operation(random_.between(0, int(Operation::kReduceOr)));
    const int bits = width();
    switch (operation) {
      case Operation::kConstant:
        return assign(operation, {}, bits, value(bits));
      case Operation::kNot:
        return assign(operation, {as(bits)}, bits);
      case Operation::kAnd:
      case Operation::kOr:
      case Operation::kXor:
      case Operation::kAdd:
      case Operation::kSubtract:
        return assign(operation, {as(bits), as(bits)}, bits);
      case Operation::kMultiply: {
        const int other = int(random_.between(1, 24));
        return assign(operation, {as(bits), as(other)}, bits + other);
      }
      case Operation::kEqual:
      case Operation::kLess:
      case Operation::kLessSigned:
        return assign(operation, {as(bits), as(bits)}, 1);
      case Operation::kMux:
        return assign(operation, {as(1), as(bits), as(bits)}, bits);
      case Operation::kConcatenate: {
        const int first = 1 + bits / 3, second = 1 + bits / 2;
        return assign(operation, {as(first), as(second), as(1)}, first + second + 1);
      }
      case Operation::kSlice:
      case Operation::kSignExtend:
      case Operation::kZeroExtend: {
        const NetId net = as(bits);
        if (operation == Operation::kSlice) {
          const int low = int(random_.between(0, bits - 1));
          return assign(operation, {net}, int(random_.between(1, bits - low)), uint64_t(low));
        }
        return assign(operation, {net}, bits + int(random_.between(0, 20)));
      }
      case Operation::kReduceAnd:
      case Operation::kReduceOr:
        return assign(operation, {as(bits)}, 1);
    }
  }

  void add_memory() {
    Memory memory;
    memory.name = "memory" + std::to_string(module_.memories.size());
    const int address = int(random_.between(1, 4));
    memory.words = int64_t{1} << address;
    memory.banks = 1 << random_.between(0, address);
    memory.width = width();
    memory.kind = MemoryKind(random_.between(0, 3));
    if (contents_ != nullptr && random_.chance(0.4)) {
      memory.contents = module_.name + "_" + memory.name + ".hex";
      for (int bank = 0; bank < memory.banks; ++bank) {
        auto& words =
            (*contents_)[memory.banks == 1 ? memory.contents : memory.contents + "." + std::to_string(bank)];
        for (int64_t i = 0; i < memory.words / memory.banks; ++i) words.push_back(value(memory.width));
      }
    }
    const int writes = memory.kind == MemoryKind::kRegisters ? int(random_.between(0, 2)) : 1;
    for (int i = 0; i < writes; ++i) memory.writes.push_back({as(1), as(address), as(memory.width)});
    for (int64_t i = random_.between(1, 2); i > 0; --i) {
      const NetId enable = as(1), at = as(address);
      memory.reads.push_back({enable, at, fresh("word", memory.width)});
    }
    module_.memories.push_back(memory);
  }

  void add_fifo() {
    Fifo fifo;
    fifo.name = "fifo" + std::to_string(module_.fifos.size());
    fifo.width = width();
    fifo.depth = random_.between(1, 6);
    fifo.in_valid = as(1), fifo.in_data = as(fifo.width), fifo.out_ready = as(1);
    fifo.in_ready = fresh("ready", 1), fifo.out_valid = fresh("valid", 1);
    fifo.out_data = fresh("head", fifo.width);
    module_.fifos.push_back(fifo);
  }

  void add_pipeline() {
    Pipeline pipeline;
    pipeline.name = "pipeline" + std::to_string(module_.pipelines.size());
    pipeline.latency = int(random_.between(1, 5));
    pipeline.initiation_interval = int(random_.between(1, 3));
    pipeline.enable = random_.chance(0.5) ? as(1) : kNoNet;
    pipeline.input = any();
    pipeline.result = fresh("late", width_of(pipeline.input));
    module_.pipelines.push_back(pipeline);
  }

  void add_machine() {
    StateMachine machine;
    machine.name = "machine" + std::to_string(module_.state_machines.size());
    const int count = int(random_.between(1, 5));
    std::vector<NetId> conditions = {as(1), as(1), kNoNet};
    for (int64_t i = random_.between(1, 2); i > 0; --i) machine.outputs.push_back(fresh("state", width()));
    for (int s = 0; s < count; ++s) {
      StateMachine::State state;
      state.name = "s" + std::to_string(s);
      for (const NetId output : machine.outputs) state.outputs.push_back(value(width_of(output)));
      for (int64_t i = random_.between(0, 3); i > 0; --i) {
        state.transitions.push_back(
            {conditions[size_t(random_.between(0, 2))], int(random_.between(0, count - 1))});
      }
      machine.states.push_back(state);
    }
    module_.state_machines.push_back(machine);
  }

  Module module_;
  Random random_;
  std::vector<NetId> pool_;
  MemoryContents* contents_ = nullptr;
};

// `count` random modules side by side in one top, all their ports being the top's.
inline Netlist random_design(int count, uint64_t seed, MemoryContents* contents = nullptr) {
  Netlist design;
  design.top = "side_by_side";
  Module top(design.top);
  for (int i = 0; i < count; ++i) {
    const std::string name = "random" + std::to_string(i);
    design.modules.push_back(RandomNetlist(name, seed + uint64_t(i)).build(contents));
    std::map<std::string, NetId> connections;
    for (const Port& port : design.modules.back().ports) {
      connections[port.name] = top.add_port(name + "_" + port.name, port.direction, port.width);
    }
    top.add_instance(name + "_instance", name, {}, connections);
  }
  design.modules.push_back(top);
  return design;
}

}  // namespace tilewright::netlist
