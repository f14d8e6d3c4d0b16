// Groups of operators, listed in one place. A class says what an operator does with the elements of its
// inputs, a function what it computes independently of the number type (Conv, QConv and FixedConv are one
// function). Passes, extractors and cost models ask here instead of listing names of their own.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

enum class OperatorClass {
  kOther,          // not covered (graph/operators/operators.h)
  kProduct,        // sums of products of two operands: convolutions, dense layers, matrix products
  kPool,           // sums or maxima over windows of one tensor
  kElementwise,    // element k depends on element k of one tensor, and on scalars
  kBroadcast,      // element by element of several tensors, which broadcast
  kConversion,     // element by element into another number type
  kReduction,      // sums, extremes and orders along axes
  kNormalization,  // elements scaled by statistics, or turned in pairs
  kReshape,        // the same elements in the same order under another shape
  kCopy,           // the input itself, in inference
  kMovement,       // elements of one tensor picked, moved or repeated along axes
  kAssembly,       // elements put together from several tensors, by indices of their own, or interpolated
  kSource,         // made from constants and shapes, not from elements
};

enum class OperatorFunction {
  kOther,
  kConvolution,
  kTransposedConvolution,
  kDense,          // [N,K] by [O,K]; Gemm may transpose either
  kMatrixProduct,  // batched
  kAddition,
  kMultiplication,  // element by element
  kAveragePool,
  kMaxPool,
  kRequantize,
  kLookup,
  kClip,
};

// The numbers that an operator's definition fixes.
enum class OperatorNumbers {
  kAny,      // ONNX: whatever the element types are
  kInteger,  // i8 or i16 with i32 sums, or i64 ones (docs/reference/arithmetic.md)
  kFixed,    // i32 with 64-bit sums
};

struct OperatorTraits {
  OperatorClass kind = OperatorClass::kOther;
  OperatorFunction function = OperatorFunction::kOther;
  OperatorNumbers numbers = OperatorNumbers::kAny;
  bool activation = false;  // what a layer's output may pass through before it is stored
};

// Of an operator that is not supported: the defaults.
const OperatorTraits& operator_traits(const Node& node);

inline OperatorClass operator_class(const Node& node) { return operator_traits(node).kind; }
inline OperatorFunction operator_function(const Node& node) { return operator_traits(node).function; }

// Every element of the result is an element of input 0: reshapes, copies, movement, maxima over windows.
bool only_selects(const Node& node);

// A sum that the operator itself scales, clips and stores: QConv ... QRequantize, FixedConv ...
// FixedAveragePool. Its attributes clip_low and clip_high bound the result.
bool has_output_stage(const Node& node);

// The element type of such an operator's result, if its numbers are integers: the attribute output_bits, 8
// unless it is 16.
ElementType output_type(const Node& node);

// Which input of an integer operator with an output stage is its table, i8[256], where it has one: an output
// element y is then stored as entry y + 128. -1: the operator has none.
int table_input(const Node& node);

}  // namespace tilewright
