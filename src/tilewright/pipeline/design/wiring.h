// The sink that makes a netlist: streams become nets, components instances between them.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/design/component_sink.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

class Wiring : public ComponentSink {
 public:
  Wiring(netlist::Module& module, MemoryImages& images) : module_(module), images_(images) {}

  Wiring* wiring() override { return this; }
  Stream stream(const Label& name, int64_t elements, int element_bits) override;
  void add(const Label& instance, const char* component, netlist::Parameters parameters,
           std::initializer_list<StreamPort> streams, Nets others = {}) override;

  netlist::Module& module() { return module_; }
  // A constant net; equal ones are one net.
  netlist::NetId constant(int width, uint64_t value);
  // Stores contents under "NAME.hex" and returns that.
  std::string image(const Label& name, MemoryImage contents);

 private:
  netlist::Module& module_;
  MemoryImages& images_;
  std::map<std::pair<int, uint64_t>, netlist::NetId> constants_;
};

}  // namespace tilewright::pipeline
