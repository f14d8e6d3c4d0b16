// Evaluation of the small integer computations by which models derive sizes from sizes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tilewright/graph/operators/operators.h"

namespace tilewright {

inline constexpr int64_t kMaxKnownElements = 4096;

// The first output of a node when it follows from what is known about the inputs: Shape, Size, Constant,
// ConstantOfShape, Identity, Cast, Gather, Concat, Slice, Squeeze, Unsqueeze, Reshape, Flatten, Transpose,
// Expand, Where, Range, Add, Sub, Mul, Div, Mod, Min, Max, Neg, Floor, Ceil, Equal, Less, Greater, Not,
// ReduceProd, ReduceSum, ReduceMin, ReduceMax. `output` is what inference found. Nothing when the operator or
// the element types are not covered, an input is not known, there are over 4096 elements, or an integer
// overflows.
std::optional<Tensor> propagate(const OperatorContext& context, const TypedShape& output);

}  // namespace tilewright
