// What no graph of two-operand sums can do without.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/constant/adder_graph.h"

namespace tilewright::pipeline {

struct GraphBound {
  int64_t sums = 0;  // those without overlap included
  int64_t luts = 0;
};

// Rows must differ from each other by more than sign and shift, and have two inputs or more.
//
// Sums: a row of k inputs is the end of a tree of k - 1 sums. Before the first node (in the graph's order)
// that depends on k or more inputs stand k - 2 sums that depend on fewer; every row of k or more inputs is
// such a node of its own. So there are k - 2 + (rows of k or more inputs), for the best k.
//
// Tables of one row, S: whoever knows a sum and its operands' o shared bits of one of them knows both
// operands. So the row's value and one bit for each bit that its sums share tell all inputs: their bits less
// the row's.
//
// Tables of another row, M: it is a +- (b << j), C its largest factor, w the width of the narrowest input.
// For j <= log2 C its operands share w - j bits or more. Beyond, some factor of a is 2^j - C or more, which
// makes a reach over the lowest w - floor(log2 C) - 1 bits of b. So it shares that many, whatever j is.
//
// Of the rows of k or more inputs the first in the graph's order costs S, and no other of them is a part of
// it: each of those costs M. The least S, and the sum of the least M, for the best k.
GraphBound lower_bound(const ConstantMatrix& rows, const std::vector<NumberRange>& ranges);

}  // namespace tilewright::pipeline
