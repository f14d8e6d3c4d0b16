// Which nets of a module are read, and by what.
#pragma once

#include <vector>

#include "tilewright/netlist/netlist.h"

namespace tilewright::netlist {

// Calls `read(net, low, width)` for everything in `module` that reads a net, output ports included, instances
// left out.
template <typename Read>
void for_each_read(const Module& module, Read&& read) {
  const auto whole = [&](NetId net) {
    if (net != kNoNet) read(net, 0, module.nets[size_t(net)].width);
  };
  for (const Assign& assign : module.assigns) {
    if (assign.operation == Operation::kSlice) {
      read(assign.operands[0], int(assign.value), module.nets[size_t(assign.result)].width);
    } else {
      for (const NetId operand : assign.operands) whole(operand);
    }
  }
  for (const Register& reg : module.registers) whole(reg.d), whole(reg.enable);
  for (const Memory& memory : module.memories) {
    for (const ReadPort& port : memory.reads) whole(port.enable), whole(port.address);
    for (const WritePort& port : memory.writes) whole(port.enable), whole(port.address), whole(port.data);
  }
  for (const Fifo& fifo : module.fifos) whole(fifo.in_valid), whole(fifo.in_data), whole(fifo.out_ready);
  for (const Pipeline& pipeline : module.pipelines) whole(pipeline.input), whole(pipeline.enable);
  for (const StateMachine& machine : module.state_machines) {
    for (const StateMachine::State& state : machine.states) {
      for (const StateMachine::Transition& transition : state.transitions) {
        if (transition.condition == kNoNet) break;  // those after it never happen
        whole(transition.condition);
      }
    }
  }
  for (const Port& port : module.ports) {
    if (port.direction == Direction::kOutput) whole(module.net(port.name));
  }
}

// Bits of nets that something reads.
class BitUsage {
 public:
  // The inputs of `module`'s instances are those that the modules of `design` and the components of `library`
  // have.
  BitUsage(const Module& module, const Netlist& design, const Library& library);
  bool all_read(NetId net) const;

 private:
  std::vector<std::vector<bool>> read_;
};

// Whether anything in `module` needs clk and rst.
bool uses_clock(const Module& module);

}  // namespace tilewright::netlist
