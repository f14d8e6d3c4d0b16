// The AXI4 pins that compiled RTL and the memory behind it (hardware/axi_memory.h) exchange in one cycle.
#pragma once

#include <cstdint>

// An AXI4 port in one cycle, seen from the memory. Widths are the largest; a narrower port uses the low bits.
struct AxiPins {
  static constexpr int kDataWords = 32;  // 1024 bits

  uint64_t cycle = 0;  // since `running` rose last
  // Driven by the design in this cycle.
  uint64_t ar_address = 0, aw_address = 0;
  uint64_t w_strobe[kDataWords / 16] = {};
  uint32_t w_data[kDataWords] = {};
  uint8_t ar_valid = 0, ar_id = 0, ar_length = 0, ar_size = 0, ar_burst = 0;
  uint8_t aw_valid = 0, aw_length = 0, aw_size = 0, aw_burst = 0;
  uint8_t w_valid = 0, w_last = 0, r_ready = 0, b_ready = 0;
  // Driven by the memory in this cycle; a tick sets them for the next one.
  uint8_t ar_ready = 0, aw_ready = 0, w_ready = 0;
  uint8_t r_valid = 0, r_id = 0, r_response = 0, r_last = 0, b_valid = 0, b_response = 0;
  uint32_t r_data[kDataWords] = {};
  // The memory wants to be called in this cycle whether or not the design asks for anything before.
  uint64_t wake = 0;
  uint8_t stop = 0;  // set by the memory: end the simulation, something is wrong
};

// The memory in one cycle: looks at what both sides drive, does what the handshakes of this cycle say, and
// sets its own pins for the next cycle.
using AxiTick = void (*)(void* memory, AxiPins& pins);
