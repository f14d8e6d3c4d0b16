// All trees are walked side by side: for every sample and tree, the number of a node, which one step replaces
// by that of a child; leaves are their own children. There are as many steps as the deepest tree has levels.
// Definition: the ONNX operator reference (ai.onnx.ml, versions 1 and 3); what a classifier of two classes
// with one weight per leaf means: ONNX Runtime.
#include "tilewright/frontend/onnx/opset/tree_converters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/steps.h"

namespace tilewright {
namespace {

constexpr size_t kMostTreeLevels = 512;

// The nodes of all trees, numbered from 0; a leaf has itself as both children.
struct Forest {
  std::vector<int64_t> roots, features, yes, no, missing_is_yes;
  std::vector<float> thresholds;
  std::string mode;  // of all nodes that branch; empty if there is none
  int64_t levels = 0;
};

class TreeEnsemble {
 public:
  TreeEnsemble(Node& node, NodeConversion& conversion)
      : node_(node), conversion_(conversion), s_(conversion) {}

  void convert() {
    is_classifier_ = node_.op == "TreeEnsembleClassifier";
    const Shape shape = s_.shape(node_.input(0));
    if (shape.rank() != 2)
      return conversion_.invalid(fmt::format("has samples of {}, not [samples, features]", to_string(shape)));
    features_ = shape[1];
    if (!read_forest() || !read_weights()) return;
    const ValueId scores = evaluated();
    if (conversion_.failed()) return;
    is_classifier_ ? define_classes(scores) : conversion_.define(node_.outputs[0], transformed(scores));
    if (!conversion_.failed()) node_.outputs.clear();
  }

 private:
  bool fail(const std::string& message) {
    conversion_.invalid(message);
    return false;
  }
  bool refuse(const std::string& message, const std::string& hint) {
    conversion_.unsupported(message, hint);
    return false;
  }
  std::vector<std::string> names(const char* attribute) const {
    const auto found = node_.attributes.find(attribute);
    const auto* list =
        found == node_.attributes.end() ? nullptr : std::get_if<std::vector<std::string>>(&found->second);
    return list == nullptr ? std::vector<std::string>{} : *list;
  }

  bool read_forest() {
    const std::vector<int64_t> trees = node_.ints_or("nodes_treeids", {}),
                               ids = node_.ints_or("nodes_nodeids", {});
    const std::vector<int64_t> yes = node_.ints_or("nodes_truenodeids", {}),
                               no = node_.ints_or("nodes_falsenodeids", {});
    const std::vector<std::string> modes = names("nodes_modes");
    forest_.features = node_.ints_or("nodes_featureids", {});
    forest_.thresholds = node_.floats_or("nodes_values", {});
    const size_t count = trees.size();
    forest_.missing_is_yes = node_.ints_or("nodes_missing_value_tracks_true", std::vector<int64_t>(count, 0));
    if (node_.has("nodes_values_as_tensor"))
      return refuse("has its thresholds in double precision", "convert the model with single precision");
    if (count == 0 || ids.size() != count || yes.size() != count || no.size() != count ||
        modes.size() != count || forest_.features.size() != count || forest_.thresholds.size() != count ||
        forest_.missing_is_yes.size() != count) {
      return fail("its lists of nodes have different lengths, or none");
    }
    for (size_t i = 0; i < count; ++i) {
      if (!numbers_.emplace(std::pair(trees[i], ids[i]), int64_t(i)).second)
        return fail(fmt::format("has node {} of tree {} twice", ids[i], trees[i]));
    }
    forest_.yes.resize(count);
    forest_.no.resize(count);
    for (size_t i = 0; i < count; ++i) {
      forest_.yes[i] = forest_.no[i] = int64_t(i);
      if (modes[i] == "LEAF") {
        forest_.features[i] = 0;
        continue;
      }
      const auto first = numbers_.find({trees[i], yes[i]}), second = numbers_.find({trees[i], no[i]});
      if (first == numbers_.end() || second == numbers_.end())
        return fail(fmt::format("node {} of tree {} has a child that does not exist", ids[i], trees[i]));
      if (forest_.features[i] < 0 || forest_.features[i] >= features_)
        return fail(fmt::format("node {} of tree {} reads feature {} of {}", ids[i], trees[i],
                                forest_.features[i], features_));
      forest_.yes[i] = first->second;
      forest_.no[i] = second->second;
      if (!forest_.mode.empty() && forest_.mode != modes[i])
        return refuse(fmt::format("mixes {} and {}", forest_.mode, modes[i]),
                      "convert the model so that all nodes compare in one way");
      forest_.mode = modes[i];
    }
    return find_roots(trees);
  }

