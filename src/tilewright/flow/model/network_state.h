// What a network hands from one call to the next: outputs that are the inputs of the following call, as the
// hidden state of a recurrent cell.
#pragma once

#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// The value of `output` is what `input` takes at the next call; at the first one it is zeros.
struct StatePair {
  std::string input, output;
  bool operator==(const StatePair&) const = default;
};

// The pairs that are named, and every input NAME for which there is an output NAME.next (readers of formats
// with states of their own name them so). Errors (invalid input), all of them: a name that is no input or no
// output, an input named twice, a type or shape that differs.
std::vector<StatePair> find_states(const Graph& graph, const std::vector<StatePair>& named);

// The same network without the inputs that are states: what a caller gives at each call. Not to be executed.
Graph without_states(Graph graph, const std::vector<StatePair>& states);

// The states between the calls of a network.
class StateValues {
 public:
  // Of a graph in which find_states found them; zeros.
  StateValues(const Graph& graph, std::vector<StatePair> states);

  const std::vector<StatePair>& pairs() const { return states_; }
  // In the order of the pairs.
  const std::vector<Tensor>& values() const { return values_; }
  // Errors (invalid input): another number, type or shape.
  void set(std::vector<Tensor> values);
  // All inputs of the graph for one call, from those of the caller (in the order of the graph).
  std::vector<Tensor> inputs(std::vector<Tensor> given) const;
  // Takes over what the call gave (all outputs of the graph).
  void advance(const std::vector<Tensor>& outputs);

 private:
  std::vector<StatePair> states_;
  std::vector<int> state_of_input_;   // by graph input: index of its pair, -1 for the caller's
  std::vector<size_t> output_index_;  // by pair
  std::vector<Tensor> values_;
};

// Samples for all inputs from those of the caller's, by running the network call after call: each sample is
// one call, and the state before it becomes its sample. Errors: those of SampleInputs and Executor.
std::vector<Tensor> samples_with_states(const Graph& graph, const std::vector<StatePair>& states,
                                        const std::vector<Tensor>& given, int threads);

}  // namespace tilewright
