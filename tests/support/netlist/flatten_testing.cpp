// Nets of an inner module's ports become the nets that they are connected to; everything else is copied with
// its nets renumbered.
#include "support/netlist/flatten_testing.h"

#include <algorithm>

#include "tilewright/base/error.h"

namespace tilewright::netlist {
namespace {

class Flattener {
 public:
  Flattener(const Netlist& design, Module& result) : design_(design), result_(result) {}

  // Copies `module`, whose nets are `nets` of the result.
  void copy(const Module& module, const std::string& prefix, const std::vector<NetId>& nets) {
    const auto to = [&](NetId net) { return net == kNoNet ? kNoNet : nets[size_t(net)]; };
    for (Assign assign : module.assigns) {
      assign.result = to(assign.result);
      for (NetId& operand : assign.operands) operand = to(operand);
      result_.assigns.push_back(std::move(assign));
    }
    for (const Register& reg : module.registers) {
      result_.registers.push_back({to(reg.q), to(reg.d), to(reg.enable), reg.reset_value});
    }
    for (Memory memory : module.memories) {
      memory.name.insert(0, prefix);
      for (ReadPort& port : memory.reads) port = {to(port.enable), to(port.address), to(port.data)};
      for (WritePort& port : memory.writes) port = {to(port.enable), to(port.address), to(port.data)};
      result_.memories.push_back(std::move(memory));
    }
    for (Fifo fifo : module.fifos) {
      fifo.name.insert(0, prefix);
      for (NetId* net : {&fifo.in_valid, &fifo.in_ready, &fifo.in_data, &fifo.out_valid, &fifo.out_ready,
                         &fifo.out_data}) {
        *net = to(*net);
      }
      result_.fifos.push_back(std::move(fifo));
    }
    for (Pipeline pipeline : module.pipelines) {
      pipeline.name.insert(0, prefix);
      for (NetId* net : {&pipeline.enable, &pipeline.input, &pipeline.result}) *net = to(*net);
      result_.pipelines.push_back(std::move(pipeline));
    }
    for (StateMachine machine : module.state_machines) {
      machine.name.insert(0, prefix);
      for (NetId& output : machine.outputs) output = to(output);
      for (StateMachine::State& state : machine.states) {
        for (StateMachine::Transition& transition : state.transitions) {
          transition.condition = to(transition.condition);
        }
      }
      result_.state_machines.push_back(std::move(machine));
    }
    for (const Instance& instance : module.instances) copy_instance(instance, prefix, nets);
  }

 private:
  void copy_instance(const Instance& instance, const std::string& prefix, const std::vector<NetId>& nets) {
    Instance own = instance;
    own.name.insert(0, prefix);
    for (auto& [port, net] : own.connections) net = net == kNoNet ? kNoNet : nets[size_t(net)];
    const Module* const inner = design_.module(instance.module);
    if (inner == nullptr) {
      result_.instances.push_back(std::move(own));
      return;
    }
    const std::string inner_prefix = own.name + ".";
    std::vector<NetId> inner_nets;
    for (const Net& net : inner->nets) {
      const auto connected = own.connections.find(net.name);
      const bool port = std::any_of(inner->ports.begin(), inner->ports.end(),
                                    [&](const Port& p) { return p.name == net.name; });
      if (port && connected != own.connections.end() && connected->second != kNoNet) {
        inner_nets.push_back(connected->second);
      } else {
        result_.nets.push_back({inner_prefix + net.name, net.width});
        inner_nets.push_back(NetId(result_.nets.size() - 1));
      }
    }
    copy(*inner, inner_prefix, inner_nets);
  }

  const Netlist& design_;
  Module& result_;
};

}  // namespace

Module flatten(const Netlist& design) {
  const Module* const top = design.module(design.top);
  TILEWRIGHT_CHECK(top != nullptr, "a design without its top");
  Module result(top->name);
  result.ports = top->ports;
  result.nets = top->nets;
  std::vector<NetId> nets(top->nets.size());
  for (size_t i = 0; i < nets.size(); ++i) nets[i] = NetId(i);
  Flattener(design, result).copy(*top, "", nets);
  return result;
}

}  // namespace tilewright::netlist
