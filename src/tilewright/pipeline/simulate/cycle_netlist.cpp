// Registered outputs are written to cells of their own and become visible together after every component has
// ticked. Combinational ones go straight to their nets; components and operators that make them are put into
// one order once, so that each is evaluated once per cycle.
#include "tilewright/pipeline/simulate/cycle_netlist.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/error.h"

namespace tilewright::pipeline {
namespace {

using netlist::Direction;
using netlist::kNoNet;
using netlist::NetId;
using netlist::Operation;

constexpr int kCellBits = netlist::kWordBits;

NetId connected(const netlist::Instance& instance, const std::string& port) {
  const auto it = instance.connections.find(port);
  return it == instance.connections.end() ? kNoNet : it->second;
}

}  // namespace

CycleNetlist::CycleNetlist(const netlist::Netlist& design, const MemoryImages& images)
    : module_(*design.module(design.top)), values_(module_.nets.size()) {
  if (!module_.memories.empty() || !module_.fifos.empty() || !module_.pipelines.empty() ||
      !module_.state_machines.empty()) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("module '{}' has memories, queues, pipelines or state machines of its own", module_.name),
        "use components for them");
  }
  add_components(design, images);
  add_registers();
  make_steps();
  order_steps();
  add_streams();
  reset();
}

int CycleNetlist::port(const std::string& name) const {
  const NetId net = module_.net(name);
  if (net == kNoNet) throw Error(ErrorKind::kInternal, fmt::format("the top has no port '{}'", name));
  return int(net);
}

void CycleNetlist::add_components(const netlist::Netlist& design, const MemoryImages& images) {
  size_t ports = module_.registers.size();
  for (const netlist::Instance& instance : module_.instances) {
    const ComponentType* const type = component_type(instance.module);
    if (type == nullptr || design.module(instance.module) != nullptr) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("instance '{}' of '{}' is not a component", instance.name, instance.module),
                  "use components of rtl/pipeline");
    }
    Component component;
    component.instance = &instance;
    component.ports = type->ports(instance.parameters);
    component.model = with_context(fmt::format("instance '{}'", instance.name),
                                   [&] { return type->cycle_model(instance.parameters, images); });
    ports += component.ports.size();
    components_.push_back(std::move(component));
  }
  // Cells are pointed at: their vectors must not grow afterwards.
  next_.reserve(ports);
  unseen_.resize(ports);
  for (Component& component : components_) place_pins(component);
}

void CycleNetlist::place_pins(Component& component) {
  std::vector<uint64_t*> cells;
  for (const ComponentPort& port : component.ports) {
    const NetId net = connected(*component.instance, port.port.name);
    if (net == kNoNet || port.timing == PortTiming::kData) {
      cells.push_back(&unseen_[unseen_used_++]);
      continue;
    }
    TILEWRIGHT_CHECK(port.port.width <= kCellBits, fmt::format("port '{}' of '{}' is wide and no payload",
                                                               port.port.name, component.instance->name));
    if (port.port.direction == Direction::kInput || port.timing == PortTiming::kCombinational) {
      cells.push_back(&values_[size_t(net)]);
    } else {
      next_.push_back(0);
      targets_.push_back(net);
      cells.push_back(&next_.back());
    }
  }
  component.pins = std::make_unique<Pins>(std::move(cells));
}

void CycleNetlist::add_registers() {
  for (const netlist::Register& reg : module_.registers) {
    if (module_.nets[size_t(reg.q)].width > kCellBits) continue;
    next_.push_back(reg.reset_value);
    targets_.push_back(reg.q);
    const uint64_t* const enable = reg.enable == kNoNet ? nullptr : &values_[size_t(reg.enable)];
    registers_.push_back({&values_[size_t(reg.d)], enable, next_.size() - 1, reg.reset_value});
  }
}

// Nets whose value matters to time, found backwards from the components' inputs and the top's outputs.
std::vector<bool> CycleNetlist::needed_nets() const {
  std::vector<bool> needed(module_.nets.size());
  std::vector<NetId> open;
  const auto need = [&](NetId net) {
    if (net == kNoNet || needed[size_t(net)] || module_.nets[size_t(net)].width > kCellBits) return;
    needed[size_t(net)] = true;
    open.push_back(net);
  };
  for (const Component& component : components_) {
    for (const ComponentPort& port : component.ports) {
      if (port.port.direction == Direction::kInput && port.timing != PortTiming::kData) {
        need(connected(*component.instance, port.port.name));
      }
    }
  }
  for (const netlist::Port& port : module_.ports) {
    if (port.direction == Direction::kOutput) need(module_.net(port.name));
  }
  for (const netlist::Register& reg : module_.registers) need(reg.d), need(reg.enable);
  std::vector<const netlist::Assign*> driver(module_.nets.size());
  for (const netlist::Assign& assign : module_.assigns) driver[size_t(assign.result)] = &assign;
  while (!open.empty()) {
    const netlist::Assign* const assign = driver[size_t(open.back())];
    open.pop_back();
    if (assign == nullptr) continue;
    for (const NetId operand : assign->operands) need(operand);
  }
  return needed;
}

