// The numbers of some runs of a network at once, and the gradients of a loss by them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

using Numbers = std::vector<float>;

// Values lie run after run. Trained numbers are those of all runs; what steps add to their gradients is a sum
// over the runs.
struct TrainingPass {
  int64_t runs = 0;
  std::vector<Numbers> values, gradients;  // by place
  const std::vector<Numbers>* trained = nullptr;
  std::vector<Numbers>* trained_gradients = nullptr;
  Numbers scratch;
};

// Where a step's values are in a pass, and how many elements a run has of each.
struct TrainingPlace {
  size_t place = 0;
  int64_t size = 0;
  Shape shape;
};

// One operator: results from operands, and gradients of operands from those of results, to which it adds.
class TrainingStep {
 public:
  virtual ~TrainingStep() = default;
  virtual void forwards(TrainingPass& pass) const = 0;
  virtual void backwards(TrainingPass& pass) const = 0;
};

// What a node has besides its operands.
struct StepOperands {
  std::vector<TrainingPlace> inputs;  // computed ones, constants left out
  TrainingPlace output;
  int weights = -1, bias = -1;  // of the trained numbers
};

// nullptr: the operator, or this form of it, has no gradient here. Convolutions (groups, one or two spatial
// axes), Gemm and MatMul with constant weights, sums of two values of one shape or with a constant, clips,
// pools, means over space, and what gives values another shape or order.
std::unique_ptr<TrainingStep> training_step(const Graph& graph, const Node& node,
                                            const StepOperands& operands);

std::unique_ptr<TrainingStep> convolution_step(const Graph& graph, const Node& node,
                                               const StepOperands& operands);
std::unique_ptr<TrainingStep> product_step(const Graph& graph, const Node& node,
                                           const StepOperands& operands);
std::unique_ptr<TrainingStep> pooling_step(const Graph& graph, const Node& node,
                                           const StepOperands& operands);

}  // namespace tilewright