  // The node of each tree that is no child; and the levels, by walking down from all roots together.
  bool find_roots(const std::vector<int64_t>& trees) {
    const auto count = int64_t(trees.size());
    std::vector<int> parents(trees.size(), 0);
    for (int64_t i = 0; i < count; ++i) {
      for (const int64_t child : {forest_.yes[size_t(i)], forest_.no[size_t(i)]})
        parents[size_t(child)] += child != i;
    }
    std::set<int64_t> rooted;
    for (int64_t i = 0; i < count; ++i) {
      if (parents[size_t(i)] > 1) return fail("has a node with two parents");
      if (parents[size_t(i)] != 0) continue;
      if (!rooted.insert(trees[size_t(i)]).second)
        return fail(fmt::format("tree {} has two roots", trees[size_t(i)]));
      forest_.roots.push_back(i);
    }
    if (rooted != std::set<int64_t>(trees.begin(), trees.end())) return fail("has a tree without a root");
    std::vector<int64_t> level = forest_.roots;
    for (;;) {
      std::vector<int64_t> next;
      for (const int64_t i : level) {
        if (forest_.yes[size_t(i)] != i)
          next.insert(next.end(), {forest_.yes[size_t(i)], forest_.no[size_t(i)]});
      }
      if (next.empty()) return true;
      if (size_t(++forest_.levels) > kMostTreeLevels)
        return refuse(fmt::format("has a tree of more than {} levels", kMostTreeLevels),
                      "convert a model of shallower trees");
      level = std::move(next);
    }
  }

  // What each leaf gives to each class or target.
  bool read_weights() {
    const std::string what = is_classifier_ ? "class" : "target";
    const std::vector<int64_t> trees = node_.ints_or(what + "_treeids", {}),
                               ids = node_.ints_or(what + "_nodeids", {});
    const std::vector<int64_t> targets = node_.ints_or(what + "_ids", {});
    const std::vector<float> weights = node_.floats_or(what + "_weights", {});
    if (trees.empty() || ids.size() != trees.size() || targets.size() != trees.size() ||
        weights.size() != trees.size()) {
      return fail("its lists of weights have different lengths, or none");
    }
    labels_ = node_.ints_or("classlabels_int64s", {});
    const size_t texts = names("classlabels_strings").size();
    classes_ = is_classifier_ ? int64_t(std::max(labels_.size(), texts)) : node_.int_or("n_targets", 1);
    constexpr int64_t kMostClasses = 1 << 16;
    if (classes_ < 1 || classes_ > kMostClasses)
      return fail(fmt::format("has {} {}", classes_, is_classifier_ ? "labels" : "targets"));
    const std::set<int64_t> used(targets.begin(), targets.end());
    is_binary_ = is_classifier_ && classes_ == 2 && used.size() == 1;
    all_positive_ = std::ranges::all_of(weights, [](float w) { return w >= 0; });
    const int64_t columns = is_binary_ ? 1 : classes_;
    if (columns * int64_t(forest_.features.size()) > (int64_t{1} << 28))
      return refuse("has more than 2^28 weights", "convert a smaller model");
    Tensor table(ElementType::kF32, {int64_t(forest_.features.size()), columns});
    for (size_t i = 0; i < trees.size(); ++i) {
      const auto leaf = numbers_.find({trees[i], ids[i]});
      if (leaf == numbers_.end() || targets[i] < 0 || targets[i] >= classes_)
        return fail(
            fmt::format("has a weight for node {} of tree {} and {} {}", ids[i], trees[i], what, targets[i]));
      const int64_t at = leaf->second * columns + (is_binary_ ? 0 : targets[i]);
      table.set_number(at, table.number_at(at) + double(weights[i]));
    }
    table_ = conversion_.constant("weights", std::move(table));
    return true;
  }

  ValueId list(const std::vector<int64_t>& values) { return s_.integers(values); }

  // Whether each sample goes to the first child at its node of each tree.
  ValueId compared(ValueId value, ValueId threshold) {
    const std::string& mode = forest_.mode;
    if (mode == "BRANCH_LEQ") return s_.op("LessOrEqual", {value, threshold});
    if (mode == "BRANCH_LT") return s_.op("Less", {value, threshold});
    if (mode == "BRANCH_GTE") return s_.op("GreaterOrEqual", {value, threshold});
    if (mode == "BRANCH_GT") return s_.op("Greater", {value, threshold});
    if (mode == "BRANCH_EQ") return s_.op("Equal", {value, threshold});
    if (mode == "BRANCH_NEQ") return s_.op("Not", {s_.op("Equal", {value, threshold})});
    conversion_.invalid(fmt::format("compares by '{}'", mode));
    return kNoValue;
  }

