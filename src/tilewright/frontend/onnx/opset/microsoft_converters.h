// Operators of the domain com.microsoft, which ONNX Runtime's quantiser and optimiser write, in terms of
// standard ones. Definitions: ONNX Runtime's description of its contributed operators.
#pragma once

#include "tilewright/frontend/onnx/opset/opset_converters.h"

namespace tilewright {

bool is_microsoft_operator(const std::string& domain, const std::string& op);

// Rewrites or reports the node. The types and shapes of all inputs are known.
void convert_microsoft_operator(Node& node, NodeConversion& conversion);

// The larger ones: microsoft_attention.cpp, microsoft_group_query.cpp, microsoft_weights.cpp.
void convert_microsoft_attention(Node& node, NodeConversion& conversion);
void convert_multi_head_attention(Node& node, NodeConversion& conversion);
void convert_group_query_attention(Node& node, NodeConversion& conversion);
void convert_matmul_n_bits(Node& node, NodeConversion& conversion);

}  // namespace tilewright
