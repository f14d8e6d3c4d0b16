// Drives the Verilated overlay: clock, reset, AXI4-Lite accesses, and the AXI pins once per cycle.
//
// In a cycle, inputs are applied and settled with the clock low; then both sides of every handshake are
// stable, the memory is told, and the rising edge makes the registers of the next cycle. The memory is only
// called in cycles in which the design asks for something or in which it said it would have something to
// change.
#include <memory>
#include <string>

#include "Vtilewright_overlay.h"
#include "overlay_pins.h"
#include "verilated_harness.h"

namespace {

void to_port(uint32_t& port, const uint32_t* words) { port = words[0]; }
void to_port(uint64_t& port, const uint32_t* words) { port = words[0] | uint64_t(words[1]) << 32; }
template <std::size_t kWords>
void to_port(VlWide<kWords>& port, const uint32_t* words) {
  for (std::size_t i = 0; i < kWords; ++i) port[i] = words[i];
}
void from_port(uint32_t port, uint32_t* words) { words[0] = port; }
void from_port(uint64_t port, uint32_t* words) {
  words[0] = uint32_t(port);
  words[1] = uint32_t(port >> 32);
}
template <std::size_t kWords>
void from_port(const VlWide<kWords>& port, uint32_t* words) {
  for (std::size_t i = 0; i < kWords; ++i) words[i] = port[i];
}

}  // namespace

struct OverlayModel {
  static constexpr int kAccessCycles = 1000;  // an AXI4-Lite access that takes longer has failed

  OverlayModel(const char* wave_file, AxiTick memory_tick, void* memory_of_tick)
      : watch(context, top, wave_file), tick(memory_tick), memory(memory_of_tick) {
    reset();
  }
  ~OverlayModel() { top.final(); }

  void evaluate() {
    top.eval();
    watch.dump();
  }

  void reset() {
    pins = AxiPins{};
    apply_memory();
    top.s_axil_awvalid = top.s_axil_wvalid = top.s_axil_arvalid = 0;
    top.s_axil_bready = top.s_axil_rready = 0;
    top.s_axil_wstrb = 15;
    top.rst_n = 0;
    for (int i = 0; i < 4; ++i) {
      top.clk = 0;
      evaluate();
      top.clk = 1;
      evaluate();
    }
    top.rst_n = 1;
    pins.ar_ready = pins.aw_ready = pins.w_ready = 1;
    was_running = false;
    apply_memory();
  }

  void apply_memory() {
    top.m_axi_arready = pins.ar_ready;
    top.m_axi_awready = pins.aw_ready;
    top.m_axi_wready = pins.w_ready;
    top.m_axi_rvalid = pins.r_valid;
    top.m_axi_rid = pins.r_id;
    top.m_axi_rresp = pins.r_response;
    top.m_axi_rlast = pins.r_last;
    top.m_axi_bvalid = pins.b_valid;
    top.m_axi_bresp = pins.b_response;
    if (pins.r_valid != 0) to_port(top.m_axi_rdata, pins.r_data);
  }

  void sample_design() {
    pins.ar_valid = top.m_axi_arvalid;
    pins.aw_valid = top.m_axi_awvalid;
    pins.w_valid = top.m_axi_wvalid;
    pins.r_ready = top.m_axi_rready;
    pins.b_ready = top.m_axi_bready;
    if (pins.ar_valid != 0) {
      pins.ar_address = top.m_axi_araddr;
      pins.ar_id = top.m_axi_arid;
      pins.ar_length = top.m_axi_arlen;
      pins.ar_size = top.m_axi_arsize;
      pins.ar_burst = top.m_axi_arburst;
    }
    if (pins.aw_valid != 0) {
      pins.aw_address = top.m_axi_awaddr;
      pins.aw_length = top.m_axi_awlen;
      pins.aw_size = top.m_axi_awsize;
      pins.aw_burst = top.m_axi_awburst;
    }
    if (pins.w_valid != 0) {
      pins.w_strobe[0] = top.m_axi_wstrb;
      pins.w_last = top.m_axi_wlast;
      from_port(top.m_axi_wdata, pins.w_data);
    }
  }

  // First half of a cycle: everything settles.
  void settle() {
    top.clk = 0;
    evaluate();
  }

