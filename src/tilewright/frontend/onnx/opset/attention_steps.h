// The steps of scaled dot-product attention and of rotary embeddings, which ONNX and ONNX Runtime spell in
// several operators. As in Steps, what could not be made is kNoValue.
#pragma once

#include "tilewright/frontend/onnx/opset/steps.h"

namespace tilewright {

// [batch, length, heads * size] as [batch, heads, length, size], and back.
ValueId split_heads(Steps& s, ValueId x, int64_t heads);
ValueId joined_heads(Steps& s, ValueId x);

struct AttentionOperands {
  ValueId q = kNoValue;  // [batch, heads, length, size]
  // [batch, heads of keys, keys, size]: each of the heads belongs to heads / heads of keys that follow one
  // another in q.
  ValueId k = kNoValue, v = kNoValue;
  double scale = 1, softcap = 0;  // softcap 0: none
  ValueId bias = kNoValue;        // added to the scores; broadcasts to [batch, heads, length, keys]
  bool hides_rows = false;        // whether a row of the bias can be -infinity alone; its result is 0
  ElementType softmax_type = ElementType::kF32;
};

// All but the result are [batch, heads, length, keys].
struct AttentionValues {
  ValueId scores = kNoValue, capped = kNoValue, biased = kNoValue, weights = kNoValue;
  ValueId result = kNoValue;  // [batch, heads, length, size of v]
};

// The shapes fit: the caller has checked them.
AttentionValues attend(Steps& s, const AttentionOperands& operands);

// Scale without an attribute of that name: 1 / sqrt(size of a head).
double default_attention_scale(int64_t head_size);

// -infinity where query i of `length` may not see key j of `keys`: beyond i + offset, or, with a window,
// before i + offset - window; 0 elsewhere, and in the last row if that query sees all. Reports and returns
// kNoValue if it has more than 2^26 elements.
ValueId causal_bias(Steps& s, ElementType type, int64_t length, int64_t keys, int64_t offset,
                    int64_t window = -1, bool last_sees_all = false);

// a + b, or the one that there is.
ValueId sum_of(Steps& s, ValueId a, ValueId b);

// The first `width` elements of the last axis of x, of rank 4, turned by angles whose cosines and sines
// broadcast to [.., .., .., width / 2]: each element with the one that is half the width away, or,
// interleaved, with its neighbour.
ValueId rotated(Steps& s, ValueId x, ValueId cosines, ValueId sines, int64_t width, bool interleaved);

}  // namespace tilewright
