// Where a float graph gets QuantizeLinear / DequantizeLinear pairs, before any number is known.
#pragma once

#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// An operator with weights that becomes integer: `node` computes, `output` is the value that its integer form
// ends with, after the bias addition and the activation that follow (the value itself when none do).
struct WeightedOperator {
  NodeId node = kNoNode;
  ValueId input = kNoValue;   // quantised
  ValueId output = kNoValue;  // quantised
  NodeId bias_addition = kNoNode;
};

// `to` is computed from `from` by integer operators that cannot scale up in plain VTA arithmetic: the scale
// of `to` must not be smaller than the scale of `from`.
struct ScaleOrder {
  ValueId from = kNoValue;
  ValueId to = kNoValue;
};

struct QuantizationPlan {
  std::vector<ValueId> values;        // to be quantised, in order of computation
  std::vector<int> group;             // of each of `values`: equal numbers share scale and zero point
  std::vector<bool> zero_point_zero;  // by group number: a ConvTranspose reads one of its values, or a
                                      // product as its second operand
  std::vector<bool>
      narrow;  // by group number: a softmax or a product of two computed matrices reads it, 8 bits
  std::vector<WeightedOperator> weighted;
  std::vector<ScaleOrder> orders;
  int group_of(ValueId value) const;  // -1 when it is not quantised
};

// Conv, ConvTranspose, Gemm and MatMul with constant f32 weights, products of two computed matrices,
// additions of two computed values of one shape, products of two computed values, factors per channel,
// average pools; functions of one value (element_function.h), softmax, norms and rotary embedding along the
// last axis, and Concat, where an integer operator reads them; with activations fused into what they follow.
// Values that are only moved keep the quantisation of their source, and scores are quantised before a causal
// mask. `float_nodes`: QuantizeOptions. Errors (invalid input): a name there that no node has.
QuantizationPlan plan_quantization(const Graph& graph, const std::vector<std::string>& float_nodes = {});

}  // namespace tilewright
