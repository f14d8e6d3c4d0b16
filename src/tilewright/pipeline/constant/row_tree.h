// Rows that resemble each other: a row as another one, perhaps negated, and a difference that has fewer
// digits.
#pragma once

#include <vector>

#include "tilewright/pipeline/constant/adder_graph.h"

namespace tilewright::pipeline {

struct RowOrigin {
  int parent = -1;  // -1: the row is its own
  bool negative = false;
  int height = 0;  // rows one after another that are made from this one
};

struct RowTree {
  std::vector<RowOrigin> origins;  // by row
  std::vector<int> order;          // parents first
  ConstantMatrix differences;      // what each row adds to its parent
};

// The tree with the fewest bits to add: a minimum spanning tree over the rows and a root for rows by
// themselves, where a parent costs the bits of its sum. No row has more than `levels` others above it; with 0
// all are by themselves.
RowTree make_row_tree(const ConstantMatrix& matrix, const std::vector<NumberRange>& ranges, int levels);

}  // namespace tilewright::pipeline
