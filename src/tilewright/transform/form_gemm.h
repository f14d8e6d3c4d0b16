#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// MatMul of a rank-2 value with constant rank-2 weights becomes Gemm; a following Add of one constant per
// output column becomes its bias, when nothing else reads the product. So dense layers have one form.
Graph form_gemm(Graph graph);

}  // namespace tilewright
