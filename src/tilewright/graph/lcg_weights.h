// Deterministic weights for models that come without any, and reference inputs, from the linear congruential
// stream of base/random.h. u is a draw in [0, 1); all arithmetic is in float32.
//
//   weight of a convolution or dense layer    (2u - 1) * sqrt(gain / fan_in), the root taken in double
//   bias, normalisation shift and mean, Add   (2u - 1) * 0.1
//   normalisation scale and variance, Mul     0.75 + 0.5 u
//
// Tensor number k draws from its own stream with seed 1000 + k, in row-major order; fan_in is the product of
// all dimensions of a weight but the one of the output channels.
#pragma once

#include <optional>
#include <string_view>

#include "tilewright/base/random.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

enum class LcgOrder {
  kConstantOfShape,  // k counts the ConstantOfShape nodes, in graph order; they become constants
  kConstants,  // k counts the constants, in value order: initializers in file order after reading a file
};

struct LcgFill {
  double gain = 3;
  LcgOrder order = LcgOrder::kConstantOfShape;
};

// The purpose of a tensor, which decides its numbers.
enum class LcgRole { kNone, kWeight, kShift, kScale };
struct LcgUse {
  LcgRole role = LcgRole::kNone;
  bool output_channels_last =
      false;  // of a weight: the axis of its output channels is the last, else the first
};

// One tensor by the rule above, of the stream `seed`; as a shift for kNone.
Tensor lcg_weight(const Shape& shape, const LcgUse& use, double gain, uint64_t seed);

// Replaces the tensors in `fill.order` that are float weights of some node; other constants (shapes, bounds)
// keep what they hold. Errors: (unsupported) a ConstantOfShape that is used as something other than a weight,
// each one named; (invalid input) more than 4 GiB of weights.
Graph fill_lcg_weights(Graph graph, const LcgFill& fill);

// The gain that the reference outputs of a known network were made with, by a part of its name ("resnet50",
// "squeezenet", ...): 3 or 6.
std::optional<double> lcg_gain_of(std::string_view network);

// One reference input: u for floats, floor(2^bits u) shifted to the range of u8, i8 and i16. Several inputs
// of a model draw one after another from one stream of seed 1. Errors (unsupported): other types.
Tensor lcg_input(ElementType type, const Shape& shape, LcgStream& stream);

}  // namespace tilewright
