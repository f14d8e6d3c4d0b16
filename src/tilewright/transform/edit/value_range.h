// What is known about the values of a float tensor without running the graph.
#pragma once

#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {

// No element is negative, for any input: the value is the output of Relu, Sigmoid, Softmax, Clip to bounds of
// 0 or more, or of an operator that moves, pools, averages, adds or multiplies such values.
bool is_non_negative(const GraphEditor& editor, ValueId value);

}  // namespace tilewright
