// The blocks of a transformer as nodes of a graph, for a batch of one, from the weights of its training.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "form.h"
#include "tilewright/graph/graph.h"

namespace transformer {

// Training divides scores by the root of a head's size, a graph has it in the queries' weights.
Weights with_scaled_queries(const Form& form, Weights weights);

// How many numbers of a graph were learned: not masks, angles, and the constants of formulas and shapes.
int64_t learned_numbers(const tilewright::Graph& graph);

// Adds nodes one after the other; names of nodes are those of their results.
class GraphWriter {
 public:
  GraphWriter(const std::string& name, const Weights& weights) : weights_(weights) { graph.name = name; }

  tilewright::ValueId node(const std::string& name, const std::string& op,
                           const std::vector<tilewright::ValueId>& inputs, const tilewright::Shape& shape,
                           const tilewright::Attributes& attributes = {});
  tilewright::ValueId weight(const std::string& name);
  // The same value where the name has been given before.
  tilewright::ValueId number(const std::string& name, float value);
  tilewright::ValueId integers(const std::string& name, const std::vector<int64_t>& values);
  tilewright::ValueId reshape(const std::string& name, tilewright::ValueId value,
                              const tilewright::Shape& shape);
  // [1][tokens][in] times NAME.weight, plus NAME.bias if there is one.
  tilewright::ValueId dense(const std::string& name, tilewright::ValueId rows);
  // [1][tokens][width] through all blocks and the last normalisation.
  tilewright::ValueId trunk(const Form& form, tilewright::ValueId rows);

  tilewright::Graph graph;

 private:
  tilewright::ValueId constant(const std::string& name, const std::function<tilewright::Tensor()>& make);
  tilewright::ValueId norm(const Form& form, const std::string& name, tilewright::ValueId rows);
  tilewright::ValueId heads(const Form& form, const std::string& name, tilewright::ValueId rows, bool turned);
  tilewright::ValueId turn(const Form& form, const std::string& name, tilewright::ValueId by_head);
  tilewright::ValueId attention(const Form& form, const std::string& name, tilewright::ValueId rows);
  tilewright::ValueId gelu(const std::string& name, tilewright::ValueId rows);
  tilewright::ValueId gated_silu(const std::string& name, tilewright::ValueId rows);

  const Weights& weights_;
  std::map<std::string, tilewright::ValueId> shared_;  // constants of all blocks
};

}  // namespace transformer
