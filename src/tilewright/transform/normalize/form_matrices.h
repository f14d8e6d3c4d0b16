// Transformers in integers as matrices: one row for each token, its channels beside each other.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// QSoftmax, QLayerNorm, QRotary and element-wise integer operators on rows get operands of rank 2, and so
// does QMatMul: the Reshapes and Transposes that lay out the heads of attention, also of several that share
// keys, become its attributes (heads, groups, a_columns, ..., transpose_b); heads of a QRotary stand side by
// side. What is left of them are Reshapes between the ranks.
Graph form_matrices(Graph graph);

}  // namespace tilewright
