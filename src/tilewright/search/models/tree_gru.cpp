// The forward and the reverse pass by hand. The sizes are constants, so the compiler turns the inner loops,
// which run over all gates at once, into vector code.
#include "tilewright/search/models/tree_gru.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

constexpr int64_t kHidden = TreeGruWeights::kHidden, kGates = TreeGruWeights::kGates;
using Gates = std::array<float, size_t(kGates)>;

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// out += factor * row. Many inputs are 0: the kinds and axes that a node is not of.
void add_row(float* out, float factor, const float* row) {
  if (factor == 0) return;
  for (int64_t g = 0; g < kGates; ++g) out[g] += factor * row[g];
}

// The sum of a row times `factors`.
float dot_row(const float* row, const float* factors) {
  float sums[8] = {};
  for (int64_t g = 0; g < kGates; g += 8) {
    for (int64_t i = 0; i < 8; ++i) sums[i] += row[g + i] * factors[g + i];
  }
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

}  // namespace

TreeGruWeights TreeGruWeights::random(int64_t features, int64_t globals, Random& random) {
  TreeGruWeights weights;
  weights.features = features;
  weights.globals = globals;
  weights.mean.assign(weights.inputs(), 0);
  weights.scale.assign(weights.inputs(), 1);
  weights.parameters.assign(weights.size(), 0);
  const auto fill = [&](size_t begin, size_t end, int64_t inputs) {
    const double range = 1 / std::sqrt(double(inputs));
    for (size_t i = begin; i < end; ++i) weights.parameters[i] = float((2 * random.uniform() - 1) * range);
  };
  fill(0, size_t(features * kGates), features);
  // Smaller: a row has many numbers, and the gates of the root are to start near the middle.
  fill(size_t(features * kGates), weights.recurrent(), std::max<int64_t>(1, 4 * globals));
  fill(weights.recurrent(), weights.bias(), kHidden);
  fill(weights.readout(), weights.skip(), kHidden);
  return weights;
}

void verify(const ProgramFeatures& program, int64_t features, int64_t globals) {
  const LoopTree& tree = program.tree;
  std::vector<int> parents(tree.nodes.size(), 0);
  const auto require = [](bool good, const char* message) {
    if (!good) throw Error(ErrorKind::kInvalidInput, std::string("program features: ") + message);
  };
  require(int64_t(program.row.size()) == globals, "the row has another length");
  require(!tree.nodes.empty(), "the loop tree has no nodes");
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    require(int64_t(tree.nodes[i].features.size()) == features, "a node has another number of features");
    for (int32_t child : tree.nodes[i].children) {
      require(child > int32_t(i) && size_t(child) < tree.nodes.size(),
              "a child does not come after its parent");
      require(++parents[size_t(child)] == 1, "a node has two parents");
    }
  }
}

double TreeGru::score(const TreeGruWeights& weights, const ProgramFeatures& program) {
  const LoopTree& tree = program.tree;
  const size_t nodes = tree.nodes.size(), features = size_t(weights.features);
  const float* parameters = weights.parameters.data();
  const auto globals = size_t(weights.globals);
  input_.resize(nodes * features + globals);
  float* row = &input_[nodes * features];
  for (size_t g = 0; g < globals; ++g) {
    row[g] = (program.row[g] - weights.mean[features + g]) * weights.scale[features + g];
  }
  for (std::vector<float>* values : {&sum_, &update_, &reset_, &fresh_, &inner_, &state_}) {
    values->resize(nodes * size_t(kHidden));
  }
  for (size_t i = nodes; i-- > 0;) {
    const LoopTree::Node& node = tree.nodes[i];
    float* x = &input_[i * features];
    Gates outer, inner;
    std::copy_n(parameters + weights.bias(), kGates, outer.begin());
    inner.fill(0);
    for (size_t f = 0; f < features; ++f) {
      x[f] = (node.features[f] - weights.mean[f]) * weights.scale[f];
      add_row(outer.data(), x[f], parameters + f * size_t(kGates));
    }
    for (size_t g = 0; i == 0 && g < globals; ++g) {
      add_row(outer.data(), row[g], parameters + (features + g) * size_t(kGates));
    }
    const size_t at = i * size_t(kHidden);
    float* s = &sum_[at];
    std::fill_n(s, kHidden, 0.0f);
    for (int32_t child : node.children) {
      const float* h = &state_[size_t(child) * size_t(kHidden)];
      for (int64_t k = 0; k < kHidden; ++k) s[k] += h[k];
    }
    if (!node.children.empty()) {
      const float* recurrent = parameters + weights.recurrent();
      for (int64_t k = 0; k < kHidden; ++k) add_row(inner.data(), s[k], recurrent + k * kGates);
    }
    for (size_t k = 0; k < size_t(kHidden); ++k) {
      const size_t r = k + size_t(kHidden), n = r + size_t(kHidden);
      update_[at + k] = sigmoid(outer[k] + inner[k]);
      reset_[at + k] = sigmoid(outer[r] + inner[r]);
      inner_[at + k] = inner[n];
      fresh_[at + k] = std::tanh(outer[n] + reset_[at + k] * inner[n]);
      state_[at + k] = (1 - update_[at + k]) * fresh_[at + k] + update_[at + k] * s[k];
    }
  }
  double score = 0;
  for (size_t k = 0; k < size_t(kHidden); ++k) score += parameters[weights.readout() + k] * state_[k];
  for (size_t g = 0; g < globals; ++g) score += parameters[weights.skip() + g] * row[g];
  return score;
}

