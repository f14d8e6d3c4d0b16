// Names: a net that is taken gets the next free number, so that builders need not care.
#include "tilewright/netlist/netlist.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/error.h"

namespace tilewright::netlist {
namespace {

const char* operation_name(Operation operation) {
  static constexpr const char* kNames[] = {"constant",    "not",        "and",      "or",    "xor",
                                           "add",         "subtract",   "multiply", "equal", "less",
                                           "less_signed", "mux",        "concat",   "slice", "sign_extend",
                                           "zero_extend", "reduce_and", "reduce_or"};
  return kNames[int(operation)];
}

template <typename T>
const T* find(const Parameters& parameters, const std::string& name) {
  const auto it = parameters.find(name);
  if (it == parameters.end()) return nullptr;
  const T* const value = std::get_if<T>(&it->second);
  if (value == nullptr) {
    throw Error(ErrorKind::kInternal, fmt::format("parameter '{}' has another type", name));
  }
  return value;
}

}  // namespace

NetId Module::add_net(const std::string& net_name, int width) {
  std::string unique = net_name.empty() ? "net" : net_name;
  for (int number = 1; net(unique) != kNoNet; ++number) unique = fmt::format("{}_{}", net_name, number);
  nets.push_back({unique, width});
  return NetId(nets.size() - 1);
}

void Module::begin_section(std::vector<std::string> heading) {
  sections.push_back({std::move(heading), nets.size(), assigns.size(), instances.size()});
}

NetId Module::add_port(const std::string& port_name, Direction direction, int width) {
  if (net(port_name) != kNoNet) {
    throw Error(ErrorKind::kInternal, fmt::format("module '{}' has a net '{}' already", name, port_name));
  }
  ports.push_back({port_name, direction, width});
  return add_net(port_name, width);
}

NetId Module::net(const std::string& net_name) const {
  const auto it = std::find_if(nets.begin(), nets.end(), [&](const Net& n) { return n.name == net_name; });
  return it == nets.end() ? kNoNet : NetId(it - nets.begin());
}

NetId Module::add_constant(int width, uint64_t value, const std::string& net_name) {
  return add_assign(Operation::kConstant, {}, width, value, net_name);
}

NetId Module::add_assign(Operation operation, std::vector<NetId> operands, int width, uint64_t value,
                         const std::string& net_name) {
  const NetId result = add_net(net_name.empty() ? operation_name(operation) : net_name, width);
  assigns.push_back({result, operation, std::move(operands), value});
  return result;
}

void Module::connect(NetId target, NetId source) {
  assigns.push_back({target, Operation::kZeroExtend, {source}, 0});
}

Instance& Module::add_instance(const std::string& instance_name, const std::string& module_name,
                               Parameters parameters, std::map<std::string, NetId> connections) {
  instances.push_back({instance_name, module_name, std::move(parameters), std::move(connections)});
  return instances.back();
}

const Module* Netlist::module(const std::string& module_name) const {
  for (const Module& m : modules) {
    if (m.name == module_name) return &m;
  }
  return nullptr;
}

int64_t integer(const Parameters& parameters, const std::string& name) {
  const int64_t* const value = find<int64_t>(parameters, name);
  if (value == nullptr) throw Error(ErrorKind::kInternal, fmt::format("no parameter '{}'", name));
  return *value;
}

int64_t integer_or(const Parameters& parameters, const std::string& name, int64_t fallback) {
  const int64_t* const value = find<int64_t>(parameters, name);
  return value == nullptr ? fallback : *value;
}

std::string text_or(const Parameters& parameters, const std::string& name, const std::string& fallback) {
  const auto found = parameters.find(name);
  if (found != parameters.end()) {
    if (const auto* const own = std::get_if<ParameterText>(&found->second)) return own->text;
  }
  const std::string* const value = find<std::string>(parameters, name);
  return value == nullptr ? fallback : *value;
}

}  // namespace tilewright::netlist
