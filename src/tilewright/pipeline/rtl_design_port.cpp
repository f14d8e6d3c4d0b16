// One cycle: what the memories drive is set, logic settles, each memory sees what its port drives and decides
// what it drives next, clock edge.
#include <fmt/format.h>

#include "axi_pins.h"

#include "tilewright/base/error.h"
#include "tilewright/hardware/axi_memory.h"
#include "tilewright/pipeline/driver.h"

namespace tilewright::pipeline {
namespace {

constexpr int kMaxBurstBeats = 256;
// An answer on the register port takes a few cycles.
constexpr int kRegisterCycles = 64;

}  // namespace

struct RtlDesignPort::Ports {
  explicit Ports(const RtlModel& model) {
    const auto port = [&](const char* name) { return model.port(name); };
    irq = port("irq");
    awvalid = port("s_awvalid"), awready = port("s_awready"), awaddr = port("s_awaddr");
    wvalid = port("s_wvalid"), wready = port("s_wready"), wdata = port("s_wdata"), wstrb = port("s_wstrb");
    bvalid = port("s_bvalid"), bready = port("s_bready");
    arvalid = port("s_arvalid"), arready = port("s_arready"), araddr = port("s_araddr");
    rvalid = port("s_rvalid"), rready = port("s_rready"), rdata = port("s_rdata");
  }
  int irq, awvalid, awready, awaddr, wvalid, wready, wdata, wstrb, bvalid, bready, arvalid, arready, araddr,
      rvalid, rready, rdata;
};

// A memory port of the design and the memory behind it.
struct RtlDesignPort::Channel {
  Channel(RtlModel& rtl, const Design& design, int index, const MemoryModel& memory_model)
      : model(rtl), memory(memory_model, int(design.port_bytes), kMaxBurstBeats) {
    const std::string prefix = fmt::format("m{}_", index);
    const auto port = [&](const char* name) { return model.port(prefix + name); };
    ar_valid = port("arvalid"), ar_ready = port("arready"), ar_address = port("araddr");
    ar_length = port("arlen"), ar_size = port("arsize"), ar_burst = port("arburst");
    r_valid = port("rvalid"), r_ready = port("rready"), r_data = port("rdata");
    r_response = port("rresp"), r_last = port("rlast");
    writes = index == 0;
    if (!writes) return;
    aw_valid = port("awvalid"), aw_ready = port("awready"), aw_address = port("awaddr");
    aw_length = port("awlen"), aw_size = port("awsize"), aw_burst = port("awburst");
    w_valid = port("wvalid"), w_ready = port("wready"), w_data = port("wdata"), w_strobe = port("wstrb");
    w_last = port("wlast"), b_valid = port("bvalid"), b_ready = port("bready"), b_response = port("bresp");
  }

  void drive() {
    model.set(ar_ready, pins.ar_ready);
    model.set(r_valid, pins.r_valid);
    model.set(r_response, pins.r_response);
    model.set(r_last, pins.r_last);
    if (pins.r_valid != 0) model.set_words(r_data, pins.r_data);
    if (!writes) return;
    model.set(aw_ready, pins.aw_ready);
    model.set(w_ready, pins.w_ready);
    model.set(b_valid, pins.b_valid);
    model.set(b_response, pins.b_response);
  }

  void sample() {
    pins.ar_valid = uint8_t(model.get(ar_valid));
    if (pins.ar_valid != 0) {
      pins.ar_address = model.get(ar_address);
      pins.ar_length = uint8_t(model.get(ar_length));
      pins.ar_size = uint8_t(model.get(ar_size));
      pins.ar_burst = uint8_t(model.get(ar_burst));
    }
    pins.r_ready = uint8_t(model.get(r_ready));
    if (!writes) return;
    pins.aw_valid = uint8_t(model.get(aw_valid));
    if (pins.aw_valid != 0) {
      pins.aw_address = model.get(aw_address);
      pins.aw_length = uint8_t(model.get(aw_length));
      pins.aw_size = uint8_t(model.get(aw_size));
      pins.aw_burst = uint8_t(model.get(aw_burst));
    }
    pins.w_valid = uint8_t(model.get(w_valid));
    if (pins.w_valid != 0) {
      model.get_words(w_data, pins.w_data);
      sample_strobe();
      pins.w_last = uint8_t(model.get(w_last));
    }
    pins.b_ready = uint8_t(model.get(b_ready));
  }

