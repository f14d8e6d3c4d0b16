// Every part is looked at once: it registers the nets that it drives and states the width that each of its
// nets has to have; nets are judged at the end by the number of their drivers.
#include "tilewright/netlist/module_verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tilewright/netlist/verilog_writer.h"

namespace tilewright::netlist {
namespace {

class ModuleVerifier {
 public:
  ModuleVerifier(const Netlist& design, const Library& library, const Module& module,
                 Diagnostics& diagnostics)
      : design_(design), library_(library), module_(module), diagnostics_(diagnostics) {}

  void verify() {
    verify_nets();
    if (broken_) return;
    for (const Assign& assign : module_.assigns) verify_assign(assign);
    for (const Register& reg : module_.registers) verify_register(reg);
    for (const Memory& memory : module_.memories) verify_memory(memory);
    for (const Fifo& fifo : module_.fifos) verify_fifo(fifo);
    for (const Pipeline& pipeline : module_.pipelines) verify_pipeline(pipeline);
    for (const StateMachine& machine : module_.state_machines) verify_state_machine(machine);
    std::set<std::string> names;
    for (const Instance& instance : module_.instances) {
      if (instance.name.empty() || !names.insert(instance.name).second) {
        report(fmt::format("instance '{}'", instance.name), "the name is missing or taken",
               "give each instance a name of its own");
      }
      verify_instance(instance);
    }
    verify_drivers();
  }

 private:
  void report(const std::string& part, const std::string& message, const std::string& hint) {
    diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("module '{}'", module_.name), part, message,
                       hint);
  }
  std::string net_name(NetId net) const { return module_.nets[size_t(net)].name; }
  bool exists(NetId net) const { return net >= 0 && net < NetId(module_.nets.size()); }
  int width(NetId net) const { return module_.nets[size_t(net)].width; }

  // Whether `net` is there with `bits` bits (0: any number).
  bool reads(const std::string& part, const char* role, NetId net, int bits) {
    if (!exists(net)) {
      report(part, fmt::format("{} is not a net of the module", role), "connect it");
      return false;
    }
    if (bits > 0 && width(net) != bits) {
      report(part, fmt::format("{} '{}' has {} bits, {} are needed", role, net_name(net), width(net), bits),
             "extend or slice it");
      return false;
    }
    return true;
  }
  bool drives(const std::string& part, const char* role, NetId net, int bits) {
    if (!reads(part, role, net, bits)) return false;
    drivers_[size_t(net)].push_back(part);
    return true;
  }
  void reads_if_any(const std::string& part, const char* role, NetId net, int bits) {
    if (net != kNoNet) reads(part, role, net, bits);
  }

  void verify_nets() {
    std::set<std::string> names;
    for (const Net& net : module_.nets) {
      const std::string part = fmt::format("net '{}'", net.name);
      if (net.name.empty() || !names.insert(net.name).second) {
        report(part, "the name is missing or taken", "give each net a name of its own");
        broken_ = true;
      }
      if (net.width < 1) {
        report(part, fmt::format("a width of {} bits", net.width), "nets have at least one bit");
        broken_ = true;
      }
    }
    std::set<std::string> ports;
    for (const Port& port : module_.ports) {
      const std::string part = fmt::format("port '{}'", port.name);
      const NetId net = module_.net(port.name);
      if (port.name == "clk" || port.name == "rst" || !ports.insert(port.name).second) {
        report(part, "the name is taken", "every module has clk and rst by itself; rename the port");
      } else if (net == kNoNet || width(net) != port.width) {
        report(part, "no net of this name and width", "add the port with add_port");
      }
    }
    drivers_.resize(module_.nets.size());
    for (const Port& port : module_.ports) {
      const NetId net = module_.net(port.name);
      if (port.direction == Direction::kInput && net != kNoNet) {
        drivers_[size_t(net)].push_back(fmt::format("port '{}'", port.name));
      }
    }
  }

  void verify_assign(const Assign& assign) {
    if (!exists(assign.result))
      return report("operator", "the result is not a net of the module", "connect it");
    const std::string part = fmt::format("operator of '{}'", net_name(assign.result));
    drivers_[size_t(assign.result)].push_back(part);
    const size_t wanted = operand_count(assign.operation);
    if (assign.operands.size() != wanted &&
        (assign.operation != Operation::kConcatenate || assign.operands.empty())) {
      return report(part, fmt::format("{} operands, {} are needed", assign.operands.size(), wanted),
                    "give all operands");
    }
    for (const NetId operand : assign.operands) {
      if (!reads(part, "an operand", operand, 0)) return;
    }
    if (const std::string message = width_fault(assign); !message.empty()) {
      report(part, message, "extend or slice the operands");
    }
  }

  static size_t operand_count(Operation operation) {
    switch (operation) {
      case Operation::kConstant:
        return 0;
      case Operation::kNot:
      case Operation::kSlice:
      case Operation::kSignExtend:
      case Operation::kZeroExtend:
      case Operation::kReduceAnd:
      case Operation::kReduceOr:
        return 1;
      case Operation::kMux:
        return 3;
      default:
        return 2;
    }
  }