  // [samples, classes], before what is done to the scores.
  ValueId evaluated() {
    const ValueId x = s_.cast(node_.input(0), ElementType::kF32);
    const int64_t samples = s_.shape(x)[0], trees = std::ssize(forest_.roots);
    const ValueId features = list(forest_.features), yes = list(forest_.yes), no = list(forest_.no);
    const ValueId thresholds = conversion_.constant(
        "thresholds",
        Tensor(Shape{std::ssize(forest_.thresholds)}, std::span<const float>(forest_.thresholds)));
    const bool tracks = std::ranges::any_of(forest_.missing_is_yes, [](int64_t flag) { return flag != 0; });
    const ValueId missing = tracks ? s_.cast(list(forest_.missing_is_yes), ElementType::kBool) : kNoValue;
    ValueId at = s_.op("Expand", {list(forest_.roots), list({samples, trees})});
    const auto of_node = [&](ValueId values) { return s_.op("Gather", {values, at}); };
    for (int64_t level = 0; level < forest_.levels && !conversion_.failed(); ++level) {
      const ValueId value = s_.op("GatherElements", {x, of_node(features)}, {{"axis", int64_t{1}}});
      ValueId taken = compared(value, of_node(thresholds));
      if (tracks) {
        const ValueId is_number = s_.op("Equal", {value, value});
        taken = s_.op("Where", {is_number, taken, of_node(missing)});
      }
      at = s_.op("Where", {taken, of_node(yes), of_node(no)});
    }
    ValueId scores = aggregated(of_node(table_), trees);
    const std::vector<float> base = node_.floats_or("base_values", {});
    const int64_t columns = is_binary_ ? 1 : classes_;
    if (base.empty()) return scores;
    if (std::ssize(base) != columns) {
      refuse(fmt::format("has {} base values for {} scores", base.size(), columns),
             "convert the model with one base value per score");
      return kNoValue;
    }
    return s_.op(
        "Add", {scores, conversion_.constant("base", Tensor(Shape{columns}, std::span<const float>(base)))});
  }

  // Over the trees, axis 1.
  ValueId aggregated(ValueId by_tree, int64_t trees) {
    const std::string how = node_.string_or("aggregate_function", "SUM");
    if (how == "SUM") return s_.sum(by_tree, {1}, false);
    if (how == "AVERAGE")
      return s_.op("Div", {s_.sum(by_tree, {1}, false), s_.number(ElementType::kF32, double(trees))});
    const Attributes over = {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}};
    if (how == "MIN") return s_.op("ReduceMin", {by_tree}, over);
    if (how == "MAX") return s_.op("ReduceMax", {by_tree}, over);
    conversion_.invalid(fmt::format("aggregates by '{}'", how));
    return kNoValue;
  }

  ValueId transformed(ValueId scores) {
    const std::string how = node_.string_or("post_transform", "NONE");
    if (how == "NONE") return scores;
    if (how == "LOGISTIC") return s_.op("Sigmoid", {scores});
    if (how == "SOFTMAX") return s_.op("Softmax", {scores}, {{"axis", int64_t{1}}});
    conversion_.unsupported(fmt::format("transforms its scores by '{}'", how),
                            "NONE, LOGISTIC and SOFTMAX are supported");
    return kNoValue;
  }

  void define_classes(ValueId scores) {
    const bool wants_scores = node_.outputs.size() > 1 && node_.outputs[1] != kNoValue;
    ValueId index = kNoValue, both = kNoValue;
    if (is_binary_) {
      const ValueId opposite =
          all_positive_ ? s_.op("Sub", {s_.number(ElementType::kF32, 1), scores}) : s_.op("Neg", {scores});
      both = s_.concat({opposite, scores}, 1);
      if (!all_positive_) both = transformed(both);
      const ValueId above = s_.op("Greater", {scores, s_.number(ElementType::kF32, all_positive_ ? 0.5 : 0)});
      index = s_.reshape(s_.cast(above, ElementType::kI64), {s_.shape(scores)[0]});
    } else {
      both = transformed(scores);
      index = s_.op("ArgMax", {scores}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
    }
    if (node_.outputs[0] != kNoValue) {
      if (labels_.empty()) {
        conversion_.unsupported(
            "gives its classes as text",
            "end the network with its scores (--output-node), or convert the model with numbers as classes");
        return;
      }
      conversion_.define(node_.outputs[0], s_.op("Gather", {list(labels_), index}));
    }
    if (wants_scores) conversion_.define(node_.outputs[1], both);
  }

  Node& node_;
  NodeConversion& conversion_;
  Steps s_;
  bool is_classifier_ = false, is_binary_ = false, all_positive_ = true;
  int64_t features_ = 0, classes_ = 0;
  std::vector<int64_t> labels_;
  std::map<std::pair<int64_t, int64_t>, int64_t> numbers_;  // tree and node in the file: number in the forest
  Forest forest_;
  ValueId table_ = kNoValue;
};

}  // namespace

bool is_tree_ensemble(const std::string& domain, const std::string& op) {
  return domain == "ai.onnx.ml" && (op == "TreeEnsembleClassifier" || op == "TreeEnsembleRegressor");
}

void convert_tree_ensemble(Node& node, NodeConversion& conversion) {
  if (!node.has_input(0)) return conversion.invalid("has no input");
  try {
    TreeEnsemble(node, conversion).convert();
  } catch (const Error& error) {  // attributes of the wrong type
    conversion.error(error.kind(),
                     error.diagnostics().empty() ? error.what() : error.diagnostics()[0].message);
  }
}

}  // namespace tilewright
