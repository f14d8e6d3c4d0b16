// Bits of the tensors of a network that is extracted from a graph.
#pragma once

#include <cstdint>

#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// Bits of two's complement that hold low..high, 2 or more.
int bits_for(int64_t low, int64_t high);

// Of elements that share a byte of memory, and of those of engines that several layers share: the next power
// of two.
int addressed_bits(int bits);

// The wires of a tensor also carry its readers' padding, and both operands of an addition unchanged; signs
// that are not made by a threshold are numbers; input and output lie in memory. Sets the bits of all tensors
// and the padding of maxima.
void fit_tensors(Network& network);

}  // namespace tilewright::pipeline