void CycleNetlist::add_step(Step step, std::vector<NetId> reads, const std::vector<NetId>& makes) {
  for (const NetId net : makes) maker_[size_t(net)] = int(steps_.size());
  step.reads = std::move(reads);
  steps_.push_back(std::move(step));
}

void CycleNetlist::make_steps() {
  const std::vector<bool> needed = needed_nets();
  maker_.assign(module_.nets.size(), -1);
  for (const netlist::Assign& assign : module_.assigns) {
    const auto wide = [&](NetId net) { return bits(net) > kCellBits; };
    if (!needed[size_t(assign.result)] || wide(assign.result) ||
        std::any_of(assign.operands.begin(), assign.operands.end(), wide)) {
      continue;
    }
    if (assign.operation == Operation::kConstant) {
      values_[size_t(assign.result)] = assign.value;
      continue;
    }
    operators_.push_back(netlist::make_operator(module_, assign, values_));
    add_step({-1, int(operators_.size()) - 1, {}}, assign.operands, {assign.result});
  }
  for (size_t c = 0; c < components_.size(); ++c) {
    std::vector<NetId> reads, makes;
    for (const ComponentPort& port : components_[c].ports) {
      const NetId net = connected(*components_[c].instance, port.port.name);
      if (net == kNoNet || port.timing == PortTiming::kData) continue;
      if (port.port.direction == Direction::kInput) {
        reads.push_back(net);
      } else if (port.timing == PortTiming::kCombinational) {
        makes.push_back(net);
      }
    }
    if (!makes.empty()) add_step({int(c), -1, {}}, std::move(reads), makes);
  }
}

// Each step goes after those that make what it reads.
void CycleNetlist::order_steps() {
  std::vector<int> missing(steps_.size());
  std::vector<std::vector<int>> users(steps_.size());
  for (size_t s = 0; s < steps_.size(); ++s) {
    for (const NetId net : steps_[s].reads) {
      if (maker_[size_t(net)] < 0) continue;
      users[size_t(maker_[size_t(net)])].push_back(int(s));
      ++missing[s];
    }
  }
  std::vector<int> order;
  for (size_t s = 0; s < steps_.size(); ++s) {
    if (missing[s] == 0) order.push_back(int(s));
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const int user : users[size_t(order[i])]) {
      if (--missing[size_t(user)] == 0) order.push_back(user);
    }
  }
  if (order.size() == steps_.size()) {
    std::vector<Step> ordered;
    for (const int s : order) ordered.push_back(std::move(steps_[size_t(s)]));
    steps_ = std::move(ordered);
    return;
  }
  std::string names;
  for (size_t s = 0; s < steps_.size(); ++s) {
    if (missing[s] == 0 || steps_[s].component < 0) continue;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ",
                         components_[size_t(steps_[s].component)].instance->name);
  }
  throw Error(ErrorKind::kInvalidInput, "components wait for each other within a cycle: " + names,
              "put a queue between two of them");
}

void CycleNetlist::add_streams() {
  std::vector<std::string> reader(module_.nets.size());
  for (const Component& component : components_) {
    for (const ComponentPort& port : component.ports) {
      const NetId net = connected(*component.instance, port.port.name);
      if (net != kNoNet && port.port.direction == Direction::kInput) {
        reader[size_t(net)] = component.instance->name;
      }
    }
  }
  for (const Component& component : components_) {
    for (const ComponentPort& port : component.ports) {
      const std::string& name = port.port.name;
      if (port.port.direction != Direction::kOutput || !name.ends_with("_valid")) continue;
      const NetId valid = connected(*component.instance, name);
      const NetId ready = connected(*component.instance, name.substr(0, name.size() - 5) + "ready");
      if (valid == kNoNet || ready == kNoNet || bits(valid) != 1 || bits(ready) != 1) continue;
      std::string net = module_.nets[size_t(valid)].name;
      if (net.ends_with("_valid")) net.resize(net.size() - 6);
      streams_.push_back({net, valid, ready, component.instance->name, reader[size_t(valid)]});
    }
  }
}

void CycleNetlist::commit() {
  for (size_t i = 0; i < next_.size(); ++i) values_[size_t(targets_[i])] = next_[i];
}

void CycleNetlist::reset() {
  for (Component& component : components_) component.model->reset(*component.pins);
  for (const Clocked& reg : registers_) next_[reg.next] = reg.reset_value;
  commit();
}

void CycleNetlist::settle() {
  for (const Step& step : steps_) {
    if (step.component >= 0) {
      Component& component = components_[size_t(step.component)];
      component.model->settle(*component.pins);
    } else {
      operators_[size_t(step.assign)].evaluate();
    }
  }
}

void CycleNetlist::edge() {
  for (Component& component : components_) component.model->tick(*component.pins);
  for (const Clocked& reg : registers_) {
    if (reg.enable == nullptr || *reg.enable != 0) next_[reg.next] = *reg.d;
  }
  commit();
}

}  // namespace tilewright::pipeline
