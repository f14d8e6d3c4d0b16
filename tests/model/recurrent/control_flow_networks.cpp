#include "model/recurrent/control_flow_networks.h"

#include <cmath>
#include <string>

#include "support/frontend/model_builder_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {

using namespace onnx_testing;

std::vector<std::byte> loop_file(int64_t iterations) {
  ModelText body, model;
  body.input("i", "", 7).input("go", "", 9).input("a", "2");
  body.node("number", "Cast", {"i"}, {"f"}, int_attribute("to", 1)).node("add", "Add", {"a", "x"}, {"b"});
  body.node("more", "Add", {"b", "f"}, {"c"}).node("copy", "Identity", {"c"}, {"seen"});
  body.output("go", "", 9).output("c").output("seen");
  model.input("x", "2").output("all");
  model.initializer(tensor("count", 7, {}, raw(std::vector<int64_t>{iterations})));
  model.initializer(floats("zero", {2}, {0, 0}));
  model.node("loop", "Loop", {"count", "", "zero"}, {"last", "all"}, graph_attribute("body", body.graph()));
  return model.build();
}

std::vector<std::byte> sequence_file() {
  ModelText model;
  model.input("x", "2x5").output("y");
  model.initializer(tensor("two", 7, {}, raw(std::vector<int64_t>{2})));
  model.initializer(tensor("zero", 7, {}, raw(std::vector<int64_t>{0})));
  model.node("split", "SplitToSequence", {"x", "two"}, {"parts"}, int_attribute("axis", 1));
  model.node("less", "SequenceErase", {"parts", "zero"}, {"fewer"});
  model.node("more", "SequenceInsert", {"fewer", "x"}, {"other"});
  model.node("join", "ConcatFromSequence", {"other"}, {"y"}, int_attribute("axis", 1));
  return model.build();
}

std::vector<std::byte> microsoft_file() {
  ModelText model;
  const auto scalar = [&](const std::string& name, float scale, int zero) {
    model.initializer(floats(name + "s", {}, {scale}));
    model.initializer(tensor(name + "z", 2, {}, std::string(1, char(zero))));
  };
  scalar("a", 0.1f, 10);
  scalar("b", 0.2f, 120);
  scalar("y", 0.25f, 100);
  scalar("p", 1.0f / 256, 0);
  model.input("a", "1x2x2x2", 2).input("b", "1x2x2x2", 2);
  for (const char* output : {"sum", "product", "sigmoid", "leaky", "both", "mean"})
    model.output(output, "", 2);
  const std::string domain = "com.microsoft";
  const std::vector<std::string> pair = {"a", "as", "az", "b", "bs", "bz", "ys", "yz"};
  model.node("n1", "QLinearAdd", pair, {"sum"}, "", domain)
      .node("n2", "QLinearMul", pair, {"product"}, "", domain);
  model.node("n3", "QLinearSigmoid", {"a", "as", "az", "ps", "pz"}, {"sigmoid"}, "", domain);
  model.node("n4", "QLinearLeakyRelu", {"b", "bs", "bz", "ys", "yz"}, {"leaky"},
             float_attribute("alpha", 0.1f), domain);
  model.node("n5", "QLinearConcat", {"ys", "yz", "a", "as", "az", "b", "bs", "bz"}, {"both"},
             int_attribute("axis", 1), domain);
  model.node("n6", "QLinearGlobalAveragePool", {"a", "as", "az", "ys", "yz"}, {"mean"},
             int_attribute("channels_last", 0), domain);
  return model.build();
}

