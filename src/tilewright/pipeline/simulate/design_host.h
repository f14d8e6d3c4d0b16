// The host's side of a design in simulation: its registers over AXI4-Lite, and memories behind its AXI4
// ports. Works alike on RtlModel and CycleNetlist, so both see the same accesses in the same cycles.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "axi_pins.h"
#include "tilewright/base/error.h"
#include "tilewright/hardware/axi_memory.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/pipeline/simulate/driver.h"

namespace tilewright::pipeline {

template <typename Model>
class DesignHost : public DesignPort {
 public:
  // `model` is not reset.
  DesignHost(Model& model, const Design& design, const MemoryModel& memory, uint64_t limit_cycles)
      : model_(model), limit_cycles_(limit_cycles) {
    for (int c = 0; c < int(design.channels); ++c) {
      Channel& channel = channels_.emplace_back(memory, int(design.port_bytes));
      channel.writes = c == 0;
      find_ports("m" + std::to_string(c) + "_", channel);
    }
    const auto port = [&](const char* name) { return model_.port(std::string("s_") + name); };
    aw_valid_ = port("awvalid"), aw_ready_ = port("awready"), aw_address_ = port("awaddr");
    w_valid_ = port("wvalid"), w_ready_ = port("wready"), w_data_ = port("wdata"), strobe_ = port("wstrb");
    b_valid_ = port("bvalid"), b_ready_ = port("bready");
    ar_valid_ = port("arvalid"), ar_ready_ = port("arready"), ar_address_ = port("araddr");
    r_valid_ = port("rvalid"), r_ready_ = port("rready"), r_data_ = port("rdata");
    interrupt_ = model_.port("irq");
  }

  // As after reset; other than 0, `pause_seed` makes ready and valid of the memories pause at random.
  void restart(uint64_t pause_seed) {
    pause_seed_ = pause_seed;
    for (const int port : {aw_valid_, w_valid_, b_ready_, ar_valid_, r_ready_}) model_.set(port, 0);
    begin_memory();
    model_.reset();
    model_.set(strobe_, 15);
  }

  std::vector<std::byte>& memory(size_t bytes) override {
    if (memory_.size() < bytes) memory_.resize(bytes);
    begin_memory();
    return memory_;
  }
  // The next run gets one answer of port 0 that is an error.
  void fail_next_run(const AxiFault& fault) { fault_ = fault; }

  uint64_t cycle() const { return cycle_; }

  // One cycle; `watch()` is called when everything has settled.
  template <typename Watch>
  void step(Watch&& watch) {
    model_.settle();
    watch();
    for (Channel& channel : channels_) tick(channel);
    model_.edge();
    for (Channel& channel : channels_) {
      if (channel.called) apply(channel);
    }
    ++cycle_;
  }

  // Errors (internal) of all below: no answer, or one that is an error; what the design broke in AXI.
  void write32(uint16_t offset, uint32_t value) override {
    model_.set(aw_address_, offset);
    model_.set(w_data_, value);
    model_.set(aw_valid_, 1);
    model_.set(w_valid_, 1);
    model_.set(b_ready_, 1);
    for (int i = 0; i < kAccessCycles; ++i) {
      bool address = false, data = false, answered = false;
      step([&] {
        address = model_.get(aw_ready_) != 0;
        data = model_.get(w_ready_) != 0;
        answered = model_.get(b_valid_) != 0;
      });
      if (address) model_.set(aw_valid_, 0);
      if (data) model_.set(w_valid_, 0);
      if (answered) {
        model_.set(b_ready_, 0);
        return;
      }
    }
    throw Error(ErrorKind::kInternal, "the register at " + std::to_string(offset) + " cannot be written");
  }

