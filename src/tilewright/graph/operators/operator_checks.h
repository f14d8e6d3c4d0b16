// Helpers shared by inference functions: rejection with the node's name, type classes, constant inputs, axes.
// Everything here throws Error with kind invalid input unless said.
#pragma once

#include <string>
#include <vector>

#include "tilewright/graph/operators/operators.h"

namespace tilewright {

[[noreturn]] void reject(const OperatorContext& context, std::string message, std::string hint = {});
// Kind unsupported.
[[noreturn]] void reject_unsupported(const OperatorContext& context, std::string message,
                                     std::string hint = {});

// "input 1 ('conv1.weight')".
std::string describe_input(const OperatorContext& context, int index);

enum class TypeClass { kFloat, kNumber, kInteger, kByte, kIndex, kBool };  // kByte: i8, u8; kIndex: i32, i64
void require_class(const OperatorContext& context, int index, TypeClass wanted);
void require_type(const OperatorContext& context, int index, ElementType wanted);
void require_same_type(const OperatorContext& context, int first, int second);
void require_rank(const OperatorContext& context, int index, int rank);
// The input is a vector (rank 1) of `length` elements.
void require_vector(const OperatorContext& context, int index, int64_t length);
// Both inputs have one shape.
void require_same_shape(const OperatorContext& context, int first, int second);
// Integer attribute `name`, or its default if it is missing, in low..high.
void require_integer(const OperatorContext& context, const char* name, int64_t fallback, int64_t low,
                     int64_t high);
// Attributes clip_low and clip_high, or these defaults: in the right order.
void require_clip_order(const OperatorContext& context, int64_t low, int64_t high);
void require_single_element(const OperatorContext& context, int index);

// The elements of an integer input that must be known; `what` says what they are ("the axes").
std::vector<int64_t> known_integers(const OperatorContext& context, int index, const char* what);
// Attribute or number `axis` made non-negative for `rank`.
int checked_axis(const OperatorContext& context, int64_t axis, int rank);
// Distinct, normalised, in the order given.
std::vector<int> checked_axes(const OperatorContext& context, const std::vector<int64_t>& axes, int rank);

Shape broadcast_inputs(const OperatorContext& context, const Shape& a, const Shape& b);
// Input `index` must broadcast to `target` without enlarging it.
void require_broadcastable_to(const OperatorContext& context, int index, const Shape& target);

// `[n, k]` times `[m, k]` transposed, inputs 0 and 1: `[n, m]`.
Shape transposed_product_shape(const OperatorContext& context);

// Products that stop at INT64_MAX. Factors are not negative.
int64_t saturating_multiply(int64_t a, int64_t b);
int64_t saturating_count(const Shape& shape);

// The result of an operator with a single output.
std::vector<TypedShape> only(ElementType type, Shape shape);

}  // namespace tilewright
