// The best adder graph of a constant matrix that several searches find in a given time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/pipeline/constant/adder_graph.h"
#include "tilewright/pipeline/constant/lower_bound.h"

namespace tilewright::pipeline {

struct MatrixSolveOptions {
  double cpu_seconds = 60;  // of this thread; the best graph so far counts, a first one is always made
  // Of sums, without the outputs' constants; raised to the least that the matrix has. 0: three more than
  // that, beyond which little is saved.
  int depth = 0;
  int attempts = 8;  // searches: the fixed rules first, then ones led by chance
};

struct SolvedMatrix {
  AdderGraph graph;
  GraphBound bound;    // of rows that differ
  std::string search;  // what found it
  int attempts = 0;    // that were made
  double cpu_seconds = 0;
};

// Errors: invalid input (shapes or ranges that do not fit), unsupported (weights of more than 16 bits, sums
// of more than 57).
SolvedMatrix solve_matrix(const ConstantMatrix& matrix, const std::vector<NumberRange>& ranges,
                          const MatrixSolveOptions& options = {});

}  // namespace tilewright::pipeline
