// Numbers rounded as hardware will, with gradients that pass through the rounding ("straight-through"; Bengio
// et al. 2013) and gradients by the scale (LSQ; Esser et al. 2020).
#pragma once

#include "tilewright/quantize/finetune/training_pass.h"
#include "tilewright/tensor/shape.h"

namespace tilewright {

// Integers between low and high, times a scale: zero stands for 0.
struct RoundingBounds {
  float low = -127, high = 127;
};

// Rounded half to even. count numbers.
void round_numbers(const float* x, float scale, const RoundingBounds& bounds, int64_t count, float* rounded);
// Adds to dx what `given`, the gradient by the rounded numbers, means for x; gives the gradient by the scale.
float round_backwards(const float* x, float scale, const RoundingBounds& bounds, int64_t count,
                      const float* given, float* dx);

// Of a value; `scale` is a trained number.
std::unique_ptr<TrainingStep> rounding_step(const TrainingPlace& exact, const TrainingPlace& rounded,
                                            size_t scale, const RoundingBounds& bounds);

}  // namespace tilewright