  uint32_t read32(uint16_t offset) override {
    model_.set(ar_address_, offset);
    model_.set(ar_valid_, 1);
    model_.set(r_ready_, 1);
    for (int i = 0; i < kAccessCycles; ++i) {
      bool address = false, answered = false;
      uint32_t value = 0;
      step([&] {
        address = model_.get(ar_ready_) != 0;
        answered = model_.get(r_valid_) != 0;
        value = uint32_t(model_.get(r_data_));
      });
      if (address) model_.set(ar_valid_, 0);
      if (answered) {
        model_.set(r_ready_, 0);
        return value;
      }
    }
    throw Error(ErrorKind::kInternal, "the register at " + std::to_string(offset) + " cannot be read");
  }
  bool wait_for_interrupt() override {
    return run([] { return true; });
  }

  // Until the interrupt, `watch()` gives false, or the limit is reached; returns whether it came.
  template <typename Watch>
  bool run(Watch&& watch) {
    const uint64_t end = cycle_ + limit_cycles_;
    bool go = true, done = false;
    while (go && !done && cycle_ < end) {
      step([&] {
        done = model_.get(interrupt_) != 0;
        go = watch();
      });
    }
    raise_complaint();
    return done;
  }

  // Beats that the memory ports carried.
  uint64_t read_beats() const { return read_beats_; }
  uint64_t write_beats() const { return write_beats_; }
  uint64_t moved_bits() const {
    uint64_t bits = 0;
    for (const Channel& channel : channels_) bits += channel.memory.moved_bits();
    return bits;
  }

 private:
  static constexpr int kAccessCycles = 1000;

  struct Channel {
    Channel(const MemoryModel& model, int port_bytes) : memory(model, port_bytes, 256) {}
    AxiMemory memory;
    AxiPins pins;
    bool writes = false, called = false;
    int ar_valid = 0, ar_ready = 0, ar_address = 0, ar_length = 0, ar_size = 0, ar_burst = 0;
    int r_valid = 0, r_ready = 0, r_data = 0, r_response = 0, r_last = 0;
    int aw_valid = 0, aw_ready = 0, aw_address = 0, aw_length = 0, aw_size = 0, aw_burst = 0;
    int w_valid = 0, w_ready = 0, w_data = 0, w_strobe = 0, w_last = 0;
    int b_valid = 0, b_ready = 0, b_response = 0;
  };

  void begin_memory() {
    for (size_t c = 0; c < channels_.size(); ++c) {
      AxiMemoryOptions options;
      options.pause_seed = pause_seed_ == 0 ? 0 : pause_seed_ * 8 + c + 1;
      if (c == 0) options.fault = std::exchange(fault_, std::nullopt);
      channels_[c].pins = {};
      channels_[c].memory.begin(memory_, options);
      apply(channels_[c]);
    }
    cycle_ = 0;
  }

  void find_ports(const std::string& prefix, Channel& c) {
    const auto port = [&](const char* name) { return model_.port(prefix + name); };
    c.ar_valid = port("arvalid"), c.ar_ready = port("arready"), c.ar_address = port("araddr");
    c.ar_length = port("arlen"), c.ar_size = port("arsize"), c.ar_burst = port("arburst");
    c.r_valid = port("rvalid"), c.r_ready = port("rready"), c.r_data = port("rdata");
    c.r_response = port("rresp"), c.r_last = port("rlast");
    if (!c.writes) return;
    c.aw_valid = port("awvalid"), c.aw_ready = port("awready"), c.aw_address = port("awaddr");
    c.aw_length = port("awlen"), c.aw_size = port("awsize"), c.aw_burst = port("awburst");
    c.w_valid = port("wvalid"), c.w_ready = port("wready"), c.w_data = port("wdata");
    c.w_strobe = port("wstrb"), c.w_last = port("wlast");
    c.b_valid = port("bvalid"), c.b_ready = port("bready"), c.b_response = port("bresp");
  }

