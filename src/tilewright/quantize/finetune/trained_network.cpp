// The loss reads what a Softmax at the end reads. Nodes that the scores do not depend on have no step.
#include "tilewright/quantize/finetune/trained_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tilewright {
namespace {

std::vector<bool> nodes_before(const Graph& graph, ValueId scores) {
  std::vector<bool> needed(graph.nodes.size());
  std::vector<bool> wanted(graph.values.size());
  wanted[size_t(scores)] = true;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    needed[n] = std::any_of(node.outputs.begin(), node.outputs.end(),
                            [&](ValueId v) { return v != kNoValue && wanted[size_t(v)]; });
    if (!needed[n]) continue;
    for (const ValueId v : node.inputs) {
      if (v != kNoValue) wanted[size_t(v)] = true;
    }
  }
  return needed;
}

}  // namespace

TrainedNetwork::TrainedNetwork(const Graph& graph, const std::vector<NodeId>& layers,
                               const std::vector<bool>& biased, const std::vector<RoundedValue>& rounded) {
  const ValueId scores = scores_of(graph);
  if (problem_.empty()) add_nodes(graph, layers, biased, rounded, scores);
}

ValueId TrainedNetwork::scores_of(const Graph& graph) {
  if (graph.inputs.size() != 1 || graph.value(graph.inputs[0]).type != ElementType::kF32) {
    problem_ = "the network has not one input of real numbers";
    return kNoValue;
  }
  if (graph.outputs.size() != 1) {
    problem_ = fmt::format("the network has {} outputs", graph.outputs.size());
    return kNoValue;
  }
  ValueId scores = graph.outputs[0];
  const NodeId producer = graph.producers()[size_t(scores)];
  if (producer != kNoNode && graph.nodes[size_t(producer)].is("Softmax"))
    scores = graph.nodes[size_t(producer)].input(0);
  const Shape& shape = graph.value(scores).shape;
  rows_ = shape.rank() < 2 ? 0 : shape[0];
  classes_ = shape.rank() < 2 ? 0 : shape[1];
  if (classes_ < 2 || shape.element_count() != rows_ * classes_)
    problem_ = "the network's output is no score of each class";
  return scores;
}

TrainingPlace TrainedNetwork::new_place(const Shape& shape) {
  sizes_.push_back(shape.element_count());
  return {sizes_.size() - 1, shape.element_count(), shape};
}

void TrainedNetwork::add_nodes(const Graph& graph, const std::vector<NodeId>& layers,
                               const std::vector<bool>& biased, const std::vector<RoundedValue>& rounded,
                               ValueId scores) {
  std::vector<TrainingPlace> places(graph.values.size());
  std::vector<bool> known(graph.values.size());
  const auto compute = [&](ValueId v, const TrainingPlace& place) {
    places[size_t(v)] = place;
    known[size_t(v)] = true;
    for (const RoundedValue& value : rounded) {
      if (value.value != v) continue;
      places[size_t(v)] = new_place(place.shape);
      steps_.push_back(
          rounding_step(place, places[size_t(v)], 2 * layers.size() + size_t(value.group), value.bounds));
    }
  };
  input_ = new_place(graph.value(graph.inputs[0]).shape);
  compute(graph.inputs[0], input_);
  const std::vector<bool> needed = nodes_before(graph, scores);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!needed[n]) continue;
    const Node& node = graph.nodes[n];
    StepOperands operands;
    for (const ValueId v : node.inputs) {
      if (v != kNoValue && known[size_t(v)]) operands.inputs.push_back(places[size_t(v)]);
    }
    const auto layer = std::find(layers.begin(), layers.end(), NodeId(n));
    if (layer != layers.end()) {
      const auto index = size_t(layer - layers.begin());
      operands.weights = int(2 * index);
      if (biased[index]) operands.bias = int(2 * index + 1);
    }
    operands.output = new_place(graph.value(node.outputs[0]).shape);
    // A bias that is not trained would be lost.
    const bool loses_bias = operands.weights >= 0 && operands.bias < 0 && node.has_input(2);
    std::unique_ptr<TrainingStep> step = loses_bias ? nullptr : training_step(graph, node, operands);
    if (step == nullptr) {
      problem_ = fmt::format("{} ({}) has no gradient here", where(node), node.op);
      return;
    }
    steps_.push_back(std::move(step));
    compute(node.outputs[0], operands.output);
  }
  scores_ = places[size_t(scores)];
}

int64_t TrainedNetwork::pass_size() const {
  return 2 * std::accumulate(sizes_.begin(), sizes_.end(), int64_t{0});
}

void TrainedNetwork::prepare(TrainingPass& pass, int64_t runs) const {
  pass.runs = runs;
  pass.values.resize(sizes_.size());
  pass.gradients.resize(sizes_.size());
  for (size_t i = 0; i < sizes_.size(); ++i) pass.values[i].resize(size_t(runs * sizes_[i]));
}

void TrainedNetwork::forwards(TrainingPass& pass) const {
  for (const auto& step : steps_) step->forwards(pass);
}

void TrainedNetwork::backwards(TrainingPass& pass, const Numbers& by_scores) const {
  for (size_t i = 0; i < sizes_.size(); ++i) pass.gradients[i].assign(pass.values[i].size(), 0.0f);
  pass.gradients[scores_.place] = by_scores;
  for (size_t i = steps_.size(); i-- > 0;) steps_[i]->backwards(pass);
}

}  // namespace tilewright
