// Where the matrices of a QMatMul stand in its operands (ProductGeometry of tensor/reference_rows.h).
#pragma once

#include "tilewright/graph/graph.h"
#include "tilewright/tensor/reference_rows.h"

namespace tilewright {

// The fields that product_geometry reads.
inline ProductParameters product_places(const Node& node) {
  ProductParameters p;
  p.transpose_b = node.int_or("transpose_b", 0) != 0;
  p.heads = node.int_or("heads", 1);
  p.groups = node.int_or("groups", 0);
  p.a_columns = node.int_or("a_columns", 0) != 0;
  p.b_columns = node.int_or("b_columns", 0) != 0;
  p.y_columns = node.int_or("y_columns", 0) != 0;
  return p;
}

}  // namespace tilewright
