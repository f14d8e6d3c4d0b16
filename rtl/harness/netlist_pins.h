// The interface between the compiled model of a netlist (netlist_harness.cpp, in a shared library) and the
// program that loads it: where the model keeps its ports, and the functions that the library offers.
#pragma once

#include <cstdint>

#include "activity_pins.h"

// A port of the top, clk and rst among them.
struct NetlistPort {
  const char* name;
  void* value;  // 8, 16, 32 or 64 bits, or words of 32 bits with the lowest first
  int bits;
};

struct NetlistModel;

struct NetlistInterface {
  // `wave_file`: FST waves, when the library was built for them; else null.
  NetlistModel* (*create)(const char* wave_file);
  void (*destroy)(NetlistModel*);
  // All ports; `count` of them. They stay where they are as long as the model lives.
  const NetlistPort* (*ports)(NetlistModel*, int& count);
  // Settles combinational logic with the clock low.
  void (*settle)(NetlistModel*);
  // The rising edge.
  void (*edge)(NetlistModel*);
  // What an assertion, or $fatal, said first; empty if none did.
  const char* (*complaint)(const NetlistModel*);
  // What switched since the model was made, by scope; `count` of them, none unless the library was built for
  // it.
  const ScopeActivity* (*activity)(NetlistModel*, int& count);
};

// The one symbol that a library exports.
extern "C" const NetlistInterface* netlist_interface();
