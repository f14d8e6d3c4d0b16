// One ModulePrinter per module. Every operand is printed in exactly the width that its operator needs, since
// Verilator warns where the language would extend or cut by itself; nets of which only some bits are read are
// marked, since a netlist may leave bits unused.
#include "tilewright/netlist/verilog.h"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/netlist/names.h"
#include "tilewright/netlist/usage.h"
#include "tilewright/netlist/verilog_writer.h"

namespace tilewright::netlist {
namespace {

std::vector<std::string> all_names(const Module& module) {
  std::vector<std::string> names;
  for (const Port& port : module.ports) names.push_back(port.name);
  const std::set<std::string> ports(names.begin(), names.end());
  for (const Net& net : module.nets) {
    if (!ports.contains(net.name)) names.push_back(net.name);
  }
  return names;
}

// Names inside a module that its nets have to step aside for.
std::set<std::string> taken_names(const Module& module) {
  std::set<std::string> names = {"clk", "rst"};
  for (const auto& [name, value] : module.text_parameters) names.insert(name);
  return names;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string text(const ParameterValue& value) {
  if (const ParameterText* const own = std::get_if<ParameterText>(&value)) {
    if (own->text.empty()) return own->parameter;
    return fmt::format("{{{}, {}}}", own->parameter, quoted(own->text));
  }
  if (const std::string* const own = std::get_if<std::string>(&value)) return quoted(*own);
  const int64_t number = std::get<int64_t>(value);
  if (number >= INT32_MIN && number <= INT32_MAX) return fmt::format("{}", number);
  return fmt::format("64'h{:x}", uint64_t(number));
}

class ModulePrinter {
 public:
  ModulePrinter(const Netlist& design, const Library& library, const Module& module,
                const std::map<std::string, std::string>& module_names)
      : design_(design), library_(library), module_(module), module_names_(module_names) {
    const std::vector<std::string> names = all_names(module);
    used_ = taken_names(module);
    const std::vector<std::string> legal = legal_names(names, used_);
    for (size_t i = 0; i < names.size(); ++i) identifiers_[names[i]] = legal[i];
    used_.insert(legal.begin(), legal.end());
    for (const Port& port : module.ports) ports_.insert(port.name);
  }

  std::string print() {
    const BitUsage usage(module_, design_, library_);
    header(usage);
    Section from;
    for (const Section& section : module_.sections) {
      print_part(usage, from, section);
      from = section;
    }
    print_part(usage, from, {{}, module_.nets.size(), module_.assigns.size(), module_.instances.size()});
    registers();
    for (const Memory& memory : module_.memories) print_memory(memory);
    for (const Fifo& fifo : module_.fifos) print_fifo(fifo);
    for (const Pipeline& pipeline : module_.pipelines) print_pipeline(pipeline);
    for (const StateMachine& machine : module_.state_machines) print_state_machine(machine);
    body_.line(0, "endmodule");
    return head_.text() + body_.text();
  }

 private:
  std::string name(NetId net) const { return identifiers_.at(module_.nets[size_t(net)].name); }
  int width(NetId net) const { return module_.nets[size_t(net)].width; }
  // A free identifier for something inside this module.
  std::string fresh(const std::string& wish) {
    const std::string result = legal_names({wish}, used_).front();
    used_.insert(result);
    return result;
  }
  std::string bit(NetId net, int at) const {
    return width(net) == 1 ? name(net) : fmt::format("{}[{}]", name(net), at);
  }
  std::string bits(NetId net, int high, int low) const {
    if (low == 0 && high == width(net) - 1) return name(net);
    return high == low ? bit(net, low) : fmt::format("{}[{}:{}]", name(net), high, low);
  }
  std::string sign_extended(NetId net, int to) const {
    const int more = to - width(net);
    if (more <= 0) return name(net);
    return fmt::format("{{{{{}{{{}}}}}, {}}}", more, bit(net, width(net) - 1), name(net));
  }

  void header(const BitUsage& usage) {
    const bool clocked = uses_clock(module_);
    std::string parameters;
    for (const auto& [key, value] : module_.text_parameters) {
      parameters +=
          fmt::format("{}\n    parameter {} = {}", parameters.empty() ? "" : ",", key, quoted(value));
    }
    const bool inner = module_.name != design_.top;  // in the file of another one
    if (inner) head_.line(0, "/* verilator lint_off DECLFILENAME */");
    head_.line(0, "module {} {}(", module_names_.at(module_.name),
               parameters.empty() ? "" : fmt::format("#({}\n) ", parameters));
    if (inner) head_.line(0, "/* verilator lint_on DECLFILENAME */");
    head_.declare(1, "input logic ", "clk", 1, clocked, ",");
    head_.declare(1, "input logic ", "rst", 1, clocked, module_.ports.empty() ? "" : ",");
    for (size_t i = 0; i < module_.ports.size(); ++i) {
      const Port& port = module_.ports[i];
      const bool input = port.direction == Direction::kInput;
      head_.declare(1, input ? "input logic " : "output logic ", identifiers_.at(port.name), port.width,
                    !input || usage.all_read(module_.net(port.name)),
                    i + 1 < module_.ports.size() ? "," : "");
    }
    head_.line(0, ");");
  }

  void silence(const char* state, std::initializer_list<const char*> warnings) {
    for (const char* const warning : warnings) body_.line(1, "/* verilator lint_{} {} */", state, warning);
  }

  // What begins at `from` and ends before `end`.
  void print_part(const BitUsage& usage, const Section& from, const Section& end) {
    const size_t before = body_.text().size();
    write_heading(body_, from.heading);
    const size_t heading = body_.text().size();
    for (size_t i = from.nets; i < end.nets; ++i) {
      const Net& net = module_.nets[i];
      if (ports_.contains(net.name)) continue;
      body_.declare(1, "logic ", identifiers_.at(net.name), net.width, usage.all_read(NetId(i)), ";");
    }
    for (size_t i = from.assigns; i < end.assigns; ++i) {
      const Assign& assign = module_.assigns[i];
      // A constant that reaches a comparison may settle it.
      const bool settled = assign.operation == Operation::kLess || assign.operation == Operation::kLessSigned;
      if (settled) silence("off", {"UNSIGNED", "CMPCONST"});
      body_.line(1, "assign {} = {};", name(assign.result), expression(assign));
      if (settled) silence("on", {"UNSIGNED", "CMPCONST"});
    }
    for (size_t i = from.instances; i < end.instances; ++i) print_instance(module_.instances[i]);
    if (body_.text().size() == heading) body_.cut(before);
  }

  std::string expression(const Assign& assign) const {
    const auto operand = [&](size_t i) { return name(assign.operands[i]); };
    const auto infix = [&](const char* symbol) {
      return fmt::format("{} {} {}", operand(0), symbol, operand(1));
    };
    const int result = width(assign.result);
    switch (assign.operation) {
      case Operation::kConstant:
        return literal(result, assign.value);
      case Operation::kNot:
        return "~" + operand(0);
      case Operation::kAnd:
        return infix("&");
      case Operation::kOr:
        return infix("|");
      case Operation::kXor:
        return infix("^");
      case Operation::kAdd:
        return infix("+");
      case Operation::kSubtract:
        return infix("-");
      case Operation::kMultiply:
        return fmt::format("$signed({}) * $signed({})", sign_extended(assign.operands[0], result),
                           sign_extended(assign.operands[1], result));
      case Operation::kEqual:
        return infix("==");
      case Operation::kLess:
        return infix("<");
      case Operation::kLessSigned:
        return fmt::format("$signed({}) < $signed({})", operand(0), operand(1));
      case Operation::kMux:
        return fmt::format("{} ? {} : {}", operand(0), operand(1), operand(2));
      case Operation::kConcatenate: {
        std::string list;
        for (size_t i = 0; i < assign.operands.size(); ++i) list += (i == 0 ? "" : ", ") + operand(i);
        return "{" + list + "}";
      }
      case Operation::kSlice:
        return bits(assign.operands[0], int(assign.value) + result - 1, int(assign.value));
      case Operation::kSignExtend:
        return sign_extended(assign.operands[0], result);
      case Operation::kZeroExtend: {
        const int more = result - width(assign.operands[0]);
        return more == 0 ? operand(0) : fmt::format("{{{}'d0, {}}}", more, operand(0));
      }
      case Operation::kReduceAnd:
        return "&" + operand(0);
      case Operation::kReduceOr:
        return "|" + operand(0);
    }
    check_failed("operation", __FILE__, __LINE__, "an operation without a text");
  }

  void registers() {
    if (module_.registers.empty()) return;
    body_.line(1, "always_ff @(posedge clk) begin");
    body_.line(2, "if (rst) begin");
    for (const Register& reg : module_.registers) {
      body_.line(3, "{} <= {};", name(reg.q), literal(width(reg.q), reg.reset_value));
    }
    body_.line(2, "end else begin");
    for (const Register& reg : module_.registers) {
      const std::string condition = reg.enable == kNoNet ? "" : fmt::format("if ({}) ", name(reg.enable));
      body_.line(3, "{}{} <= {};", condition, name(reg.q), name(reg.d));
    }
    body_.line(2, "end");
    body_.line(1, "end");
  }

  void print_memory(const Memory& memory) {
    MemoryText text;
    text.name = fresh(memory.name);
    text.memory = &memory;
    for (int bank = 0; bank < memory.banks; ++bank) {
      text.banks.push_back(memory.banks == 1 ? text.name : fresh(fmt::format("{}_bank{}", text.name, bank)));
    }
    for (const ReadPort& port : memory.reads) {
      text.reads.push_back({name(port.enable), name(port.address), width(port.address), name(port.data)});
      text.selects.push_back(memory.banks == 1 ? "" : fresh(name(port.data) + "_bank"));
      std::vector<std::string> data;
      for (int bank = 0; bank < memory.banks && memory.banks > 1; ++bank) {
        data.push_back(fresh(fmt::format("{}_{}", name(port.data), bank)));
      }
      text.bank_data.push_back(data);
    }
    for (const WritePort& port : memory.writes) {
      text.writes.push_back({name(port.enable), name(port.address), width(port.address), name(port.data)});
    }
    text.index = fresh(text.name + "_word");
    write_memory(body_, text);
  }

  void print_fifo(const Fifo& fifo) {
    const std::string base = fresh(fifo.name);
    write_fifo(body_, {base, fresh(base + "_word"), fresh(base + "_head"), fresh(base + "_tail"),
                       fresh(base + "_count"), fresh(base + "_push"), fresh(base + "_pop"),
                       name(fifo.in_valid), name(fifo.in_ready), name(fifo.in_data), name(fifo.out_valid),
                       name(fifo.out_ready), name(fifo.out_data), fifo.width, fifo.depth});
  }

  void print_pipeline(const Pipeline& pipeline) {
    const std::string base = fresh(pipeline.name);
    PipelineText text;
    text.name = base;
    text.input = name(pipeline.input);
    text.result = name(pipeline.result);
    for (int stage = 0; stage < pipeline.latency; ++stage) {
      text.stages.push_back(fresh(fmt::format("{}_{}", base, stage)));
    }
    if (pipeline.initiation_interval > 1) text.phase = fresh(base + "_phase");
    if (pipeline.enable != kNoNet) text.enable = name(pipeline.enable);
    text.width = width(pipeline.input);
    text.initiation_interval = pipeline.initiation_interval;
    write_pipeline(body_, text);
  }

  void print_state_machine(const StateMachine& machine) {
    StateMachineText text;
    text.state = fresh(machine.name + "_state");
    text.machine = &machine;
    for (const StateMachine::State& state : machine.states) {
      text.states.push_back(fresh(machine.name + "_" + state.name));
    }
    for (const NetId output : machine.outputs) text.outputs.push_back({name(output), width(output)});
    for (const StateMachine::State& state : machine.states) {
      for (const StateMachine::Transition& transition : state.transitions) {
        if (transition.condition != kNoNet)
          text.conditions[transition.condition] = name(transition.condition);
      }
    }
    write_state_machine(body_, text);
  }

  void print_instance(const Instance& instance) {
    const Module* const inner = design_.module(instance.module);
    std::vector<Port> ports;
    std::vector<std::string> port_names;
    if (inner != nullptr) {
      ports = inner->ports;
      port_names = printed_ports(*inner);
    } else {
      TILEWRIGHT_CHECK(library_.ports(instance.module, instance.parameters, ports), "an unknown component");
      for (const Port& port : ports) port_names.push_back(port.name);
    }
    std::string parameters;
    for (const auto& [key, value] : instance.parameters) {
      parameters += fmt::format("{}\n    .{}({})", parameters.empty() ? "" : ",", key, text(value));
    }
    const std::string module_name =
        inner != nullptr ? module_names_.at(instance.module) : library_.module_name(instance.module);
    const std::string own_name = fresh(instance.name);
    std::string pins = "\n    .clk(clk),\n    .rst(rst)";
    for (size_t i = 0; i < ports.size(); ++i) {
      const auto connected = instance.connections.find(ports[i].name);
      std::string net;
      if (connected != instance.connections.end() && connected->second != kNoNet) {
        net = name(connected->second);
      } else {
        // Verilator leaves names with this word alone.
        net = fresh(fmt::format("unused_{}_{}", own_name, port_names[i]));
        body_.declare(1, "logic ", net, ports[i].width, true, ";");
      }
      pins += fmt::format(",\n    .{}({})", port_names[i], net);
    }
    body_.line(1, "{}{} {} ({}\n  );", module_name,
               parameters.empty() ? "" : fmt::format(" #({}\n  )", parameters), own_name, pins);
  }

  const Netlist& design_;
  const Library& library_;
  const Module& module_;
  const std::map<std::string, std::string>& module_names_;
  std::map<std::string, std::string> identifiers_;
  std::set<std::string> used_, ports_;
  VerilogWriter head_, body_;
};

// Library components keep their names, so modules of the design step aside.
std::map<std::string, std::string> names_of_modules(const Netlist& design, const Library& library) {
  std::vector<std::string> names;
  std::set<std::string> components;
  for (const Module& module : design.modules) names.push_back(module.name);
  for (const Module& module : design.modules) {
    for (const Instance& instance : module.instances) {
      if (design.module(instance.module) == nullptr) {
        components.insert(library.module_name(instance.module));
      }
    }
  }
  const std::vector<std::string> legal = legal_names(names, components);
  std::map<std::string, std::string> result;
  for (size_t i = 0; i < names.size(); ++i) result[names[i]] = legal[i];
  return result;
}

}  // namespace

std::string to_verilog(const Netlist& design, const Library& library) {
  const std::map<std::string, std::string> names = names_of_modules(design, library);
  std::string text;
  const auto print = [&](const Module& module) {
    if (!text.empty()) text += '\n';
    text += ModulePrinter(design, library, module, names).print();
  };
  for (const Module& module : design.modules) {
    if (module.name != design.top) print(module);
  }
  const Module* const top = design.module(design.top);
  TILEWRIGHT_CHECK(top != nullptr, "a design without its top");
  print(*top);
  return text;
}

std::vector<std::string> printed_ports(const Module& module) {
  std::vector<std::string> names = legal_names(all_names(module), taken_names(module));
  names.resize(module.ports.size());
  return names;
}

std::vector<std::string> printed_instances(const Module& module) {
  std::set<std::string> used = taken_names(module);
  const std::vector<std::string> nets = legal_names(all_names(module), used);
  used.insert(nets.begin(), nets.end());
  std::vector<std::string> names;
  for (const Instance& instance : module.instances) {
    names.push_back(legal_names({instance.name}, used).front());
    used.insert(names.back());
  }
  return names;
}

std::string printed_module(const Netlist& design, const std::string& module_name, const Library& library) {
  return names_of_modules(design, library).at(module_name);
}

}  // namespace tilewright::netlist
