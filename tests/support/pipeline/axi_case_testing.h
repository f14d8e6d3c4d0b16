// For tests: components with an AXI4 master, in front of a memory that checks the rules of AXI.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "axi_pins.h"
#include "support/pipeline/component_bench_testing.h"
#include "tilewright/hardware/axi_memory.h"

namespace tilewright::pipeline {

inline netlist::Parameters random_dma_parameters(Random& random) {
  const int64_t data = int64_t{32} << random.between(0, 4);
  const int64_t burst = int64_t{1} << random.between(0, data == 512 ? 6 : 7);
  const char* const kinds[] = {"block", "lutram"};
  return {{"DATA", data},
          {"BURST", burst},
          {"QUEUE", burst + random.between(0, 40)},
          {"A", random.between(20, 40)},
          {"KIND", std::string(kinds[random.between(0, 1)])}};
}

// A master m_* of the case's component before a memory of random bytes. The first run has the times of a
// memory of latency and efficiency, the others pauses.
class AxiCase : public BenchCase {
 public:
  static constexpr uint64_t kMemoryBytes = 1 << 16;

  AxiCase(std::string component_name, netlist::Parameters parameters_of, bool reads, bool writes,
          const char* memory_model = "fixed:20:1:80")
      : BenchCase(std::move(component_name), std::move(parameters_of)),
        reads_(reads),
        writes_(writes),
        bytes_(int(netlist::integer(parameters, "DATA")) / 8),
        memory_(kMemoryBytes),
        axi_(find_memory_model(memory_model), bytes_, int(netlist::integer_or(parameters, "BURST", 64))) {}

  void begin() override {
    ++run_;
    Random random(uint64_t(run_) * 77);
    for (std::byte& byte : memory_) byte = std::byte(random.next());
    AxiMemoryOptions options;
    options.pause_seed = run_ == 1 ? 0 : uint64_t(run_);
    if (fault_at_ >= 0) options.fault = AxiFault{writes_, uint64_t(fault_at_)};
    axi_.begin(memory_, options);
    axi_pins_ = {};
    axi_pins_.ar_ready = axi_pins_.aw_ready = axi_pins_.w_ready = 1;
    wrong_.clear();
  }

 protected:
  bool full_speed() const { return run_ == 1; }
  int bytes() const { return bytes_; }
  void set_fault(int64_t at) { fault_at_ = at; }
  bool has_fault() const { return fault_at_ >= 0; }
  const std::vector<std::byte>& memory() const { return memory_; }
  void complain(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }
  std::string problem() const { return axi_.violation().empty() ? wrong_ : axi_.violation(); }
  // The beat of memory at a byte address.
  Beat word(uint64_t address) const {
    Beat beat(bytes_ * 8);
    std::memcpy(beat.words().data(), memory_.data() + address, size_t(bytes_));
    return beat;
  }

  // What the memory drives in this cycle.
  void drive_memory(BenchPins& pins) {
    if (reads_) {
      pins.set("m_arready", axi_pins_.ar_ready);
      pins.set("m_rvalid", axi_pins_.r_valid);
      pins.set("m_rresp", axi_pins_.r_response);
      pins.set("m_rlast", axi_pins_.r_last);
      Beat beat(bytes_ * 8);
      std::memcpy(beat.words().data(), axi_pins_.r_data, size_t(bytes_));
      pins.set_beat("m_rdata", beat);
    }
    if (!writes_) return;
    pins.set("m_awready", axi_pins_.aw_ready);
    pins.set("m_wready", axi_pins_.w_ready);
    pins.set("m_bvalid", axi_pins_.b_valid);
    pins.set("m_bresp", axi_pins_.b_response);
  }

