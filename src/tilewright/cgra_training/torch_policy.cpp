// Neighbours are means: products with row-normalised adjacency matrices, one per graph.
#include "tilewright/cgra_training/torch_policy.h"

#include <algorithm>
#include <cmath>

namespace tilewright::cgra {
namespace {

void fill_means(const std::vector<std::vector<int>>& lists, torch::Tensor matrix) {
  auto access = matrix.accessor<float, 2>();
  for (size_t node = 0; node < lists.size(); ++node) {
    for (const int other : lists[node]) access[int64_t(node)][other] += 1.0f / float(lists[node].size());
  }
}

}  // namespace

GraphTensors graph_tensors(const std::vector<PlacementInstance>& instances) {
  GraphTensors made;
  const int64_t graphs = int64_t(instances.size());
  for (const PlacementInstance& instance : instances)
    made.nodes = std::max<int64_t>(made.nodes, instance.nodes());
  made.features = torch::zeros({graphs, made.nodes, kNodeFeatures});
  made.operands = torch::zeros({graphs, made.nodes, made.nodes});
  made.consumers = torch::zeros_like(made.operands);
  made.mates = torch::zeros_like(made.operands);
  made.absent = torch::ones({graphs, 1, made.nodes}, torch::kBool);
  for (int64_t g = 0; g < graphs; ++g) {
    const PlacementInstance& instance = instances[size_t(g)];
    std::vector<float> features = node_features(instance);
    const int64_t nodes = instance.nodes();
    made.features[g].narrow(0, 0, nodes).copy_(torch::from_blob(features.data(), {nodes, kNodeFeatures}));
    made.absent[g].narrow(1, 0, nodes).fill_(false);
    const NodeNeighbours near = node_neighbours(instance);
    fill_means(near.operands, made.operands[g]);
    fill_means(near.consumers, made.consumers[g]);
    fill_means(near.mates, made.mates[g]);
  }
  return made;
}

TorchPolicy::TorchPolicy(const PolicyWeights& weights) {
  for (int tensor = 0; tensor < kPolicyTensors; ++tensor) {
    const PolicyTensorShape& shape = policy_tensor_shape(tensor);
    std::vector<float> values = weights.tensors[size_t(tensor)];
    tensors_.push_back(
        torch::from_blob(values.data(), {shape.rows, shape.columns}).clone().requires_grad_(true));
  }
}

PolicyWeights TorchPolicy::weights() const {
  PolicyWeights made;
  for (const torch::Tensor& tensor : tensors_) {
    const torch::Tensor flat = tensor.detach().contiguous();
    made.tensors.emplace_back(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }
  return made;
}

torch::Tensor TorchPolicy::encode(const GraphTensors& graphs) const {
  const auto& t = tensors_;
  torch::Tensor h = torch::relu(graphs.features.matmul(t[kNodeIn]) + t[kNodeInBias]);
  for (const size_t first : {size_t(kSelf0), size_t(kSelf1)}) {
    h = h + torch::relu(h.matmul(t[first]) + graphs.operands.bmm(h.matmul(t[first + 1])) +
                        graphs.consumers.bmm(h.matmul(t[first + 2])) +
                        graphs.mates.bmm(h.matmul(t[first + 3])) + t[first + 4]);
  }
  const torch::Tensor scores =
      h.matmul(t[kQuery]).bmm(h.matmul(t[kKey]).transpose(1, 2)) / std::sqrt(double(kEmbedding));
  const torch::Tensor share = torch::softmax(scores.masked_fill(graphs.absent, -1e9), -1);
  return h + share.bmm(h.matmul(t[kValue])).matmul(t[kAttended]);
}

PolicyHeads TorchPolicy::forward(const GraphTensors& graphs, const DecisionTensors& decisions) const {
  const auto& t = tensors_;
  const torch::Tensor h = encode(graphs).reshape({-1, kEmbedding}).index_select(0, decisions.graph_node);
  const torch::Tensor base = h.matmul(t[kContext]) + t[kContextBias] + decisions.state.matmul(t[kStateIn]);
  const torch::Tensor action = torch::relu(decisions.features.matmul(t[kAction]) + base.unsqueeze(1));
  const torch::Tensor weight = decisions.valid / decisions.valid.sum(1, true);
  const torch::Tensor pooled = weight.unsqueeze(1).bmm(action).squeeze(1);
  const torch::Tensor second =
      torch::relu(action.matmul(t[kSecond]) + (pooled.matmul(t[kPooled]) + t[kSecondBias]).unsqueeze(1));
  const torch::Tensor logits = (second.matmul(t[kLogit]) + decisions.features.matmul(t[kLinear])).squeeze(2);
  const torch::Tensor critic = torch::relu(pooled.matmul(t[kCriticPooled]) + h.matmul(t[kCriticNode]) +
                                           decisions.state.matmul(t[kCriticState]) + t[kCriticBias]);
  return {torch::log_softmax(logits.masked_fill(decisions.valid == 0, -1e9), 1),
          (critic.matmul(t[kCriticOut]) + t[kCriticOutBias]).squeeze(1)};
}

}  // namespace tilewright::cgra
