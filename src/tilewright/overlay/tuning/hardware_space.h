// The hardware side of co-exploration as knobs: the overlays of one operand width that one device could take
// - array, scratchpads, ALU, memory port and queues. Narrow operands keep the word size of 8-bit ones: a row
// of the array is `words` bytes of inputs, so it has 8 / bits as many lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/hardware/device.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/search/knobs/knob_space.h"

namespace tilewright::overlay {

// The widths that operands may have, the widest first.
inline constexpr int kOperandBits[] = {8, 4, 2, 1};

// The port is as wide as a channel of the device's memory (64 bits where none is stated) or half of it.
// Valid points are descriptions that the RTL can have and layers can be compiled for. Errors (invalid input):
// another operand width.
KnobSpace hardware_space(int operand_bits, const Device& device);

// The description given by the values of a point; its name is made from them.
OverlayHardware hardware_at(const std::vector<int64_t>& values, int operand_bits);

}  // namespace tilewright::overlay
