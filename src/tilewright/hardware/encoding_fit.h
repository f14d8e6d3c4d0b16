// Whether the index widths of an overlay fit its instruction encoding, by the bit-field rule of
// src/tilewright/overlay/isa/isa.h: fields follow each other in 64-bit words, and one that does not fit in
// the rest of a word starts the next.
#pragma once

#include <string>
#include <vector>

#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright {

// log2 of the depth of each scratchpad.
struct IndexWidths {
  int accumulator = 0, input = 0, weight = 0, uop = 0;
  bool operator==(const IndexWidths&) const = default;
};

IndexWidths index_widths(const OverlayHardware& hardware);

// Words of `word_bits` that fields of these widths (each at most word_bits) take in order.
int packed_words(const std::vector<int>& field_widths, int word_bits);

// The encoding that is too narrow for these widths, e.g. "128-bit ALU instruction"; empty if everything fits.
std::vector<std::string> formats_too_narrow(IsaVersion isa, const IndexWidths& widths);

// How many of the four widths differ.
int reduced_buffers(const IndexWidths& given, const IndexWidths& reduced);

// All ways to make `given` fit by the fewest halvings of scratchpads in all, the best first: fewest buffers
// touched, then the deepest ones. Widths stay at least 1.
std::vector<IndexWidths> least_reductions(IsaVersion isa, const IndexWidths& given);

}  // namespace tilewright
