// The interface between the compiled model of the overlay's RTL (overlay_harness.cpp, in a shared library)
// and the program that loads it: the AXI pins of one cycle, and the functions that the library offers.
#pragma once

#include <cstdint>

// An AXI4 port in one cycle, seen from the memory. Widths are the largest; a narrower port uses the low bits.
struct AxiPins {
  static constexpr int kDataWords = 16;  // 512 bits

  uint64_t cycle = 0;  // since `running` rose last
  // Driven by the design in this cycle.
  uint64_t ar_address = 0, aw_address = 0, w_strobe = 0;
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

struct OverlayModel;

struct OverlayInterface {
  // `wave_file`: FST waves, when the library was built for them; else null.
  OverlayModel* (*create)(const char* wave_file, AxiTick tick, void* memory);
  void (*destroy)(OverlayModel*);
  // Holds reset for some cycles; the memory is not called.
  void (*reset)(OverlayModel*);
  // Runs until the interrupt is high, `stop` is set, an assertion has failed, or `cycles` have passed;
  // returns the cycles run.
  uint64_t (*run)(OverlayModel*, uint64_t cycles);
  // Exactly that many cycles unless `stop` is set or an assertion has failed.
  void (*step)(OverlayModel*, uint64_t cycles);
  bool (*interrupt)(const OverlayModel*);
  // One access over AXI4-Lite. False: no response, or an error response.
  bool (*read)(OverlayModel*, uint32_t offset, uint32_t& value);
  bool (*write)(OverlayModel*, uint32_t offset, uint32_t value);
  // What an assertion of the RTL, or $fatal, said first; empty if none did.
  const char* (*complaint)(const OverlayModel*);
};

// The one symbol that a library exports.
extern "C" const OverlayInterface* overlay_interface();
