// Drives a Verilated netlist. netlist_ports.h is written for each design: it includes the model's header,
// names its class Top and has `list_ports(Top&)`.
#include <string>
#include <vector>

#include "netlist_pins.h"
#include "netlist_ports.h"
#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif

namespace {

// A model that stops says so here; one thread runs one model at a time.
thread_local std::string* current_complaint = nullptr;

void complain(const char* file, int line, const char* what) {
  if (current_complaint == nullptr || !current_complaint->empty()) return;
  *current_complaint = std::string(file) + ":" + std::to_string(line) + ": " + what;
}

}  // namespace

void vl_stop(const char* file, int line, const char*) { complain(file, line, "assertion failed"); }
void vl_finish(const char* file, int line, const char*) { complain(file, line, "$finish"); }
void vl_fatal(const char* file, int line, const char*, const char* message) { complain(file, line, message); }

struct NetlistModel {
  explicit NetlistModel(const char* wave_file) : ports(list_ports(top)) {
#if VM_TRACE_FST
    if (wave_file != nullptr) {
      context.traceEverOn(true);
      top.trace(&wave, 99);
      wave.open(wave_file);
    }
#else
    static_cast<void>(wave_file);
#endif
  }
  ~NetlistModel() {
#if VM_TRACE_FST
    if (wave.isOpen()) wave.close();
#endif
    top.final();
  }

  void evaluate(int clock) {
    current_complaint = &complaint;
    top.clk = clock;
    top.eval();
#if VM_TRACE_FST
    if (wave.isOpen()) wave.dump(time++);
#endif
  }

  VerilatedContext context;
  Top top{&context};
#if VM_TRACE_FST
  VerilatedFstC wave;
  uint64_t time = 0;
#endif
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

}  // namespace

extern "C" __attribute__((visibility("default"))) const NetlistInterface* netlist_interface() {
  static const NetlistInterface interface { create, destroy, ports, settle, edge, complaint };
  return &interface;
}
