// What a compiled model says about its switching, for the program that loads it.
#pragma once

#include <cstdint>

// A scope of the design (an instance, or a generate block) since the model was made, scopes inside it apart.
struct ScopeActivity {
  // "TOP.design.instance"; stays where it is as long as the model lives.
  const char* path;
  // Of all its signals, clocks excepted; a signal of several scopes counts in the deepest.
  uint64_t toggled_bits;
  // Read from and written to the memory that the scope is.
  uint64_t memory_bits;
};