  // The memory looks at a cycle only if something is asked or it said it would have something.
  void tick(Channel& c) {
    bool asks = model_.get(c.ar_valid) != 0;
    if (c.writes) asks = asks || model_.get(c.aw_valid) != 0 || model_.get(c.w_valid) != 0;
    c.called = asks || cycle_ >= c.pins.wake;
    if (!c.called) return;
    c.pins.cycle = cycle_;
    sample(c);
    if (c.pins.r_valid != 0 && c.pins.r_ready != 0) ++read_beats_;
    if (c.pins.w_valid != 0 && c.pins.w_ready != 0) ++write_beats_;
    c.memory.tick(c.pins);
    if (c.pins.stop != 0) raise_complaint();
  }

  void sample(Channel& c) {
    c.pins.ar_valid = uint8_t(model_.get(c.ar_valid));
    c.pins.r_ready = uint8_t(model_.get(c.r_ready));
    if (c.pins.ar_valid != 0) {
      c.pins.ar_address = model_.get(c.ar_address);
      c.pins.ar_length = uint8_t(model_.get(c.ar_length));
      c.pins.ar_size = uint8_t(model_.get(c.ar_size));
      c.pins.ar_burst = uint8_t(model_.get(c.ar_burst));
    }
    if (!c.writes) return;
    c.pins.aw_valid = uint8_t(model_.get(c.aw_valid));
    c.pins.w_valid = uint8_t(model_.get(c.w_valid));
    c.pins.b_ready = uint8_t(model_.get(c.b_ready));
    if (c.pins.aw_valid != 0) {
      c.pins.aw_address = model_.get(c.aw_address);
      c.pins.aw_length = uint8_t(model_.get(c.aw_length));
      c.pins.aw_size = uint8_t(model_.get(c.aw_size));
      c.pins.aw_burst = uint8_t(model_.get(c.aw_burst));
    }
    if (c.pins.w_valid != 0) {
      c.pins.w_last = uint8_t(model_.get(c.w_last));
      if constexpr (Model::kHasData) {
        std::array<uint32_t, 4> strobes{};
        model_.get_words(c.w_strobe, strobes.data());
        c.pins.w_strobe[0] = strobes[0] | uint64_t(strobes[1]) << 32;
        c.pins.w_strobe[1] = strobes[2] | uint64_t(strobes[3]) << 32;
        model_.get_words(c.w_data, c.pins.w_data);
      }
    }
  }

  void apply(Channel& c) {
    model_.set(c.ar_ready, c.pins.ar_ready);
    model_.set(c.r_valid, c.pins.r_valid);
    model_.set(c.r_last, c.pins.r_last);
    model_.set(c.r_response, c.pins.r_response);
    if (c.pins.r_valid != 0) model_.set_words(c.r_data, c.pins.r_data);
    if (!c.writes) return;
    model_.set(c.aw_ready, c.pins.aw_ready);
    model_.set(c.w_ready, c.pins.w_ready);
    model_.set(c.b_valid, c.pins.b_valid);
    model_.set(c.b_response, c.pins.b_response);
  }

  void raise_complaint() const {
    const std::string assertion = model_.complaint();
    if (!assertion.empty()) throw Error(ErrorKind::kInternal, "the RTL stopped at " + assertion);
    for (const Channel& channel : channels_) {
      if (channel.memory.violation().empty()) continue;
      throw Error(ErrorKind::kInternal, "the design broke a rule of AXI in " + channel.memory.violation());
    }
  }

  Model& model_;
  std::deque<Channel> channels_;
  std::vector<std::byte> memory_;
  std::optional<AxiFault> fault_;
  const uint64_t limit_cycles_;
  uint64_t pause_seed_ = 0, cycle_ = 0, read_beats_ = 0, write_beats_ = 0;
  int aw_valid_, aw_ready_, aw_address_, w_valid_, w_ready_, w_data_, strobe_, b_valid_, b_ready_;
  int ar_valid_, ar_ready_, ar_address_, r_valid_, r_ready_, r_data_, interrupt_;
};

}  // namespace tilewright::pipeline