  // Second half: the memory, the edge, the memory's pins of the next cycle.
  void edge() {
    const bool running = top.dbg_running != 0;
    if (running && !was_running) pins.cycle = 0;
    was_running = running;
    const bool asks = (top.m_axi_arvalid | top.m_axi_awvalid | top.m_axi_wvalid) != 0;
    const bool called = asks || pins.cycle >= pins.wake;
    if (called) {
      sample_design();
      tick(memory, pins);
    }
    top.clk = 1;
    evaluate();
    if (called) apply_memory();
    ++pins.cycle;
  }

  bool halted() const { return pins.stop != 0 || !complaint.empty(); }

  bool read(uint32_t offset, uint32_t& value) {
    top.s_axil_araddr = offset;
    top.s_axil_arvalid = 1;
    top.s_axil_rready = 1;
    bool asked = false, answered = false, good = false;
    for (int i = 0; i < kAccessCycles && !answered && !halted(); ++i) {
      settle();
      const bool accepted = top.s_axil_arvalid != 0 && top.s_axil_arready != 0;
      if (top.s_axil_rvalid != 0 && (asked || accepted)) {
        answered = true;
        good = top.s_axil_rresp == 0;
        value = top.s_axil_rdata;
      }
      asked = asked || accepted;
      edge();
      if (asked) top.s_axil_arvalid = 0;
    }
    top.s_axil_arvalid = top.s_axil_rready = 0;
    return answered && good;
  }

  bool write(uint32_t offset, uint32_t value) {
    top.s_axil_awaddr = offset;
    top.s_axil_wdata = value;
    top.s_axil_awvalid = top.s_axil_wvalid = top.s_axil_bready = 1;
    bool answered = false, good = false;
    for (int i = 0; i < kAccessCycles && !answered && !halted(); ++i) {
      settle();
      const bool address = top.s_axil_awvalid != 0 && top.s_axil_awready != 0;
      const bool data = top.s_axil_wvalid != 0 && top.s_axil_wready != 0;
      if (top.s_axil_bvalid != 0) {
        answered = true;
        good = top.s_axil_bresp == 0;
      }
      edge();
      if (address) top.s_axil_awvalid = 0;
      if (data) top.s_axil_wvalid = 0;
    }
    top.s_axil_awvalid = top.s_axil_wvalid = top.s_axil_bready = 0;
    return answered && good;
  }

  VerilatedContext context;
  Vtilewright_overlay top{&context};
  Watch watch;
  AxiPins pins;
  AxiTick tick;
  void* memory;
  bool was_running = false;
  std::string complaint;
};

namespace {

// Where assertions of `model` are written while it is evaluated.
class Listening {
 public:
  explicit Listening(OverlayModel* model) { current_complaint = &model->complaint; }
  ~Listening() { current_complaint = nullptr; }
};

OverlayModel* create(const char* wave_file, AxiTick tick, void* memory) {
  return new OverlayModel(wave_file, tick, memory);
}

void destroy(OverlayModel* model) { delete model; }

void reset(OverlayModel* model) {
  const Listening listening(model);
  model->reset();
}

uint64_t run(OverlayModel* model, uint64_t cycles) {
  const Listening listening(model);
  for (uint64_t i = 0; i < cycles; ++i) {
    if (model->top.irq != 0 || model->halted()) return i;
    model->settle();
    model->edge();
  }
  return cycles;
}

void step(OverlayModel* model, uint64_t cycles) {
  const Listening listening(model);
  for (uint64_t i = 0; i < cycles && !model->halted(); ++i) {
    model->settle();
    model->edge();
  }
}

bool interrupt(const OverlayModel* model) { return model->top.irq != 0; }

uint64_t cycle(const OverlayModel* model) { return model->pins.cycle; }

bool read(OverlayModel* model, uint32_t offset, uint32_t& value) {
  const Listening listening(model);
  return model->read(offset, value);
}

bool write(OverlayModel* model, uint32_t offset, uint32_t value) {
  const Listening listening(model);
  return model->write(offset, value);
}

const char* complaint(const OverlayModel* model) { return model->complaint.c_str(); }
const ScopeActivity* activity(OverlayModel* model, int& count) { return model->watch.activity(count); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const OverlayInterface* overlay_interface() {
  static const OverlayInterface interface {
    create, destroy, reset, run, step, interrupt, cycle, read, write, complaint, activity
  };
  return &interface;
}
