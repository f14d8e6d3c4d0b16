// The interface between the compiled model of the overlay's RTL (overlay_harness.cpp, in a shared library)
// and the program that loads it: the functions that the library offers.
#pragma once

#include <cstdint>

#include "activity_pins.h"
#include "axi_pins.h"

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
  // Since the run began that is running, or ran last.
  uint64_t (*cycle)(const OverlayModel*);
  // One access over AXI4-Lite. False: no response, or an error response.
  bool (*read)(OverlayModel*, uint32_t offset, uint32_t& value);
  bool (*write)(OverlayModel*, uint32_t offset, uint32_t value);
  // What an assertion of the RTL, or $fatal, said first; empty if none did.
  const char* (*complaint)(const OverlayModel*);
  // What switched since the model was made, by scope; `count` of them, none unless the library was built for
  // it.
  const ScopeActivity* (*activity)(OverlayModel*, int& count);
};

// The one symbol that a library exports.
extern "C" const OverlayInterface* overlay_interface();
