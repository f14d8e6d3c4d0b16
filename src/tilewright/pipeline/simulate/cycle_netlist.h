// A netlist of components clock by clock, without its data: the components' models in time and the glue
// between them (operators and registers of the netlist). The same interface as RtlModel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/netlist/operation.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

class CycleNetlist {
 public:
  static constexpr bool kHasData = false;

  // The top of `design`: instances of components, operators, registers. Everything is as after reset. Errors
  // (unsupported): other parts; (invalid input): handshakes that depend on each other in a loop, named.
  CycleNetlist(const netlist::Netlist& design, const MemoryImages& images);
  CycleNetlist(const CycleNetlist&) = delete;
  CycleNetlist& operator=(const CycleNetlist&) = delete;

  // A port of the top by name: errors (internal) if there is none; or its net. Values of payload and of nets
  // of more than 64 bits are 0.
  int port(const std::string& name) const;
  bool has_port(const std::string& name) const { return module_.net(name) != netlist::kNoNet; }
  int bits(int port) const { return module_.nets[size_t(port)].width; }
  uint64_t get(int port) const { return values_[size_t(port)]; }
  void set(int port, uint64_t value) { values_[size_t(port)] = value; }
  void get_words(int, uint32_t*) const {}
  void set_words(int, const uint32_t*) {}

  void reset();
  void settle();
  void edge();
  std::string complaint() const { return ""; }

  // A stream between two components: its net's name without _valid.
  struct StreamNets {
    std::string name;
    netlist::NetId valid = netlist::kNoNet, ready = netlist::kNoNet;
    std::string producer, consumer;  // instances; empty: not a component
  };
  const std::vector<StreamNets>& streams() const { return streams_; }

 private:
  struct Component {
    const netlist::Instance* instance = nullptr;
    std::vector<ComponentPort> ports;
    std::unique_ptr<CycleModel> model;
    std::unique_ptr<Pins> pins;
  };
  struct Clocked {
    const uint64_t* d = nullptr;
    const uint64_t* enable = nullptr;
    size_t next = 0;
    uint64_t reset_value = 0;
  };
  // A component with combinational outputs, or an operator.
  struct Step {
    int component = -1, assign = -1;
    std::vector<netlist::NetId> reads;
  };

  void add_components(const netlist::Netlist& design, const MemoryImages& images);
  void place_pins(Component& component);
  void add_registers();
  void add_streams();
  std::vector<bool> needed_nets() const;
  void make_steps();
  void add_step(Step step, std::vector<netlist::NetId> reads, const std::vector<netlist::NetId>& makes);
  void order_steps();
  void commit();

  const netlist::Module module_;
  std::vector<uint64_t> values_;         // by net
  std::vector<uint64_t> next_;           // of registered outputs
  std::vector<netlist::NetId> targets_;  // the net of each
  std::vector<uint64_t> unseen_;         // cells of ports that are payload or open
  size_t unseen_used_ = 0;
  std::vector<Component> components_;
  std::vector<netlist::CellOperator> operators_;
  std::vector<Clocked> registers_;
  std::vector<Step> steps_;
  std::vector<int> maker_;  // by net: the step that makes it within a cycle; -1: none
  std::vector<StreamNets> streams_;
};

}  // namespace tilewright::pipeline
