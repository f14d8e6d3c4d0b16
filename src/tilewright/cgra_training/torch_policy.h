// The policy network of cgra/learn/policy_network.h in tensors with gradients, for minibatches of decisions.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "tilewright/cgra/learn/experience.h"

namespace tilewright::cgra {

// Static data of all graphs, padded to the largest: [graph, node, ...].
struct GraphTensors {
  torch::Tensor features, operands, consumers, mates, absent;  // absent: 1 where there is no node
  int64_t nodes = 0;                                           // of the largest graph
};
GraphTensors graph_tensors(const std::vector<PlacementInstance>& instances);

// Decisions as tensors.
struct DecisionTensors {
  torch::Tensor features, valid, state, graph_node, row, log_probability, advantage, returns;
};

struct PolicyHeads {
  torch::Tensor log_probabilities;  // [decision, row]
  torch::Tensor value;              // [decision]
};

class TorchPolicy {
 public:
  explicit TorchPolicy(const PolicyWeights& weights);
  std::vector<torch::Tensor>& parameters() { return tensors_; }
  PolicyWeights weights() const;
  PolicyHeads forward(const GraphTensors& graphs, const DecisionTensors& decisions) const;

 private:
  torch::Tensor encode(const GraphTensors& graphs) const;
  std::vector<torch::Tensor> tensors_;
};

}  // namespace tilewright::cgra