  std::string width_fault(const Assign& assign) const {
    const int result = width(assign.result);
    const auto operand = [&](size_t i) { return width(assign.operands[i]); };
    const auto alike = [&](size_t first, size_t count, int bits) {
      for (size_t i = first; i < first + count; ++i) {
        if (operand(i) != bits) {
          return fmt::format("operand {} has {} bits, {} are needed", i, operand(i), bits);
        }
      }
      return std::string();
    };
    const auto one_bit = [&] {
      return result == 1 ? std::string() : fmt::format("the result has {} bits, 1 is needed", result);
    };
    switch (assign.operation) {
      case Operation::kConstant:
        return result >= 64 || assign.value >> result == 0
                   ? ""
                   : fmt::format("the value {} does not fit {} bits", assign.value, result);
      case Operation::kNot:
        return alike(0, 1, result);
      case Operation::kAnd:
      case Operation::kOr:
      case Operation::kXor:
      case Operation::kAdd:
      case Operation::kSubtract:
        return alike(0, 2, result);
      case Operation::kMultiply:
        return operand(0) + operand(1) == result
                   ? ""
                   : fmt::format("the product has {} bits, the result {}", operand(0) + operand(1), result);
      case Operation::kEqual:
      case Operation::kLess:
      case Operation::kLessSigned:
        return one_bit() + alike(1, 1, operand(0));
      case Operation::kMux:
        return alike(0, 1, 1) + alike(1, 2, result);
      case Operation::kConcatenate: {
        int sum = 0;
        for (size_t i = 0; i < assign.operands.size(); ++i) sum += operand(i);
        return sum == result ? "" : fmt::format("the operands have {} bits, the result {}", sum, result);
      }
      case Operation::kSlice:
        return assign.value <= uint64_t(operand(0)) && int64_t(assign.value) + result <= operand(0)
                   ? ""
                   : fmt::format("bits {} to {} of an operand of {}", assign.value,
                                 int64_t(assign.value) + result - 1, operand(0));
      case Operation::kSignExtend:
      case Operation::kZeroExtend:
        return operand(0) <= result
                   ? ""
                   : fmt::format("the operand has {} bits, the result only {}", operand(0), result);
      case Operation::kReduceAnd:
      case Operation::kReduceOr:
        return one_bit();
    }
    return "an unknown operation";
  }

  void verify_register(const Register& reg) {
    if (!exists(reg.q)) return report("register", "q is not a net of the module", "connect it");
    const std::string part = fmt::format("register '{}'", net_name(reg.q));
    drivers_[size_t(reg.q)].push_back(part);
    reads(part, "d", reg.d, width(reg.q));
    reads_if_any(part, "enable", reg.enable, 1);
    if (width(reg.q) < 64 && reg.reset_value >> width(reg.q) != 0) {
      report(part, fmt::format("the reset value {} does not fit {} bits", reg.reset_value, width(reg.q)),
             "widen the register");
    }
  }

  void verify_memory(const Memory& memory) {
    const std::string part = fmt::format("memory '{}'", memory.name);
    if (memory.name.empty()) report(part, "no name", "name it");
    if (memory.words < 1 || memory.width < 1) {
      return report(part, fmt::format("{} words of {} bits", memory.words, memory.width),
                    "a memory has at least one word of one bit");
    }
    if (memory.banks < 1 || (memory.banks & (memory.banks - 1)) != 0 || memory.words % memory.banks != 0) {
      report(part, fmt::format("{} banks for {} words", memory.banks, memory.words),
             "banks are a power of two that divides the words");
    }
    if (memory.writes.size() > 1 && memory.kind != MemoryKind::kRegisters) {
      report(part, fmt::format("{} write ports", memory.writes.size()),
             "only a memory of registers has more than one");
    }
    const int address = index_bits(memory.words);
    for (const ReadPort& port : memory.reads) {
      reads(part, "enable", port.enable, 1);
      reads(part, "address", port.address, address);
      drives(part, "data", port.data, memory.width);
    }
    for (const WritePort& port : memory.writes) {
      reads(part, "enable", port.enable, 1);
      reads(part, "address", port.address, address);
      reads(part, "data", port.data, memory.width);
    }
  }

  void verify_fifo(const Fifo& fifo) {
    const std::string part = fmt::format("fifo '{}'", fifo.name);
    if (fifo.name.empty() || fifo.width < 1 || fifo.depth < 1) {
      return report(part, fmt::format("{} words of {} bits", fifo.depth, fifo.width),
                    "a queue has a name and at least one word of one bit");
    }
    reads(part, "in_valid", fifo.in_valid, 1);
    reads(part, "in_data", fifo.in_data, fifo.width);
    reads(part, "out_ready", fifo.out_ready, 1);
    drives(part, "in_ready", fifo.in_ready, 1);
    drives(part, "out_valid", fifo.out_valid, 1);
    drives(part, "out_data", fifo.out_data, fifo.width);
  }