  // The memory sees what the component drives.
  void tick_memory(const BenchPins& pins) {
    if (reads_) {
      axi_pins_.ar_valid = uint8_t(pins.get("m_arvalid"));
      axi_pins_.ar_address = pins.get("m_araddr");
      axi_pins_.ar_length = uint8_t(pins.get("m_arlen"));
      axi_pins_.ar_size = uint8_t(pins.get("m_arsize"));
      axi_pins_.ar_burst = uint8_t(pins.get("m_arburst"));
      axi_pins_.r_ready = uint8_t(pins.get("m_rready"));
    }
    if (writes_) {
      axi_pins_.aw_valid = uint8_t(pins.get("m_awvalid"));
      axi_pins_.aw_address = pins.get("m_awaddr");
      axi_pins_.aw_length = uint8_t(pins.get("m_awlen"));
      axi_pins_.aw_size = uint8_t(pins.get("m_awsize"));
      axi_pins_.aw_burst = uint8_t(pins.get("m_awburst"));
      axi_pins_.w_valid = uint8_t(pins.get("m_wvalid"));
      axi_pins_.w_last = uint8_t(pins.get("m_wlast"));
      axi_pins_.b_ready = uint8_t(pins.get("m_bready"));
      const Beat data = pins.get_beat("m_wdata"), strobe = pins.get_beat("m_wstrb");
      std::memcpy(axi_pins_.w_data, data.words().data(), size_t(bytes_));
      for (int low = 0; low < bytes_; low += 64) {
        axi_pins_.w_strobe[low / 64] = strobe.get(low, std::min(64, bytes_ - low));
      }
    }
    axi_.tick(axi_pins_);
    ++axi_pins_.cycle;
  }

 private:
  const bool reads_, writes_;
  const int bytes_;
  std::vector<std::byte> memory_;
  AxiMemory axi_;
  AxiPins axi_pins_;
  int run_ = 0;
  int64_t fault_at_ = -1;
  std::string wrong_;
};

// A transfer after the other, from random places.
class DmaCase : public AxiCase {
 public:
  DmaCase(std::string component_name, netlist::Parameters parameters_of, bool writes,
          const char* memory_model = "fixed:20:1:80")
      : AxiCase(std::move(component_name), std::move(parameters_of), !writes, writes, memory_model) {}

  bool is_stream(const std::string& name) const override { return name == "in" || name == "out"; }
  void begin() override {
    AxiCase::begin();
    transfers_ = cycles_busy_ = beats_moved_ = 0;
    running_ = false;
    failed_ = false;
  }

  void drive(BenchPins& pins, Random& random) override {
    drive_memory(pins);
    const bool idle = pins.get("busy") == 0;
    cycles_busy_ += idle ? 0 : 1;
    failed_ = failed_ || pins.get("error") != 0;
    if (idle && running_) {
      ended(base_, beats_);
      beats_moved_ += beats_;
    }
    running_ = running_ && !idle;
    const bool start = idle && random.chance(full_speed() ? 1 : 0.1);
    pins.set("start", start ? 1 : 0);
    if (!start) return;
    running_ = true;
    ++transfers_;
    beats_ = random.chance(0.1) ? 0 : random.between(1, random.chance(0.5) ? 20 : 400);
    const int64_t places = int64_t(kMemoryBytes) / bytes();
    beats_ = std::min(beats_, places);
    base_ = uint64_t(random.between(0, places - beats_)) * uint64_t(bytes());
    pins.set("base", base_);
    pins.set("bytes", uint64_t(beats_ * bytes()));
    started(base_, beats_);
  }
  void observe(const BenchPins& pins) override { tick_memory(pins); }
  // Of the run.
  int64_t transfers() const { return transfers_; }
  int64_t cycles_busy() const { return cycles_busy_; }
  int64_t beats_moved() const { return beats_moved_; }
  std::string finish() override {
    if (has_fault() != failed_) return "error is not what the memory answered";
    return transfers_ < 1 ? "no transfer began" : problem();
  }

 protected:
  virtual void started(uint64_t /*base*/, int64_t /*beats*/) {}
  virtual void ended(uint64_t base, int64_t beats) = 0;

 private:
  bool running_ = false, failed_ = false;
  uint64_t base_ = 0;
  int64_t beats_ = 0, transfers_ = 0, cycles_busy_ = 0, beats_moved_ = 0;
};

class DmaReadCase : public DmaCase {
 public:
  explicit DmaReadCase(netlist::Parameters parameters_of, const char* memory_model = "fixed:20:1:80")
      : DmaCase("dma_read", std::move(parameters_of), false, memory_model) {}
  static std::unique_ptr<BenchCase> make(Random& random) {
    auto made = std::make_unique<DmaReadCase>(random_dma_parameters(random));
    if (random.chance(0.3)) made->set_fault(random.between(0, 20));
    return made;
  }
  void begin() override {
    DmaCase::begin();
    expected_.clear();
  }
  void transferred(const std::string&, const Beat& data, bool) override {
    if (expected_.empty() || !(data == word(expected_.front()))) complain("a beat is another one");
    if (!expected_.empty()) expected_.pop_front();
  }

