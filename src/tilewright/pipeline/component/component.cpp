// Components by name; list.h is the whole registration.
#include "tilewright/pipeline/component/component.h"

#include "tilewright/pipeline/component/list.h"

namespace tilewright::pipeline {
namespace {

class ComponentLibrary : public netlist::Library {
 public:
  bool ports(const std::string& component, const netlist::Parameters& parameters,
             std::vector<netlist::Port>& result) const override {
    const ComponentType* const type = component_type(component);
    if (type == nullptr) return false;
    result.clear();
    for (const ComponentPort& port : type->ports(parameters)) result.push_back(port.port);
    return true;
  }

  std::string module_name(const std::string& component) const override { return component_module(component); }

  // Rule 2 of docs/design/pipeline/pipeline.md: any input that counts in time, but for the valid of the same
  // stream.
  bool combinational(const std::string& component, const netlist::Parameters& parameters,
                     const std::string& output, const std::string& input) const override {
    const ComponentType* const type = component_type(component);
    if (type == nullptr) return false;
    bool depends = false, counts = false;
    for (const ComponentPort& port : type->ports(parameters)) {
      if (port.port.name == output) depends = port.timing == PortTiming::kCombinational;
      if (port.port.name == input) counts = port.timing != PortTiming::kData;
    }
    const size_t stem = output.rfind('_');
    return depends && counts && (stem == std::string::npos || input != output.substr(0, stem) + "_valid");
  }
};

}  // namespace

std::span<const ComponentType* const> component_types() {
#define TILEWRIGHT_ADDRESS_COMPONENT(constant, name) &constant,
  static constexpr const ComponentType* kTypes[] = {TILEWRIGHT_COMPONENTS(TILEWRIGHT_ADDRESS_COMPONENT)};
#undef TILEWRIGHT_ADDRESS_COMPONENT
  return kTypes;
}

const ComponentType* component_type(const std::string& name) {
  for (const ComponentType* const type : component_types()) {
    if (name == type->name) return type;
  }
  return nullptr;
}

std::string component_module(const std::string& name) {
  return (name.starts_with("stream_") ? "tw_" : "tw_stream_") + name;
}

const netlist::Library& component_library() {
  static const ComponentLibrary library;
  return library;
}

StreamPorts add_stream(std::vector<ComponentPort>& ports, const std::string& name,
                       netlist::Direction direction, int width, bool last) {
  const bool output = direction == netlist::Direction::kOutput;
  const netlist::Direction back = output ? netlist::Direction::kInput : netlist::Direction::kOutput;
  StreamPorts stream;
  const auto add = [&](const char* suffix, netlist::Direction way, int bits, PortTiming timing) {
    ports.push_back({{name + suffix, way, bits}, timing});
    return int(ports.size()) - 1;
  };
  stream.valid = add("_valid", direction, 1, PortTiming::kControl);
  stream.ready = add("_ready", back, 1, output ? PortTiming::kControl : PortTiming::kCombinational);
  if (width > 0) stream.data = add("_data", direction, width, PortTiming::kData);
  if (last) stream.last = add("_last", direction, 1, PortTiming::kControl);
  return stream;
}

}  // namespace tilewright::pipeline