  void verify_pipeline(const Pipeline& pipeline) {
    const std::string part = fmt::format("pipeline '{}'", pipeline.name);
    if (pipeline.name.empty() || pipeline.latency < 1 || pipeline.initiation_interval < 1) {
      report(part, fmt::format("latency {}, interval {}", pipeline.latency, pipeline.initiation_interval),
             "a pipeline has a name, and both are at least 1");
    }
    reads_if_any(part, "enable", pipeline.enable, 1);
    if (reads(part, "input", pipeline.input, 0))
      drives(part, "result", pipeline.result, width(pipeline.input));
  }

  void verify_state_machine(const StateMachine& machine) {
    const std::string part = fmt::format("state machine '{}'", machine.name);
    if (machine.name.empty() || machine.states.empty()) {
      report(part, "no name or no states", "a state machine has a name and at least one state");
    }
    for (const NetId output : machine.outputs) drives(part, "an output", output, 0);
    std::set<std::string> names;
    for (const StateMachine::State& state : machine.states) {
      if (state.name.empty() || !names.insert(state.name).second) {
        report(part, fmt::format("the state name '{}' is missing or taken", state.name),
               "give each state a name of its own");
      }
      if (state.outputs.size() != machine.outputs.size()) {
        report(part,
               fmt::format("state '{}' has {} values for {} outputs", state.name, state.outputs.size(),
                           machine.outputs.size()),
               "give one value for each output");
      }
      for (size_t i = 0; i < std::min(state.outputs.size(), machine.outputs.size()); ++i) {
        const NetId output = machine.outputs[i];
        if (exists(output) && width(output) < 64 && state.outputs[i] >> width(output) != 0) {
          report(part,
                 fmt::format("state '{}' gives '{}' a value that does not fit", state.name, net_name(output)),
                 "widen the output");
        }
      }
      for (const StateMachine::Transition& transition : state.transitions) {
        reads_if_any(part, "a condition", transition.condition, 1);
        if (transition.target < 0 || transition.target >= int(machine.states.size())) {
          report(part, fmt::format("state '{}' goes to a state that does not exist", state.name),
                 "name a state by its position");
        }
      }
    }
  }

  bool ports_of(const Instance& instance, const std::string& part, std::vector<Port>& ports) {
    if (const Module* const inner = design_.module(instance.module)) {
      ports = inner->ports;
      for (const auto& [parameter, value] : instance.parameters) {
        if (inner->text_parameters.contains(parameter)) continue;
        report(part, fmt::format("module '{}' has no parameter '{}'", instance.module, parameter),
               "give the module one");
      }
      return true;
    }
    try {
      if (library_.ports(instance.module, instance.parameters, ports)) return true;
    } catch (const Error& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) {
        report(part, to_string(diagnostic), "change the parameters");
      }
      return false;
    }
    report(part, fmt::format("no module or component '{}'", instance.module), "add it to the design");
    return false;
  }

  void verify_instance(const Instance& instance) {
    const std::string part = fmt::format("instance '{}'", instance.name);
    for (const auto& [parameter, value] : instance.parameters) {
      const ParameterText* const own = std::get_if<ParameterText>(&value);
      if (own == nullptr || module_.text_parameters.contains(own->parameter)) continue;
      report(part,
             fmt::format("'{}' is said to be in the parameter '{}', which the module lacks", parameter,
                         own->parameter),
             "give the module this parameter");
    }
    std::vector<Port> ports;
    if (!ports_of(instance, part, ports)) return;
    std::set<std::string> names;
    for (const Port& port : ports) {
      names.insert(port.name);
      const auto connected = instance.connections.find(port.name);
      const NetId net = connected == instance.connections.end() ? kNoNet : connected->second;
      const std::string role = fmt::format("port '{}'", port.name);
      if (port.direction == Direction::kInput) {
        if (net == kNoNet) {
          report(part, fmt::format("the input '{}' is not connected", port.name), "connect it");
        } else {
          reads(part, role.c_str(), net, port.width);
        }
      } else if (net != kNoNet) {
        drives(part, role.c_str(), net, port.width);
      }
    }
    for (const auto& [port, net] : instance.connections) {
      if (!names.contains(port)) {
        report(part, fmt::format("'{}' has no port '{}'", instance.module, port), "remove the connection");
      }
    }
  }

  void verify_drivers() {
    for (size_t net = 0; net < drivers_.size(); ++net) {
      const std::string part = fmt::format("net '{}'", module_.nets[net].name);
      if (drivers_[net].empty()) report(part, "nothing drives it", "drive it, or remove it");
      if (drivers_[net].size() > 1) {
        std::string list;
        for (const std::string& driver : drivers_[net]) list += (list.empty() ? "" : ", ") + driver;
        report(part, fmt::format("{} drivers: {}", drivers_[net].size(), list), "keep one of them");
      }
    }
  }

  const Netlist& design_;
  const Library& library_;
  const Module& module_;
  Diagnostics& diagnostics_;
  std::vector<std::vector<std::string>> drivers_;
  bool broken_ = false;  // nets that cannot be talked about
};

}  // namespace

void verify_module(const Netlist& design, const Library& library, const Module& module,
                   Diagnostics& diagnostics) {
  ModuleVerifier(design, library, module, diagnostics).verify();
}

}  // namespace tilewright::netlist