  void sample_strobe() {
    const std::vector<uint32_t> words = model.get_words(w_strobe);
    for (size_t i = 0; i < words.size(); ++i) {
      uint64_t& strobe = pins.w_strobe[i / 2];
      strobe = i % 2 == 0 ? words[i] : strobe | uint64_t(words[i]) << 32;
    }
  }

  RtlModel& model;
  AxiMemory memory;
  AxiPins pins;
  bool writes = false;
  int ar_valid, ar_ready, ar_address, ar_length, ar_size, ar_burst, r_valid, r_ready, r_data, r_response,
      r_last;
  int aw_valid = 0, aw_ready = 0, aw_address = 0, aw_length = 0, aw_size = 0, aw_burst = 0, w_valid = 0,
      w_ready = 0, w_data = 0, w_strobe = 0, w_last = 0, b_valid = 0, b_ready = 0, b_response = 0;
};

RtlDesignPort::RtlDesignPort(const Design& design, const RtlPortOptions& options)
    : options_(options),
      model_(design.netlist, design.images, options.model),
      ports_(std::make_unique<Ports>(model_)) {
  for (int c = 0; c < int(design.channels); ++c) {
    channels_.push_back(std::make_unique<Channel>(model_, design, c, options.memory));
  }
  restart(options.pause_seed);
}

RtlDesignPort::~RtlDesignPort() = default;

void RtlDesignPort::restart(uint64_t pause_seed) {
  pause_seed_ = pause_seed;
  model_.restart();
  model_.reset();
  memory(memory_.size());
}

std::vector<std::byte>& RtlDesignPort::memory(size_t bytes) {
  if (memory_.size() < bytes) memory_.resize(bytes);
  for (size_t c = 0; c < channels_.size(); ++c) {
    AxiMemoryOptions options;
    options.pause_seed = pause_seed_ == 0 ? 0 : pause_seed_ * 8 + c + 1;
    channels_[c]->pins = {};
    channels_[c]->memory.begin(memory_, options);
  }
  return memory_;
}

void RtlDesignPort::cycle() {
  for (const auto& channel : channels_) channel->drive();
  model_.settle();
  for (const auto& channel : channels_) {
    channel->sample();
    channel->memory.tick(channel->pins);
    ++channel->pins.cycle;
    if (!channel->memory.violation().empty()) {
      throw Error(ErrorKind::kInternal, "the design breaks a rule of AXI: " + channel->memory.violation());
    }
  }
  model_.edge();
}

uint32_t RtlDesignPort::read32(uint16_t offset) {
  model_.set(ports_->araddr, offset);
  model_.set(ports_->arvalid, 1);
  model_.set(ports_->rready, 1);
  bool asked = false;
  for (int i = 0; i < kRegisterCycles; ++i) {
    model_.settle();
    const bool accepted = !asked && model_.get(ports_->arready) != 0;
    const bool answered = model_.get(ports_->rvalid) != 0;
    const uint32_t value = uint32_t(model_.get(ports_->rdata));
    cycle();
    if (accepted) {
      asked = true;
      model_.set(ports_->arvalid, 0);
    }
    if (answered) {
      model_.set(ports_->rready, 0);
      return value;
    }
  }
  throw Error(ErrorKind::kInternal, "the design does not answer a read of its registers");
}

void RtlDesignPort::write32(uint16_t offset, uint32_t value) {
  model_.set(ports_->awaddr, offset);
  model_.set(ports_->wdata, value);
  model_.set(ports_->wstrb, 15);
  model_.set(ports_->awvalid, 1);
  model_.set(ports_->wvalid, 1);
  model_.set(ports_->bready, 1);
  for (int i = 0; i < kRegisterCycles; ++i) {
    model_.settle();
    const bool address = model_.get(ports_->awvalid) != 0 && model_.get(ports_->awready) != 0;
    const bool data = model_.get(ports_->wvalid) != 0 && model_.get(ports_->wready) != 0;
    const bool answered = model_.get(ports_->bvalid) != 0;
    cycle();
    if (address) model_.set(ports_->awvalid, 0);
    if (data) model_.set(ports_->wvalid, 0);
    if (answered) {
      model_.set(ports_->bready, 0);
      return;
    }
  }
  throw Error(ErrorKind::kInternal, "the design does not answer a write of its registers");
}

bool RtlDesignPort::wait_for_interrupt() {
  for (uint64_t i = 0; i < options_.limit_cycles; ++i) {
    cycle();
    if (model_.get(ports_->irq) != 0) return true;
  }
  return false;
}

}  // namespace tilewright::pipeline
