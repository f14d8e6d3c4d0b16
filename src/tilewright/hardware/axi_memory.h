// A memory at an AXI4 port, for RTL in simulation: answers in the cycles given by a memory model, so
// that the RTL sees the memory that the cycle simulator assumes. It also checks the design's signals against
// the AXI rules, pauses at random, and answers with errors where told to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/hardware/axi_transaction.h"
#include "tilewright/hardware/memory_timing.h"

struct AxiPins;  // rtl/harness/axi_pins.h

namespace tilewright {

// One response of a run that is SLVERR instead of OKAY.
struct AxiFault {
  bool write = false;
  uint64_t index = 0;  // beats read, or bursts written, before it in the run
};

struct AxiMemoryOptions {
  bool record_transactions = false;
  // Other than 0: ready and valid signals pause at random, seeded by it; times are no longer the model's.
  uint64_t pause_seed = 0;
  std::optional<AxiFault> fault;
};

class AxiMemory {
 public:
  // A port of `port_bytes` and bursts of at most `max_burst_beats`.
  AxiMemory(MemoryModel model, int port_bytes, int max_burst_beats);

  // From the next begin() on.
  void set_model(const MemoryModel& model) { model_ = model; }

  // Drops outstanding requests and restarts time on `memory`; accesses beyond it are answered with
  // DECERR.
  void begin(std::span<std::byte> memory, const AxiMemoryOptions& options = {});

  // One cycle (AxiTick).
  void tick(AxiPins& pins);

  bool outstanding() const { return !reads_.empty() || !writes_.empty() || !responses_.empty(); }
  // Bits of the beats, read and written, that have crossed the port since it was made.
  uint64_t moved_bits() const { return moved_bits_; }
  const std::vector<AxiTransaction>& transactions() const { return transactions_; }
  // The first rule of AXI that the design broke, with its cycle; empty if none.
  const std::string& violation() const { return violation_; }

 private:
  struct Read {
    uint64_t address, first, interval;
    uint32_t beats, next;
    uint8_t id;
  };
  struct Write {
    uint64_t address;
    uint32_t beats, next;
    bool outside;
  };
  struct Response {
    uint64_t cycle;
    uint8_t code;
  };
  // The value a channel drove in a cycle in which it was not accepted: it must stay.
  struct Held {
    bool valid = false;
    std::vector<uint64_t> payload;
  };

  void accept(AxiPins& pins);
  void accept_write_beat(const AxiPins& pins);
  void drive(AxiPins& pins);
  void drive_read(AxiPins& pins);
  void drive_response(AxiPins& pins);
  void check(AxiPins& pins);
  void check_request(const AxiPins& pins, const char* channel, uint64_t address, int length, int size,
                     int burst);
  void check_held(const AxiPins& pins, Held& held, const char* channel, bool valid, bool ready,
                  std::vector<uint64_t> payload);
  void complain(const AxiPins& pins, const std::string& what);
  bool pause() { return options_.pause_seed != 0 && random_.chance(0.4); }

  MemoryModel model_;
  const uint32_t port_bytes_;
  const int max_burst_beats_;
  std::unique_ptr<MemoryTiming> timing_;
  std::span<std::byte> memory_;
  AxiMemoryOptions options_;
  Random random_{0};
  std::deque<Read> reads_;
  std::deque<Write> writes_;  // addresses whose data is not complete
  std::deque<Response> responses_;
  Held held_[3];
  uint64_t beats_read_ = 0, bursts_written_ = 0, moved_bits_ = 0;
  std::vector<AxiTransaction> transactions_;
  std::string violation_;
};

}  // namespace tilewright
