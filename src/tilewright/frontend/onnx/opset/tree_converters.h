// Ensembles of decision trees (domain ai.onnx.ml) in terms of standard operators.
#pragma once

#include "tilewright/frontend/onnx/opset/opset_converters.h"

namespace tilewright {

bool is_tree_ensemble(const std::string& domain, const std::string& op);

// Rewrites or reports the node. The types and shapes of all inputs are known.
void convert_tree_ensemble(Node& node, NodeConversion& conversion);

}  // namespace tilewright
