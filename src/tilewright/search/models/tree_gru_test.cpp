#include "tilewright/search/models/tree_gru.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/search/models/random_tree_test_support.h"

namespace tilewright {
namespace {

constexpr int64_t kFeatures = 5;

TEST(TreeGru, IsTheFormulaOnOneNode) {
  Random random(1);
  const TreeGruWeights w = random_weights(kFeatures, random);
  LoopTree tree;
  tree.nodes.push_back({{1, -2, 0.5, 3, 0}, {}});
  double expected = 0;
  const auto x = [&](size_t f) { return (tree.nodes[0].features[f] - w.mean[f]) * w.scale[f]; };
  for (size_t k = 0; k < size_t(TreeGruWeights::kHidden); ++k) {
    double gates[3];
    for (size_t g = 0; g < 3; ++g) {
      const size_t column = g * size_t(TreeGruWeights::kHidden) + k;
      gates[g] = w.parameters[w.bias() + column];
      for (size_t f = 0; f < size_t(kFeatures); ++f) {
        gates[g] += w.parameters[f * size_t(TreeGruWeights::kGates) + column] * x(f);
      }
    }
    const double z = 1 / (1 + std::exp(-gates[0]));
    expected += w.parameters[w.readout() + k] * (1 - z) * std::tanh(gates[2]);
  }
  for (size_t f = 0; f < size_t(kFeatures); ++f) expected += w.parameters[w.skip() + f] * x(f);
  EXPECT_NEAR(TreeGru().score(w, tree), expected, 1e-5);
}

TEST(TreeGru, SumsChildrenInAnyOrder) {
  Random random(2);
  const TreeGruWeights w = random_weights(kFeatures, random);
  LoopTree tree = random_tree(kFeatures, 4, random);
  for (auto& node : tree.nodes) node.children.clear();
  tree.nodes[0].children = {1, 2, 3};
  const double score = TreeGru().score(w, tree);
  std::swap(tree.nodes[1].features, tree.nodes[3].features);
  EXPECT_NEAR(TreeGru().score(w, tree), score, 1e-5);
  std::swap(tree.nodes[0].features, tree.nodes[1].features);
  EXPECT_GT(std::abs(TreeGru().score(w, tree) - score), 1e-3);
}

// The gradient against differences of scores, along random directions.
TEST(TreeGru, GradientIsThatOfTheScore) {
  Random random(3);
  TreeGru network;
  for (int round = 0; round < 30; ++round) {
    const LoopTree tree = random_tree(kFeatures, 1 + size_t(round % 9), random);
    TreeGruWeights w = random_weights(kFeatures, random);
    std::vector<float> gradient(w.size(), 0);
    network.score(w, tree);
    network.add_gradient(w, tree, 0.5, gradient);
    network.add_gradient(w, tree, 0.5, gradient);  // adds up
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
      return network.score(w, tree);
    };
    const double measured = (moved(step) - moved(-step)) / (2 * step);
    EXPECT_NEAR(measured, expected, 2e-2 * std::max(1.0, std::abs(expected)));
  }
}

TEST(TreeGru, FilesGiveTheSameWeightsBack) {
  Random random(4);
  const TreeGruWeights w = random_weights(kFeatures, random);
  const auto path = std::filesystem::path(testing::TempDir()) / "tree_gru_weights.json";
  w.save(path);
  const TreeGruWeights back = TreeGruWeights::load(path);
  EXPECT_EQ(back.features, w.features);
  EXPECT_EQ(back.mean, w.mean);
  EXPECT_EQ(back.scale, w.scale);
  EXPECT_EQ(back.parameters, w.parameters);
  const std::string text = read_text_file(path);
  for (const std::string& bad :
       {std::string("{}"), text.substr(0, text.size() / 2), "[" + text + "]",
        std::string(R"({"features": 5, "hidden": 32, "mean": [1], "scale": [], "parameters": ["a"]})")}) {
    write_text_file(path, bad);
    EXPECT_THROW(TreeGruWeights::load(path), Error);
  }
  std::filesystem::remove(path);
}

TEST(TreeGru, RefusesWhatIsNoTree) {
  Random random(5);
  const LoopTree good = random_tree(kFeatures, 5, random);
  verify(good, kFeatures);
  EXPECT_THROW(verify(LoopTree{}, kFeatures), Error);
  EXPECT_THROW(verify(good, kFeatures + 1), Error);
  for (int32_t child : {0, 4, 5, -1}) {  // before its parent, itself, missing, missing
    LoopTree bad = good;
    bad.nodes[4].children.push_back(child);
    EXPECT_THROW(verify(bad, kFeatures), Error);
  }
  LoopTree shared = good;
  shared.nodes[0].children = {1, 1};
  EXPECT_THROW(verify(shared, kFeatures), Error);
}

}  // namespace
}  // namespace tilewright
