// Dense layers get one form: MatMul of a rank-2 value with constant rank-2 weights becomes Gemm, and a
// following Add of one constant per output column becomes its bias, when nothing else reads the product.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

Graph form_gemm(Graph graph);

}  // namespace tilewright
