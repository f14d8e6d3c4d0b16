// A classifier as steps from its input to its scores, with numbers that can be trained.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/quantize/finetune/rounding.h"
#include "tilewright/quantize/finetune/training_pass.h"

namespace tilewright {

struct RoundedValue {
  ValueId value = kNoValue;
  int group = 0;  // whose scale it has
  RoundingBounds bounds;
};

// Trained numbers: of layer i the weights at 2 i (in the order of the constant) and the biases at 2 i + 1
// (empty: there are none); behind those of all layers the scale of each group. Weights and scales are given
// as they are used; who trains rounded weights rounds them before.
class TrainedNetwork {
 public:
  // layers: nodes with constant weights; each of `biased` has a bias for each output. rounded: values that
  // their readers see rounded. graph must outlive it only here.
  TrainedNetwork(const Graph& graph, const std::vector<NodeId>& layers, const std::vector<bool>& biased,
                 const std::vector<RoundedValue>& rounded);

  // What stands against training it, as a sentence's second half ("node 'x' (Sigmoid) has no gradient here");
  // empty: nothing. Else nothing below may be called.
  const std::string& problem() const { return problem_; }

  int64_t input_size() const { return input_.size; }  // of a run
  const Shape& input_shape() const { return input_.shape; }
  int64_t rows() const { return rows_; }  // of scores in a run
  int64_t classes() const { return classes_; }
  // Numbers of all values of a run, gradients included.
  int64_t pass_size() const;

  // Makes room for `runs` runs.
  void prepare(TrainingPass& pass, int64_t runs) const;
  Numbers& input(TrainingPass& pass) const { return pass.values[input_.place]; }
  const Numbers& scores(const TrainingPass& pass) const { return pass.values[scores_.place]; }
  void forwards(TrainingPass& pass) const;
  // From the gradient of each score; adds to the trained numbers' gradients.
  void backwards(TrainingPass& pass, const Numbers& by_scores) const;

 private:
  ValueId scores_of(const Graph& graph);
  void add_nodes(const Graph& graph, const std::vector<NodeId>& layers, const std::vector<bool>& biased,
                 const std::vector<RoundedValue>& rounded, ValueId scores);
  TrainingPlace new_place(const Shape& shape);

  std::string problem_;
  std::vector<std::unique_ptr<TrainingStep>> steps_;
  std::vector<int64_t> sizes_;  // of the values, by place
  TrainingPlace input_, scores_;
  int64_t rows_ = 0, classes_ = 0;
};

}  // namespace tilewright
