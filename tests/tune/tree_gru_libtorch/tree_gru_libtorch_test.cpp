// The hand-written passes of the TreeGRU against the same network in libtorch: scores, and gradients by
// automatic differentiation.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/search/random_tree_testing.h"

namespace tilewright {
namespace {

constexpr int64_t kFeatures = 7, kGlobals = 4, kInputs = kFeatures + kGlobals;
constexpr int64_t kHidden = TreeGruWeights::kHidden, kGates = TreeGruWeights::kGates;

struct Network {
  torch::Tensor mean, scale, input, recurrent, bias, readout, skip;

  explicit Network(const TreeGruWeights& w) {
    const auto part = [](const std::vector<float>& values, size_t begin, std::vector<int64_t> shape) {
      int64_t count = 1;
      for (int64_t size : shape) count *= size;
      const std::vector<float> copy(values.begin() + std::ptrdiff_t(begin),
                                    values.begin() + std::ptrdiff_t(begin) + count);
      return torch::tensor(copy).reshape(shape);
    };
    mean = part(w.mean, 0, {kInputs});
    scale = part(w.scale, 0, {kInputs});
    input = part(w.parameters, 0, {kInputs, kGates}).requires_grad_();
    recurrent = part(w.parameters, w.recurrent(), {kHidden, kGates}).requires_grad_();
    bias = part(w.parameters, w.bias(), {kGates}).requires_grad_();
    readout = part(w.parameters, w.readout(), {kHidden}).requires_grad_();
    skip = part(w.parameters, w.skip(), {kGlobals}).requires_grad_();
  }

  std::vector<torch::Tensor> parameters() const { return {input, recurrent, bias, readout, skip}; }

  // What `values` is as an input, the first of which is number `first`.
  torch::Tensor scaled(const std::vector<float>& values, int64_t first) const {
    const int64_t last = first + int64_t(values.size());
    return (torch::tensor(values) - mean.slice(0, first, last)) * scale.slice(0, first, last);
  }
  torch::Tensor state(const ProgramFeatures& program, size_t node) const {
    torch::Tensor sum = torch::zeros({kHidden});
    for (int32_t child : program.tree.nodes[node].children) sum = sum + state(program, size_t(child));
    torch::Tensor x = scaled(program.tree.nodes[node].features, 0);
    x = torch::cat({x, node == 0 ? scaled(program.row, kFeatures) : torch::zeros({kGlobals})});
    const auto outer = (torch::matmul(x, input) + bias).chunk(3);
    const auto inner = torch::matmul(sum, recurrent).chunk(3);
    const auto update = torch::sigmoid(outer[0] + inner[0]), reset = torch::sigmoid(outer[1] + inner[1]);
    const auto fresh = torch::tanh(outer[2] + reset * inner[2]);
    return (1 - update) * fresh + update * sum;
  }
  torch::Tensor score(const ProgramFeatures& program) const {
    return torch::dot(state(program, 0), readout) + torch::dot(scaled(program.row, kFeatures), skip);
  }
  std::vector<float> gradient() const {
    std::vector<float> all;
    for (const torch::Tensor& parameter : parameters()) {
      const torch::Tensor flat = parameter.grad().contiguous().flatten();
      all.insert(all.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
    }
    return all;
  }
};

TEST(TreeGruLibtorch, SameScoresAndGradients) {
  Random random(1);
  torch::set_num_threads(1);
  TreeGru ours;
  for (size_t nodes = 1; nodes <= 20; ++nodes) {
    const TreeGruWeights weights = random_weights(kFeatures, kGlobals, random);
    const ProgramFeatures program = random_program(kFeatures, kGlobals, nodes, random);
    const Network theirs(weights);
    const torch::Tensor score = theirs.score(program);
    score.backward();
    EXPECT_NEAR(ours.score(weights, program), score.item<float>(), 1e-4);
    std::vector<float> gradient(weights.size(), 0);
    ours.add_gradient(weights, program, 1, gradient);
    const std::vector<float> expected = theirs.gradient();
    ASSERT_EQ(gradient.size(), expected.size());
    for (size_t i = 0; i < gradient.size(); ++i) {
      EXPECT_NEAR(gradient[i], expected[i], 1e-4 * std::max(1.0f, std::abs(expected[i]))) << i;
    }
  }
}

}  // namespace
}  // namespace tilewright
