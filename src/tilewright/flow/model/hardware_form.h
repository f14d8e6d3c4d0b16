// A model in the numbers that hardware computes with.
#pragma once

#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct NumberFormat {
  bool fixed = false;  // i32 with `fraction` bits after the point; else integers
  int fraction = 22;   // Q10.22
  int weight_bits = 8, activation_bits = 8;
};

// Simplified, and in integer (docs/reference/arithmetic.md) or fixed-point operators. A model that is
// quantised already keeps its own scales; a float model is quantised on `calibration` (one array per input;
// unused for fixed point) with the best recipe, or, where only work and times count, the quickest. Errors
// (invalid input): a float model and no calibration; a quantised model in fixed point; whatever quantize and
// to_fixed_point report.
enum class Recipe { kBest, kQuickest };
Graph hardware_form(Graph model, const NumberFormat& format, const std::vector<Tensor>& calibration,
                    int threads, Recipe recipe = Recipe::kBest);

}  // namespace tilewright