 private:
  void started(uint64_t base, int64_t beats) override {
    for (int64_t i = 0; i < beats; ++i) expected_.push_back(base + uint64_t(i * bytes()));
  }
  void ended(uint64_t, int64_t) override {
    if (!expected_.empty()) complain("a transfer ended before its last beat");
  }
  std::deque<uint64_t> expected_;  // addresses of beats to come
};

class DmaWriteCase : public DmaCase {
 public:
  explicit DmaWriteCase(netlist::Parameters parameters_of, const char* memory_model = "fixed:20:1:80")
      : DmaCase("dma_write", std::move(parameters_of), true, memory_model) {}
  static std::unique_ptr<BenchCase> make(Random& random) {
    auto made = std::make_unique<DmaWriteCase>(random_dma_parameters(random));
    if (random.chance(0.3)) made->set_fault(random.between(0, 2));
    return made;
  }
  void begin() override {
    DmaCase::begin();
    taken_.clear();
  }
  void transferred(const std::string&, const Beat& data, bool) override { taken_.push_back(data); }

 private:
  void ended(uint64_t base, int64_t beats) override {
    for (int64_t i = 0; i < beats; ++i) {
      if (taken_.empty() || !(taken_.front() == word(base + uint64_t(i * bytes())))) {
        complain("a beat was not written");
      }
      if (!taken_.empty()) taken_.pop_front();
    }
  }
  std::deque<Beat> taken_;  // and not yet found in memory
};

// Two masters that ask at random.
class ReadShareCase : public AxiCase {
 public:
  explicit ReadShareCase(netlist::Parameters parameters_of)
      : AxiCase("read_share", std::move(parameters_of), true, false) {}
  static std::unique_ptr<BenchCase> make(Random& random) {
    return std::make_unique<ReadShareCase>(
        netlist::Parameters{{"DATA", int64_t{32} << random.between(0, 4)}, {"A", random.between(20, 40)}});
  }
  bool is_stream(const std::string&) const override { return false; }
  void begin() override {
    AxiCase::begin();
    for (Client& client : clients_) client = {};
    beats_ = 0;
  }

  void drive(BenchPins& pins, Random& random) override {
    drive_memory(pins);
    for (int i = 0; i < 2; ++i) {
      Client& client = clients_[i];
      if (!client.asks && random.chance(0.2)) {
        client.asks = true;
        client.beats = random.between(1, 16);
        const uint64_t places = 4096 / uint64_t(bytes()) - 16;
        client.address = 4096 * uint64_t(random.between(0, 15)) +
                         uint64_t(random.between(0, int64_t(places))) * uint64_t(bytes());
      }
      const std::string c = fmt::format("c{}_", i);
      pins.set(c + "arvalid", client.asks ? 1 : 0);
      pins.set(c + "araddr", client.address);
      pins.set(c + "arlen", uint64_t(client.beats - 1));
      pins.set(c + "rready", full_speed() || random.chance(0.7) ? 1 : 0);
    }
  }

  void observe(const BenchPins& pins) override {
    for (int i = 0; i < 2; ++i) {
      Client& client = clients_[i];
      const std::string c = fmt::format("c{}_", i);
      if (pins.get(c + "rvalid") != 0 && pins.get(c + "rready") != 0) take(client, pins, c);
      if (!client.asks || pins.get(c + "arready") == 0) continue;
      client.asks = false;
      for (int64_t beat = 0; beat < client.beats; ++beat) {
        client.expected.push_back({client.address + uint64_t(beat * bytes()), beat + 1 == client.beats});
      }
    }
    tick_memory(pins);
  }
  std::string finish() override { return beats_ < 300 ? "hardly a beat" : problem(); }

 private:
  struct Client {
    bool asks = false;
    uint64_t address = 0;
    int64_t beats = 1;
    std::deque<std::pair<uint64_t, bool>> expected;
  };

  void take(Client& client, const BenchPins& pins, const std::string& c) {
    ++beats_;
    if (client.expected.empty()) return complain("a beat that nobody asked for");
    const auto [address, last] = client.expected.front();
    client.expected.pop_front();
    if (!(pins.get_beat(c + "rdata") == word(address)) || (pins.get(c + "rlast") != 0) != last) {
      complain("a beat reached the wrong client");
    }
  }

  Client clients_[2];
  int64_t beats_ = 0;
};

}  // namespace tilewright::pipeline
