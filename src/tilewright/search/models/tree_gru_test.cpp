#include "tilewright/search/models/tree_gru.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/search/random_tree_testing.h"
#include "tilewright/base/error.h"

namespace tilewright {
namespace {

constexpr int64_t kFeatures = 5, kGlobals = 3;

TEST(TreeGru, IsTheFormulaOnOneNode) {
  Random random(1);
  const TreeGruWeights w = random_weights(kFeatures, kGlobals, random);
  ProgramFeatures program{{7, -1, 0.25}, {}};
  program.tree.nodes.push_back({{1, -2, 0.5, 3, 0}, {}});
  double expected = 0;
  const auto x = [&](size_t i) {
    const float value = i < 5 ? program.tree.nodes[0].features[i] : program.row[i - 5];
    return (value - w.mean[i]) * w.scale[i];
  };
  for (size_t k = 0; k < size_t(TreeGruWeights::kHidden); ++k) {
    double gates[3];
    for (size_t g = 0; g < 3; ++g) {
      const size_t column = g * size_t(TreeGruWeights::kHidden) + k;
      gates[g] = w.parameters[w.bias() + column];
      for (size_t f = 0; f < w.inputs(); ++f) {
        gates[g] += w.parameters[f * size_t(TreeGruWeights::kGates) + column] * x(f);
      }
    }
    const double z = 1 / (1 + std::exp(-gates[0]));
    expected += w.parameters[w.readout() + k] * (1 - z) * std::tanh(gates[2]);
  }
  for (size_t g = 0; g < size_t(kGlobals); ++g) expected += w.parameters[w.skip() + g] * x(5 + g);
  EXPECT_NEAR(TreeGru().score(w, program), expected, 1e-5);
}

TEST(TreeGru, SumsChildrenInAnyOrder) {
  Random random(2);
  const TreeGruWeights w = random_weights(kFeatures, kGlobals, random);
  ProgramFeatures program = random_program(kFeatures, kGlobals, 4, random);
  LoopTree& tree = program.tree;
  for (auto& node : tree.nodes) node.children.clear();
  tree.nodes[0].children = {1, 2, 3};
  const double score = TreeGru().score(w, program);
  std::swap(tree.nodes[1].features, tree.nodes[3].features);
  EXPECT_NEAR(TreeGru().score(w, program), score, 1e-5);
  std::swap(tree.nodes[0].features, tree.nodes[1].features);
  EXPECT_GT(std::abs(TreeGru().score(w, program) - score), 1e-3);
}

// The gradient against differences of scores, along random directions.
TEST(TreeGru, GradientIsThatOfTheScore) {
  Random random(3);
  TreeGru network;
  for (int round = 0; round < 30; ++round) {
    const auto program = random_program(kFeatures, kGlobals, 1 + size_t(round % 9), random);
    TreeGruWeights w = random_weights(kFeatures, kGlobals, random);
    std::vector<float> gradient(w.size(), 0);
    network.score(w, program);
    network.add_gradient(w, program, 0.5, gradient);
    network.add_gradient(w, program, 0.5, gradient);  // adds up
    std::vector<float> direction(w.size());
    double expected = 0;
    for (size_t i = 0; i < w.size(); ++i) {
      direction[i] = float(2 * random.uniform() - 1);
      expected += double(direction[i]) * gradient[i];
    }
    const double step = 1e-3;
    const std::vector<float> at = w.parameters;
    const auto moved = [&](double by) {
      for (size_t i = 0; i < w.size(); ++i) w.parameters[i] = float(at[i] + by * direction[i]);
      return network.score(w, program);
    };
    const double measured = (moved(step) - moved(-step)) / (2 * step);
    EXPECT_NEAR(measured, expected, 2e-2 * std::max(1.0, std::abs(expected)));
  }
}

TEST(TreeGru, RefusesWhatIsNoTree) {
  Random random(5);
  const ProgramFeatures good = random_program(kFeatures, kGlobals, 5, random);
  verify(good, kFeatures, kGlobals);
  EXPECT_THROW(verify(ProgramFeatures{good.row, {}}, kFeatures, kGlobals), Error);
  EXPECT_THROW(verify(good, kFeatures + 1, kGlobals), Error);
  EXPECT_THROW(verify(good, kFeatures, kGlobals + 1), Error);
  for (int32_t child : {0, 4, 5, -1}) {  // before its parent, itself, missing, missing
    ProgramFeatures bad = good;
    bad.tree.nodes[4].children.push_back(child);
    EXPECT_THROW(verify(bad, kFeatures, kGlobals), Error);
  }
  ProgramFeatures shared = good;
  shared.tree.nodes[0].children = {1, 1};
  EXPECT_THROW(verify(shared, kFeatures, kGlobals), Error);
}

}  // namespace
}  // namespace tilewright
