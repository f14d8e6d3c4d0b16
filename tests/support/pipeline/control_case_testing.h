// For tests: control under random reads and writes, with images that take random times.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "support/pipeline/component_bench_testing.h"
#include "tilewright/pipeline/image/registers.h"

namespace tilewright::pipeline {

class ControlCase : public BenchCase {
 public:
  ControlCase(netlist::Parameters parameters_of, MemoryImages images_of)
      : BenchCase("control", std::move(parameters_of), std::move(images_of)) {}
  static std::unique_ptr<BenchCase> make(Random& random) {
    DesignIdentity identity;
    identity.hash = random.next();
    identity.input_bytes = uint32_t(random.next());
    identity.channels = uint32_t(random.between(1, 4));
    return std::make_unique<ControlCase>(netlist::Parameters{{"A", random.between(12, 64)},
                                                             {"CHANNELS", int64_t{identity.channels}},
                                                             {"BUSY", random.between(1, 20)},
                                                             {"IDENTITY", std::string("identity")}},
                                         MemoryImages{{"identity", encode(identity)}});
  }

  bool is_stream(const std::string&) const override { return false; }
  void begin() override {
    images_ = starts_ = runs_ = 0;
    working_ = 0;
    address_offered_ = data_offered_ = read_offered_ = false;
    irq_ = false;
  }

  void drive(BenchPins& pins, Random& random) override {
    offer_write(pins, random);
    if (!read_offered_ && random.chance(0.3)) {
      read_offered_ = true;
      pins.set("s_araddr", random_offset(random));
    }
    pins.set("s_awvalid", address_offered_ ? 1 : 0);
    pins.set("s_wvalid", data_offered_ ? 1 : 0);
    pins.set("s_arvalid", read_offered_ ? 1 : 0);
    pins.set("s_bready", random.chance(0.5) ? 1 : 0);
    pins.set("s_rready", random.chance(0.5) ? 1 : 0);
    // The design works for some cycles from the one after start on.
    pins.set("busy",
             working_ > 0 ? uint64_t{1} << random.between(0, netlist::integer(parameters, "BUSY") - 1) : 0);
    pins.set("error", random.chance(0.002) ? 1 : 0);
    working_ = pins.get("start") != 0 ? random.between(0, 9) : working_ > 0 ? working_ - 1 : 0;
  }

  void observe(const BenchPins& pins) override {
    address_offered_ = address_offered_ && pins.get("s_awready") == 0;
    data_offered_ = data_offered_ && pins.get("s_wready") == 0;
    read_offered_ = read_offered_ && pins.get("s_arready") == 0;
    starts_ += pins.get("start") != 0 ? 1 : 0;
    const bool irq = pins.get("irq") != 0;
    runs_ += irq && !irq_ ? 1 : 0;
    irq_ = irq;
  }
  std::string finish() override { return runs_ < 5 || starts_ <= runs_ ? "hardly an image ran" : ""; }

 private:
  static uint64_t random_offset(Random& random) {
    const double kind = random.uniform();
    if (kind < 0.15) return register_offset("CONTROL");
    if (kind < 0.3) return register_offset("IMAGES");
    if (kind < 0.9) return uint64_t(random.between(0, 50)) * 4;
    return uint64_t(random.between(0, 4095));
  }

  // Address and data come in any order.
  void offer_write(BenchPins& pins, Random& random) {
    if (!address_offered_ && random.chance(0.3)) {
      address_offered_ = true;
      pins.set("s_awaddr", random_offset(random));
    }
    if (data_offered_ || !random.chance(0.3)) return;
    data_offered_ = true;
    pins.set("s_wdata", random.chance(0.7) ? uint64_t(random.between(0, 3)) : random.next() & 0xFFFFFFFF);
    pins.set("s_wstrb", random.chance(0.7) ? 15 : uint64_t(random.between(0, 15)));
  }

  int64_t images_ = 0, starts_ = 0, runs_ = 0, working_ = 0;
  bool address_offered_ = false, data_offered_ = false, read_offered_ = false, irq_ = false;
};

}  // namespace tilewright::pipeline