namespace {

// Nodes of all trees in the lists of the operator.
struct Trees {
  std::vector<int64_t> tree, id, feature, yes, no, missing, leaf_tree, leaf_id, target;
  std::vector<float> threshold, weight;
  std::vector<std::string> mode;
};

// A node of tree `t` and what is below it; returns its number.
int64_t grow(Trees& trees, Random& random, const Forest& forest, int64_t t, int64_t& next, int depth) {
  const int64_t id = next++;
  const size_t at = trees.tree.size();
  const bool is_leaf = depth == 0 || random.chance(0.2);
  trees.tree.push_back(t);
  trees.id.push_back(id);
  trees.feature.push_back(random.between(0, 1));
  trees.threshold.push_back(float(2 * random.uniform() - 1));
  trees.mode.emplace_back(is_leaf ? "LEAF" : "BRANCH_LEQ");
  trees.missing.push_back(random.between(0, 1));
  trees.yes.push_back(0);
  trees.no.push_back(0);
  if (is_leaf) {
    const int64_t targets = forest.classes == 0 ? 2 : forest.classes == 2 ? 1 : forest.classes;
    for (int64_t k = 0; k < targets; ++k) {
      trees.leaf_tree.push_back(t);
      trees.leaf_id.push_back(id);
      trees.target.push_back(forest.classes == 2 ? 1 : k);
      trees.weight.push_back(float(2 * random.uniform() - 1));
    }
  } else {
    trees.yes[at] = grow(trees, random, forest, t, next, depth - 1);
    trees.no[at] = grow(trees, random, forest, t, next, depth - 1);
  }
  return id;
}

Trees grow_all(const Forest& forest) {
  Random random(forest.seed);
  Trees trees;
  for (int64_t t = 0; t < forest.trees; ++t) {
    int64_t next = 0;
    grow(trees, random, forest, t, next, 4);
  }
  return trees;
}

}  // namespace

std::vector<std::byte> forest_file(const Forest& forest) {
  const Trees trees = grow_all(forest);
  const std::string what = forest.classes == 0 ? "target" : "class";
  std::string attributes =
      ints_attribute("nodes_treeids", trees.tree) + ints_attribute("nodes_nodeids", trees.id) +
      ints_attribute("nodes_featureids", trees.feature) + ints_attribute("nodes_truenodeids", trees.yes) +
      ints_attribute("nodes_falsenodeids", trees.no) + floats_attribute("nodes_values", trees.threshold) +
      strings_attribute("nodes_modes", trees.mode) +
      ints_attribute("nodes_missing_value_tracks_true", trees.missing) +
      ints_attribute(what + "_treeids", trees.leaf_tree) + ints_attribute(what + "_nodeids", trees.leaf_id) +
      ints_attribute(what + "_ids", trees.target) + floats_attribute(what + "_weights", trees.weight) +
      string_attribute("post_transform", forest.transform);
  ModelText model;
  model.input("x", "3x2");
  if (forest.classes == 0) {
    model.output("y").node("trees", "TreeEnsembleRegressor", {"x"}, {"y"},
                           attributes + int_attribute("n_targets", 2), "ai.onnx.ml");
    return model.build();
  }
  std::vector<int64_t> labels;
  for (int64_t c = 1; c <= forest.classes; ++c) labels.push_back(10 * c);
  model.output("label", "", 7).output("scores");
  model.node("trees", "TreeEnsembleClassifier", {"x"}, {"label", "scores"},
             attributes + ints_attribute("classlabels_int64s", labels), "ai.onnx.ml");
  return model.build();
}

std::vector<std::vector<double>> forest_sums(const Forest& forest,
                                             const std::vector<std::vector<float>>& samples) {
  const Trees trees = grow_all(forest);
  std::vector<std::vector<double>> sums;
  for (const std::vector<float>& x : samples) {
    sums.emplace_back(size_t(forest.classes == 0 ? 2 : forest.classes), 0.0);
    for (int64_t t = 0; t < forest.trees; ++t) {
      const auto find = [&](int64_t id) {
        size_t i = 0;
        while (trees.tree[i] != t || trees.id[i] != id) ++i;
        return i;
      };
      size_t at = find(0);
      while (trees.mode[at] != "LEAF") {
        const float value = x[size_t(trees.feature[at])];
        const bool yes = std::isnan(value) ? trees.missing[at] != 0 : value <= trees.threshold[at];
        at = find(yes ? trees.yes[at] : trees.no[at]);
      }
      for (size_t w = 0; w < trees.weight.size(); ++w) {
        if (trees.leaf_tree[w] == t && trees.leaf_id[w] == trees.id[at])
          sums.back()[size_t(trees.target[w])] += double(trees.weight[w]);
      }
    }
  }
  return sums;
}

}  // namespace tilewright
