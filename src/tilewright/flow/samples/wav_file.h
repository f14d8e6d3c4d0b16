// WAV sounds: PCM of 8, 16, 24 and 32 bits, floats of 32 and 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

struct Sound {
  int64_t rate = 0;  // Hz
  Tensor values;  // f32 [length, channels]; PCM of N bits is divided by 2^(N-1), so that it lies in [-1, 1)
};

// Errors (invalid input): no WAV, damaged, truncated; (unsupported) compressed forms.
Sound parse_wav(std::span<const std::byte> bytes);

}  // namespace tilewright
