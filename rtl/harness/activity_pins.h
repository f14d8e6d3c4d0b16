// What a compiled model says about its switching, for the program that loads it.
#pragma once

#include <cstdint>

// A scope of the design (an instance, or a generate block) since the model was made, scopes inside it apart.
struct ScopeActivity {
  const char* path;  // "TOP.design.instance"; stays where it is as long as the model lives
  uint64_t
      toggled_bits;  // of all its signals, clocks excepted; a signal of several scopes counts in the deepest
  uint64_t memory_bits;  // read from and written to the memory that the scope is
};
