// The component library of generated designs: for each module of rtl/pipeline its ports and its timing model.
// docs/design/pipeline/pipeline.md says what every component does.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/image/memory_image.h"
#include "tilewright/pipeline/image/row_layout.h"

namespace tilewright::pipeline {

struct ComponentSizes;
struct ResourceFeatures;

// The role of a port in a simulation of timing alone.
enum class PortTiming {
  kControl,        // an input, or an output that comes from registers
  kCombinational,  // an output that depends on inputs of the same cycle (ready)
  kData,           // payload: timing does not depend on it, it is not simulated
};

struct ComponentPort {
  netlist::Port port;
  PortTiming timing = PortTiming::kControl;
};

// The values of a component's ports in one cycle, in the order of its port list, at most 64 bits each. Data
// ports and open ports read as 0.
class Pins {
 public:
  explicit Pins(std::vector<uint64_t*> cells) : cells_(std::move(cells)) {}
  uint64_t operator[](int port) const { return *cells_[size_t(port)]; }
  void set(int port, uint64_t value) { *cells_[size_t(port)] = value; }

 private:
  std::vector<uint64_t*> cells_;
};

// One component, clock by clock, without its data. In each cycle the simulator calls settle() once, after
// everything that the combinational outputs depend on has settled, then tick().
class CycleModel {
 public:
  virtual ~CycleModel() = default;
  // Sets the registered outputs as after reset.
  virtual void reset(Pins& pins) = 0;
  // Sets the combinational outputs.
  virtual void settle(Pins&) {}
  // The clock edge: reads the settled inputs, sets the registered outputs of the next cycle.
  virtual void tick(Pins& pins) = 0;
};

struct ComponentType {
  const char* name;
  // What has to be read before it: the modules of rtl/pipeline that it instantiates, named as
  // component_module takes them, and kConfigPackage if it or they name positions of fields or registers.
  std::vector<const char*> uses;
  // clk and rst left out. Errors (invalid input): parameters that do not fit, all named.
  std::vector<ComponentPort> (*ports)(const netlist::Parameters& parameters);
  // `images`: the task tables that `parameters` name.
  std::unique_ptr<CycleModel> (*cycle_model)(const netlist::Parameters& parameters,
                                             const MemoryImages& images);
  // The features of its area; their weights are in estimate/resource_coefficients.cpp.
  ResourceFeatures (*features)(const ComponentSizes& sizes);
  // The layouts of the rows of its task tables, and of whatever else has fields; its source takes their
  // positions from the package component_config. nullptr: there are none.
  std::vector<RowLayout> (*layouts)() = nullptr;
};

// All of them, by name. Each is defined in component/NAME.cpp.
std::span<const ComponentType* const> component_types();
// nullptr: none.
const ComponentType* component_type(const std::string& name);

// The Verilog module of a component, or of a part of one (ComponentType::uses): its file in rtl/pipeline is
// MODULE.sv.
std::string component_module(const std::string& name);

// For the verifier and the printer of netlists.
const netlist::Library& component_library();

// The ports of a stream NAME: NAME_valid, NAME_ready, NAME_data (`width` bits; 0: none) and, where wanted,
// NAME_last. `direction`: of the data. Appends to `ports`, in this order.
struct StreamPorts {
  int valid = -1, ready = -1, data = -1, last = -1;  // positions in the list
};
StreamPorts add_stream(std::vector<ComponentPort>& ports, const std::string& name,
                       netlist::Direction direction, int width, bool last = false);

}  // namespace tilewright::pipeline
