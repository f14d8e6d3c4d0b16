// Random expressions over three variables for the tests of this folder.
#pragma once

#include "tilewright/base/random.h"
#include "tilewright/spatial/formula/expression.h"

namespace tilewright::study {

inline constexpr int kTestVariables = 3;

// The node of a random tree; constants are whole numbers of 1..9.
inline int random_expression(ExpressionGraph& graph, Random& random, int depth) {
  if (depth == 0 || random.chance(0.15)) {
    if (random.chance(0.3)) return graph.constant(double(random.between(1, 9)));
    return graph.symbol(int(random.between(0, kTestVariables - 1)));
  }
  static constexpr FormulaOperation kOperations[] = {
      FormulaOperation::kAdd,      FormulaOperation::kAdd,      FormulaOperation::kSubtract,
      FormulaOperation::kMultiply, FormulaOperation::kMultiply, FormulaOperation::kDivide,
      FormulaOperation::kMinimum,  FormulaOperation::kMaximum,  FormulaOperation::kModulo,
      FormulaOperation::kCeil,     FormulaOperation::kFloor};
  const FormulaOperation operation = kOperations[random.between(0, std::ssize(kOperations) - 1)];
  const int a = random_expression(graph, random, depth - 1);
  if (operation == FormulaOperation::kCeil || operation == FormulaOperation::kFloor)
    return graph.apply(operation, a);
  return graph.apply(operation, a, random_expression(graph, random, depth - 1));
}

}  // namespace tilewright::study
