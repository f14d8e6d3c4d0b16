// Networks of signs and ternary weights in float graphs: their patterns, and the integers they represent.
#pragma once

#include <optional>

#include "tilewright/quantize/integerize/integer_builder.h"

namespace tilewright {

// Where(x >= 0, scale, -scale): scale * (+1 or -1), zero counting as positive.
struct SignOf {
  ValueId x = kNoValue;
  float scale = 1;
};
std::optional<SignOf> sign_of(const Graph& graph, const std::vector<NodeId>& producers, const Node& node);

// Constant weights of rank 2 or more that are -s, 0 or s with one s per index of `axis` (batch normalisation
// folded in), as integers; nullopt for all others.
std::optional<QuantizedConstant> ternary_constant(const Tensor& weights, int axis);

// Whether an activation is so narrow (at most 4 bits) that its weights may be treated as ternary.
bool is_narrow(const Twin& twin);

}  // namespace tilewright