void TreeGru::add_gradient(const TreeGruWeights& weights, const ProgramFeatures& program,
                           double score_gradient, std::span<float> gradient) {
  const LoopTree& tree = program.tree;
  const size_t nodes = tree.nodes.size(), features = size_t(weights.features);
  const float* parameters = weights.parameters.data();
  const auto top = float(score_gradient);
  state_gradient_.assign(nodes * size_t(kHidden), 0);
  for (size_t k = 0; k < size_t(kHidden); ++k) {
    gradient[weights.readout() + k] += top * state_[k];
    state_gradient_[k] = top * parameters[weights.readout() + k];
  }
  const auto globals = size_t(weights.globals);
  const float* row = &input_[nodes * features];
  for (size_t g = 0; g < globals; ++g) gradient[weights.skip() + g] += top * row[g];
  for (size_t i = 0; i < nodes; ++i) {
    const LoopTree::Node& node = tree.nodes[i];
    const size_t at = i * size_t(kHidden);
    Gates outer, inner;  // gradients of the gates' sums: of what x gives, of what s gives
    std::array<float, size_t(kHidden)> sum_gradient;
    for (size_t k = 0; k < size_t(kHidden); ++k) {
      const float dh = state_gradient_[at + k], z = update_[at + k], r = reset_[at + k], n = fresh_[at + k];
      const size_t ri = k + size_t(kHidden), ni = ri + size_t(kHidden);
      outer[ni] = dh * (1 - z) * (1 - n * n);
      outer[k] = dh * (sum_[at + k] - n) * z * (1 - z);
      outer[ri] = outer[ni] * inner_[at + k] * r * (1 - r);
      inner[k] = outer[k];
      inner[ri] = outer[ri];
      inner[ni] = outer[ni] * r;
      sum_gradient[k] = dh * z;
    }
    for (size_t f = 0; f < features; ++f) {
      add_row(gradient.data() + f * size_t(kGates), input_[i * features + f], outer.data());
    }
    for (size_t g = 0; i == 0 && g < globals; ++g) {
      add_row(gradient.data() + (features + g) * size_t(kGates), row[g], outer.data());
    }
    add_row(gradient.data() + weights.bias(), 1, outer.data());
    if (node.children.empty()) continue;
    for (size_t k = 0; k < size_t(kHidden); ++k) {
      const size_t recurrent = weights.recurrent() + k * size_t(kGates);
      add_row(gradient.data() + recurrent, sum_[at + k], inner.data());
      sum_gradient[k] += dot_row(parameters + recurrent, inner.data());
    }
    for (int32_t child : node.children) {
      float* dh = &state_gradient_[size_t(child) * size_t(kHidden)];
      for (size_t k = 0; k < size_t(kHidden); ++k) dh[k] += sum_gradient[k];
    }
  }
}

}  // namespace tilewright
