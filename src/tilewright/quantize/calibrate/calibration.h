// Runs a float model on sample inputs and remembers the distribution of its values.
#pragma once

#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/quantize/calibrate/histogram.h"

namespace tilewright {

// Cuts sample arrays into the inputs of single runs. `samples` has one array per graph input, of the input's
// shape except that axis 0 may be any multiple of the model's batch; a remainder that fills no batch is left
// out. Integer arrays are converted where the input is float. Errors (invalid input, all at once): number of
// arrays, shapes, types, arrays of different lengths, fewer samples than one batch.
class SampleInputs {
 public:
  SampleInputs(const Graph& graph, const std::vector<Tensor>& samples);
  int64_t runs() const { return runs_; }
  // Samples per run: the model's batch; 1 for a model without inputs that have an axis 0, and for one whose
  // axis 0 is none, since output 0 is no multiple of it (recurrent networks take the time first).
  int64_t batch() const { return batch_; }
  std::vector<Tensor> inputs(int64_t run) const;

 private:
  std::vector<Tensor> samples_;
  std::vector<Shape> shapes_;  // of the graph inputs
  std::vector<ElementType> types_;
  int64_t runs_ = 1;
  int64_t batch_ = 1;
};

// The distribution of each of `values` (float values of `graph`; others are ignored), in the order given.
// Runs are spread over `threads` threads; the result does not depend on their number. Errors: those of
// Executor and SampleInputs; a value that is not finite (invalid input), by name.
std::vector<Histogram> calibrate(const Graph& graph, const std::vector<Tensor>& samples,
                                 const std::vector<ValueId>& values, int threads);

}  // namespace tilewright
