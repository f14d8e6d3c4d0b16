// A tick looks at the handshakes of one cycle and then decides the memory's pins of the next. Reads wait in
// one queue with the cycles that MemoryTiming gave them; a beat is driven in its cycle and stays until it is
// taken, so with a design that is always ready every beat is transferred in exactly its cycle. Responses of
// writes likewise.
#include "tilewright/hardware/axi_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "axi_pins.h"

namespace tilewright {
namespace {

enum AxiResponse : uint8_t { kOkay = 0, kSlaveError = 2, kDecodeError = 3 };
constexpr int kIncrementing = 1;  // AxBURST

}  // namespace

AxiMemory::AxiMemory(MemoryModel model, int port_bytes, int max_burst_beats)
    : model_(model), port_bytes_(uint32_t(port_bytes)), max_burst_beats_(max_burst_beats) {
  begin({});
}

void AxiMemory::begin(std::span<std::byte> memory, const AxiMemoryOptions& options) {
  timing_ = make_memory_timing(model_);
  memory_ = memory;
  options_ = options;
  random_ = Random(options.pause_seed);
  reads_.clear();
  writes_.clear();
  responses_.clear();
  std::fill(std::begin(held_), std::end(held_), Held{});
  beats_read_ = bursts_written_ = 0;
  transactions_.clear();
  violation_.clear();
}

void AxiMemory::complain(const AxiPins& pins, const std::string& what) {
  if (violation_.empty()) violation_ = fmt::format("cycle {}: {}", pins.cycle, what);
}

void AxiMemory::check_request(const AxiPins& pins, const char* channel, uint64_t address, int length,
                              int size, int burst) {
  const uint64_t bytes = uint64_t(length + 1) * port_bytes_;
  if (size != std::countr_zero(port_bytes_)) complain(pins, fmt::format("{}SIZE is {}", channel, size));
  if (burst != kIncrementing) complain(pins, fmt::format("{}BURST is {}", channel, burst));
  if (address % port_bytes_ != 0)
    complain(pins, fmt::format("{}ADDR {:#x} is not aligned", channel, address));
  if (length + 1 > max_burst_beats_) complain(pins, fmt::format("{}LEN is {}", channel, length));
  if (address / 4096 != (address + bytes - 1) / 4096) {
    complain(pins, fmt::format("{}ADDR {:#x} with {} beats crosses 4 KiB", channel, address, length + 1));
  }
}

void AxiMemory::check_held(const AxiPins& pins, Held& held, const char* channel, bool valid, bool ready,
                           std::vector<uint64_t> payload) {
  if (held.valid && !valid) complain(pins, fmt::format("{}VALID fell before {}READY", channel, channel));
  if (held.valid && valid && held.payload != payload) {
    complain(pins, fmt::format("{} changed while it waited", channel));
  }
  held.valid = valid && !ready;
  if (held.valid) held.payload = std::move(payload);
}

// With ready always 1 nothing is ever held: only then is a channel's payload compared.
void AxiMemory::check(AxiPins& pins) {
  if (pins.ar_valid != 0) {
    check_request(pins, "AR", pins.ar_address, pins.ar_length, pins.ar_size, pins.ar_burst);
  }
  if (pins.aw_valid != 0) {
    check_request(pins, "AW", pins.aw_address, pins.aw_length, pins.aw_size, pins.aw_burst);
  }
  if (options_.pause_seed == 0) return;
  check_held(pins, held_[0], "AR", pins.ar_valid != 0, pins.ar_ready != 0,
             {pins.ar_address, pins.ar_length, pins.ar_id});
  check_held(pins, held_[1], "AW", pins.aw_valid != 0, pins.aw_ready != 0, {pins.aw_address, pins.aw_length});
  std::vector<uint64_t> beat(std::begin(pins.w_data), std::begin(pins.w_data) + port_bytes_ / 4);
  beat.insert(beat.end(), std::begin(pins.w_strobe), std::end(pins.w_strobe));
  beat.push_back(pins.w_last);
  check_held(pins, held_[2], "W", pins.w_valid != 0, pins.w_ready != 0, std::move(beat));
}

void AxiMemory::accept_write_beat(const AxiPins& pins) {
  if (writes_.empty()) return complain(pins, "a write beat without an address");
  Write& write = writes_.front();
  const uint64_t address = write.address + uint64_t{write.next} * port_bytes_;
  const bool last = ++write.next == write.beats;
  if (last != (pins.w_last != 0)) complain(pins, fmt::format("WLAST is wrong at beat {}", write.next - 1));
  const auto* bytes = reinterpret_cast<const std::byte*>(pins.w_data);
  for (uint32_t i = 0; i < port_bytes_; ++i) {
    if ((pins.w_strobe[i / 64] >> i % 64 & 1) == 0) continue;
    if (address + i >= memory_.size()) {
      write.outside = true;
    } else {
      memory_[address + i] = bytes[i];
    }
  }
  if (!last) return;
  const bool fault = options_.fault && options_.fault->write && options_.fault->index == bursts_written_;
  responses_.push_back(
      {timing_->write(pins.cycle, write.address, write.beats), uint8_t(write.outside ? kDecodeError
                                                                       : fault       ? kSlaveError
                                                                                     : kOkay)});
  ++bursts_written_;
  writes_.pop_front();
}

void AxiMemory::accept(AxiPins& pins) {
  if (pins.r_valid != 0 && pins.r_ready != 0) {
    if (++reads_.front().next == reads_.front().beats) reads_.pop_front();
    ++beats_read_;
    moved_bits_ += 8 * port_bytes_;
  }
  if (pins.b_valid != 0 && pins.b_ready != 0) responses_.pop_front();
  if (pins.ar_valid != 0 && pins.ar_ready != 0) {
    const uint32_t beats = pins.ar_length + 1u;
    const ReadTiming timing = timing_->read(pins.cycle, pins.ar_address, beats);
    reads_.push_back({pins.ar_address, timing.first_beat, timing.interval, beats, 0, pins.ar_id});
    if (options_.record_transactions) {
      transactions_.push_back({pins.cycle, pins.ar_address, beats, AxiClient(pins.ar_id)});
    }
  }
  if (pins.aw_valid != 0 && pins.aw_ready != 0) {
    const uint32_t beats = pins.aw_length + 1u;
    writes_.push_back({pins.aw_address, beats, 0, false});
    if (options_.record_transactions) {
      transactions_.push_back({pins.cycle, pins.aw_address, beats, AxiClient::kStore});
    }
  }
  if (pins.w_valid != 0 && pins.w_ready != 0) {
    moved_bits_ += 8 * port_bytes_;
    accept_write_beat(pins);
  }
}

void AxiMemory::drive_read(AxiPins& pins) {
  const bool waiting = pins.r_valid != 0 && pins.r_ready == 0;
  if (waiting) return;
  pins.r_valid = 0;
  if (reads_.empty()) return;
  const Read& read = reads_.front();
  const uint64_t due = read.first + read.next * read.interval;
  if (due > pins.cycle + 1) {
    pins.wake = std::min(pins.wake, due - 1);
    return;
  }
  if (pause()) return;
  const uint64_t address = read.address + uint64_t{read.next} * port_bytes_;
  const bool fault = options_.fault && !options_.fault->write && options_.fault->index == beats_read_;
  pins.r_valid = 1;
  pins.r_id = read.id;
  pins.r_last = read.next + 1 == read.beats;
  pins.r_response = fault ? kSlaveError : kOkay;
  std::memset(pins.r_data, 0, port_bytes_);
  if (address >= memory_.size()) {
    pins.r_response = kDecodeError;
  } else {
    std::memcpy(pins.r_data, memory_.data() + address,
                std::min<uint64_t>(port_bytes_, memory_.size() - address));
  }
}

void AxiMemory::drive_response(AxiPins& pins) {
  const bool waiting = pins.b_valid != 0 && pins.b_ready == 0;
  if (waiting) return;
  pins.b_valid = 0;
  if (responses_.empty()) return;
  if (responses_.front().cycle > pins.cycle + 1) {
    pins.wake = std::min(pins.wake, responses_.front().cycle - 1);
    return;
  }
  if (pause()) return;
  pins.b_valid = 1;
  pins.b_response = responses_.front().code;
}

void AxiMemory::drive(AxiPins& pins) {
  pins.wake = UINT64_MAX;
  drive_read(pins);
  drive_response(pins);
  pins.ar_ready = !pause();
  pins.aw_ready = !pause();
  // Data may come before its address; a memory that pauses takes it afterwards.
  pins.w_ready = options_.pause_seed == 0 || (!writes_.empty() && !pause());
  if (pins.r_valid != 0 || pins.b_valid != 0 || options_.pause_seed != 0) pins.wake = pins.cycle + 1;
}

void AxiMemory::tick(AxiPins& pins) {
  check(pins);
  accept(pins);
  drive(pins);
  if (!violation_.empty()) pins.stop = 1;
}

}  // namespace tilewright
