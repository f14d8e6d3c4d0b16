// Drives a Verilated netlist. netlist_ports.h is written for each design: it includes the model's header,
// names its class Top and has `list_ports(Top&)`.
#include <string>
#include <vector>

#include "netlist_pins.h"
#include "netlist_ports.h"
#include "verilated_harness.h"

struct NetlistModel {
  explicit NetlistModel(const char* wave_file) : watch(context, top, wave_file), ports(list_ports(top)) {}
  ~NetlistModel() { top.final(); }

  void evaluate(int clock) {
    current_complaint = &complaint;
    top.clk = clock;
    top.eval();
    watch.dump();
  }

  VerilatedContext context;
  Top top{&context};
  Watch watch;
  std::vector<NetlistPort> ports;
  std::string complaint;
};

namespace {

NetlistModel* create(const char* wave_file) { return new NetlistModel(wave_file); }
void destroy(NetlistModel* model) { delete model; }
const NetlistPort* ports(NetlistModel* model, int& count) {
  count = int(model->ports.size());
  return model->ports.data();
}
void settle(NetlistModel* model) { model->evaluate(0); }
void edge(NetlistModel* model) { model->evaluate(1); }
const char* complaint(const NetlistModel* model) { return model->complaint.c_str(); }
const ScopeActivity* activity(NetlistModel* model, int& count) { return model->watch.activity(count); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const NetlistInterface* netlist_interface() {
  static const NetlistInterface interface { create, destroy, ports, settle, edge, complaint, activity };
  return &interface;
}
