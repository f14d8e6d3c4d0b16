// Overlays of one description in other shapes, for figures that compare shapes.
#pragma once

#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright {

// The same scratchpad depths, in elements, with operands of `bits` bits and blocks of `block` x `block`.
inline OverlayHardware reshaped(OverlayHardware hardware, int bits, int batch, int block) {
  const int64_t inputs = hardware.input_depth(), weights = hardware.weight_depth(),
                accumulators = hardware.accumulator_depth();
  hardware.input_bits = hardware.weight_bits = hardware.output_bits = bits;
  hardware.batch = batch;
  hardware.block_in = hardware.block_out = block;
  hardware.input_buffer_bytes = inputs * hardware.input_bytes();
  hardware.weight_buffer_bytes = weights * hardware.weight_bytes();
  hardware.accumulator_buffer_bytes = accumulators * hardware.accumulator_bytes();
  return hardware;
}

}  // namespace tilewright
