// One minibatch at a time: all its scores, the gradient of the pair loss by sample, the reverse passes, a
// step of Adam.
#include "tilewright/search/models/tree_gru_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

struct Moments {
  double count = 0, sum = 0, squares = 0;
  void add(double value) {
    ++count;
    sum += value;
    squares += value * value;
  }
};

// So that inputs are of size 1. Those of nodes, many of which are 0, keep their zeros; those of the row are
// centred, and what does not differ in the first samples becomes 0.
void normalise(TreeGruWeights& weights, std::span<const CostSample> samples) {
  constexpr double kLeast = 1e-3;
  std::vector<Moments> moments(weights.inputs());
  const auto features = size_t(weights.features);
  for (const CostSample& sample : samples) {
    for (const LoopTree::Node& node : sample.features.tree.nodes) {
      for (size_t f = 0; f < features; ++f) moments[f].add(node.features[f]);
    }
    for (size_t g = 0; g < size_t(weights.globals); ++g) moments[features + g].add(sample.features.row[g]);
  }
  for (size_t i = 0; i < moments.size(); ++i) {
    const double mean = i < features ? 0 : moments[i].sum / moments[i].count;
    const double spread = std::sqrt(std::max(0.0, moments[i].squares / moments[i].count - mean * mean));
    weights.mean[i] = float(mean);
    weights.scale[i] = spread < kLeast ? 1 : float(1 / spread);
  }
}

}  // namespace

TreeGruModel::TreeGruModel(TreeGruOptions options) : options_(options), random_(options.seed) {
  if (options.fit_samples < 1 || options.transfer_samples < 1 || options.minibatch < 2 ||
      !(options.learning_rate > 0)) {
    throw Error(ErrorKind::kInvalidInput,
                "TreeGRU options must be positive, with at least two samples in a minibatch");
  }
}

void TreeGruModel::restart(std::optional<TreeGruWeights> weights) {
  weights_ = std::move(weights);
  random_ = Random(options_.seed);
  steps_ = 0;
  first_moment_.clear();
  second_moment_.clear();
}

void TreeGruModel::set_weights(TreeGruWeights weights) {
  if (weights.features < 1 || weights.globals < 0 || weights.parameters.size() != weights.size() ||
      weights.mean.size() != weights.inputs() || weights.scale.size() != weights.inputs()) {
    throw Error(ErrorKind::kInvalidInput, "TreeGRU weights are not of the sizes they state");
  }
  restart(std::move(weights));
}

void TreeGruModel::fit(std::span<const CostSample> samples) {
  train(samples, group_samples(samples), options_.fit_samples);
}

void TreeGruModel::transfer(std::span<const CostSample> earlier) {
  restart(std::nullopt);
  train(earlier, group_samples(earlier), options_.transfer_samples);
}

void TreeGruModel::train(std::span<const CostSample> samples, const SampleGroups& groups, int64_t passes) {
  if (groups.empty()) return;
  const ProgramFeatures& first = samples.front().features;
  const int64_t nodes = first.tree.nodes.empty() ? 0 : int64_t(first.tree.nodes[0].features.size());
  const int64_t features = weights_ ? weights_->features : nodes;
  const int64_t globals = weights_ ? weights_->globals : int64_t(first.row.size());
  for (const CostSample& sample : samples) verify(sample.features, features, globals);
  if (!weights_) {
    weights_ = TreeGruWeights::random(features, globals, random_);
    normalise(*weights_, samples);
  }
  std::vector<size_t> cumulative;  // samples up to and with each group
  for (const auto& group : groups)
    cumulative.push_back((cumulative.empty() ? 0 : cumulative.back()) + group.size());
  for (int64_t done = 0; done < passes;) {
    const size_t drawn = size_t(random_.next() % cumulative.back());
    const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), drawn) - cumulative.begin();
    std::vector<size_t> batch = groups[size_t(at)];
    const size_t size = std::min(batch.size(), size_t(options_.minibatch));
    for (size_t i = 0; i < size; ++i) {
      std::swap(batch[i], batch[i + size_t(random_.next() % (batch.size() - i))]);
    }
    step(samples, std::span(batch).first(size));
    done += int64_t(size);
  }
}

void TreeGruModel::step(std::span<const CostSample> samples, std::span<const size_t> batch) {
  tapes_.resize(std::max(tapes_.size(), batch.size()));
  std::vector<double> scores, pulls(batch.size(), 0.0);
  for (size_t i = 0; i < batch.size(); ++i) {
    scores.push_back(tapes_[i].score(*weights_, samples[batch[i]].features));
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    for (size_t j = 0; j < batch.size(); ++j) {
      if (!(samples[batch[i]].cost < samples[batch[j]].cost)) continue;
      // The loss log(1 + exp(score_i - score_j)): the cheaper program should have the lower score.
      const double pull = 1 / (1 + std::exp(scores[j] - scores[i]));
      pulls[i] += pull;
      pulls[j] -= pull;
    }
  }
  gradient_.assign(weights_->size(), 0);
  const double per_sample = 1 / double(batch.size() * batch.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    tapes_[i].add_gradient(*weights_, samples[batch[i]].features, pulls[i] * per_sample, gradient_);
  }
  adam();
}

void TreeGruModel::adam() {
  constexpr float kFirst = 0.9f, kSecond = 0.99f, kSmall = 1e-8f;
  first_moment_.resize(gradient_.size(), 0);
  second_moment_.resize(gradient_.size(), 0);
  ++steps_;
  const double first_left = 1 - std::pow(double(kFirst), double(steps_));
  const double second_left = 1 - std::pow(double(kSecond), double(steps_));
  const auto rate = float(options_.learning_rate / first_left);
  const auto second_scale = float(1 / second_left);
  for (size_t i = 0; i < gradient_.size(); ++i) {
    const float g = gradient_[i];
    first_moment_[i] = kFirst * first_moment_[i] + (1 - kFirst) * g;
    second_moment_[i] = kSecond * second_moment_[i] + (1 - kSecond) * g * g;
    weights_->parameters[i] -=
        rate * first_moment_[i] / (std::sqrt(second_moment_[i] * second_scale) + kSmall);
  }
}

std::vector<CostPrediction> TreeGruModel::predict(std::span<const ProgramFeatures* const> programs) const {
  std::vector<CostPrediction> all(programs.size());
  if (!weights_) return all;
  TreeGru network;
  for (size_t i = 0; i < programs.size(); ++i) {
    const LoopTree& tree = programs[i]->tree;
    TILEWRIGHT_CHECK(!tree.nodes.empty() && int64_t(tree.nodes[0].features.size()) == weights_->features &&
                         int64_t(programs[i]->row.size()) == weights_->globals,
                     "a program of another kind than those learned from");
    all[i].score = network.score(*weights_, *programs[i]);
  }
  return all;
}

}  // namespace tilewright
