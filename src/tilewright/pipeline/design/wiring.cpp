// A component's own port list says which of a stream's nets it has.
#include "tilewright/pipeline/design/wiring.h"

#include <fmt/format.h>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/component.h"

namespace tilewright::pipeline {

using netlist::kNoNet;
using netlist::NetId;

Stream Wiring::stream(const Label& label, int64_t elements, int element_bits) {
  const std::string name = label.text();
  Stream s;
  s.elements = elements;
  s.element_bits = element_bits;
  s.width = int(elements * element_bits);
  s.valid = module_.add_net(name + "_valid", 1);
  s.ready = module_.add_net(name + "_ready", 1);
  s.data = module_.add_net(name + "_data", s.width);
  return s;
}

NetId Wiring::constant(int width, uint64_t value) {
  NetId& net = constants_.try_emplace({width, value}, kNoNet).first->second;
  if (net == kNoNet) net = module_.add_constant(width, value, fmt::format("const{}_{}", width, value));
  return net;
}

void Wiring::add(const Label& instance, const char* component, netlist::Parameters parameters,
                 std::initializer_list<StreamPort> streams, Nets others) {
  const ComponentType* const type = component_type(component);
  TILEWRIGHT_CHECK(type != nullptr, std::string("no component '") + component + "'");
  const std::string instance_name = instance.text();
  const std::vector<ComponentPort> ports = type->ports(parameters);
  for (const auto& [port_of_stream, s] : streams) {
    if (s == nullptr) continue;
    const std::string name = port_of_stream;
    for (const ComponentPort& port : ports) {
      const std::string& port_name = port.port.name;
      if (port_name == name + "_valid") others[port_name] = s->valid;
      if (port_name == name + "_ready") others[port_name] = s->ready;
      if (port_name == name + "_data") others[port_name] = s->data;
      if (port_name != name + "_last") continue;
      if (port.port.direction == netlist::Direction::kOutput) {
        if (s->last == kNoNet) s->last = module_.add_net(fmt::format("{}_{}", instance_name, port_name), 1);
        others[port_name] = s->last;
      } else {
        others[port_name] = s->last == kNoNet ? constant(1, 1) : s->last;
      }
    }
  }
  module_.add_instance(instance_name, component, std::move(parameters), std::move(others));
}

std::string Wiring::image(const Label& name, MemoryImage contents) {
  const std::string file = name.text() + ".hex";
  images_[file] = std::move(contents);
  return file;
}

}  // namespace tilewright::pipeline
