// One walk in topological order. Every tensor is either its own, stands for an earlier one (forwarding), or
// is dead: on the branch of a Switch that is not taken. Predicates and dropout rates are evaluated as
// scalars.
//
// Dropout multiplies a scaled value with a mask, floor(keep + u) or (u >= 1 - keep) of a random u in [0, 1).
// The product is the value without its scale: what keep = 1 gives, and what training with another constant
// keep expects at inference.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tilewright/frontend/tensorflow/tf_inference.h"

namespace tilewright {
namespace {

constexpr TfRef kDead{-1, 0};
constexpr int kMostDepth = 200;

bool forwards_input(const TfNode& node) {
  static constexpr std::array<const char*, 10> kOps = {
      "Identity",       "StopGradient", "CheckNumerics", "PreventGradient", "Snapshot",
      "ReadVariableOp", "EnsureShape",  "IdentityN",     "RefIdentity",     "LoopCond"};
  return node.is_one_of(kOps);
}

bool is_random(const TfNode& node) {
  static constexpr std::array<const char*, 6> kOps = {
      "RandomUniform",          "RandomStandardNormal",     "TruncatedNormal",
      "StatelessRandomUniform", "StatelessRandomUniformV2", "RandomUniformInt"};
  return node.is_one_of(kOps);
}

bool keeps_randomness(const TfNode& node) {
  static constexpr std::array<const char*, 9> kOps = {"Add",  "AddV2", "Sub",          "Mul",    "Floor",
                                                      "Cast", "Less",  "GreaterEqual", "Greater"};
  return node.is_one_of(kOps);
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

bool names_training(const std::string& name) {
  return contains(name, "train") || contains(name, "Train") || contains(name, "learning_phase") ||
         contains(name, "phase");
}

bool may_be_scalar(const TfShape& shape) { return !shape.has_rank || shape.dims.empty(); }

class Folding {
 public:
  Folding(TfNetwork& network, Diagnostics& diagnostics) : network_(network), diagnostics_(diagnostics) {
    const size_t count = network.nodes.size();
    forward_.resize(count);
    dead_.resize(count, false);
    random_.resize(count, false);
    assumed_.resize(count);
  }

  void run() {
    for (size_t i = 0; i < network_.nodes.size(); ++i) fold(int(i));
    for (TfNetwork::Output& output : network_.outputs) {
      output.ref = resolved(output.ref);
      if (output.ref == kDead) {
        diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("output '{}'", output.name), "",
                           "is on a branch that inference does not take");
      }
    }
  }

 private:
  TfNode& node(int index) { return network_.nodes[size_t(index)]; }
  TfNode& node(TfRef ref) { return node(ref.node); }

  TfRef resolved(TfRef ref) const {
    if (ref.node < 0 || dead_[size_t(ref.node)]) return kDead;
    const auto& outputs = forward_[size_t(ref.node)];
    const auto found = outputs.find(ref.output);
    return found == outputs.end() ? ref : found->second;
  }

  void forward(int index, int output, TfRef to) { forward_[size_t(index)][output] = to; }

  void fold(int index) {
    TfNode& current = node(index);
    bool reads_dead = false;
    for (TfRef& input : current.inputs) {
      input = resolved(input);
      reads_dead |= input == kDead;
    }
    if (current.is("Merge") || current.is("RefMerge")) return fold_merge(index);
    if (reads_dead) {
      dead_[size_t(index)] = true;
      return;
    }
    mark_random(index);
    if (forwards_input(current)) {
      for (size_t i = 0; i < current.inputs.size(); ++i) forward(index, int(i), current.inputs[i]);
    } else if (current.is("Switch") || current.is("RefSwitch")) {
      fold_switch(index);
    } else if (current.is("Placeholder") || current.is("PlaceholderWithDefault")) {
      fold_placeholder(index);
    } else if (current.is("Mul") || current.is("SelectV2") || current.is("Select")) {
      fold_dropout(index);
    }
  }

  void mark_random(int index) {
    const TfNode& current = node(index);
    random_[size_t(index)] =
        is_random(current) ||
        (keeps_randomness(current) && std::any_of(current.inputs.begin(), current.inputs.end(),
                                                  [&](TfRef input) { return random_[size_t(input.node)]; }));
  }

  void fold_merge(int index) {
    const TfNode& current = node(index);
    std::vector<TfRef> live;
    for (const TfRef& input : current.inputs) {
      if (input != kDead) live.push_back(input);
    }
    if (live.empty()) {
      dead_[size_t(index)] = true;
    } else if (live.size() == 1) {
      forward(index, 0, live[0]);
    } else if (!unknown_predicate_) {
      diagnostics_.error(ErrorKind::kUnsupported, tf_label(current), current.op,
                         "joins several branches that may all be taken");
    }
  }

  void fold_switch(int index) {
    const TfNode& current = node(index);
    if (current.inputs.size() != 2) {
      diagnostics_.error(ErrorKind::kInvalidInput, tf_label(current), current.op, "needs two inputs");
      return;
    }
    const std::optional<double> predicate = scalar(current.inputs[1]);
    if (!predicate) {
      unknown_predicate_ = true;
      diagnostics_.error(ErrorKind::kUnsupported, tf_label(current), current.op,
                         fmt::format("depends on '{}', which is not known before the network runs",
                                     node(current.inputs[1]).name),
                         "export the model for inference");
      return;
    }
    const int taken = *predicate != 0 ? 1 : 0;
    forward(index, taken, current.inputs[0]);
    forward(index, 1 - taken, kDead);
  }

  void assume(int index, double value, const std::string& what) {
    assumed_[size_t(index)] = value;
    scalars_.clear();
    TfNode& current = node(index);
    diagnostics_.warn(tf_label(current), current.op, fmt::format("is read as {}", what));
    const auto type = element_type_of_tensorflow(current.type_or("dtype", 1)).value_or(ElementType::kF32);
    Tensor constant(type, Shape{});
    if (is_float(type)) {
      constant.set_number(0, value);
    } else {
      constant.set_integer(0, int64_t(value));
    }
    current.op = "Const";
    current.inputs.clear();
    current.value = std::move(constant);
  }

  void fold_placeholder(int index) {
    TfNode& current = node(index);
    const bool is_bool = element_type_of_tensorflow(current.type_or("dtype", 1)) == ElementType::kBool;
    const bool is_scalar = may_be_scalar(current.declared_shape());
    if (is_bool && is_scalar && names_training(current.name)) {
      return assume(index, 0, "false: the network is for inference");
    }
    if (!is_bool && is_scalar &&
        (contains(current.name, "keep_prob") || contains(current.name, "keep_rate"))) {
      return assume(index, 1, "1: nothing is dropped");
    }
    if (!current.is("PlaceholderWithDefault") || current.inputs.size() != 1) return;
    const TfNode& source = node(current.inputs[0]);
    const bool is_constant = source.value && source.value->shape().rank() == 0;
    if (is_constant && is_scalar) {
      forward(index, 0, current.inputs[0]);
    } else {
      current.op = "Placeholder";
      current.inputs.clear();
    }
  }

  // The value of a scalar, as far as constants and assumptions tell.
  std::optional<double> scalar(TfRef ref, int depth = 0) {
    if (ref.node < 0 || ref.output != 0 || depth > kMostDepth) return std::nullopt;
    const auto known = scalars_.find(ref.node);
    if (known != scalars_.end()) return known->second;
    const std::optional<double> result = computed_scalar(ref, depth);
    scalars_[ref.node] = result;
    return result;
  }

  std::optional<double> computed_scalar(TfRef ref, int depth) {
    const TfNode& current = node(ref);
    if (assumed_[size_t(ref.node)]) return assumed_[size_t(ref.node)];
    if (current.value) {
      return current.value->size() == 1 ? std::optional(current.value->number_at(0)) : std::nullopt;
    }
    if (current.inputs.empty() || current.inputs.size() > 2) return std::nullopt;
    const std::optional<double> a = scalar(current.inputs[0], depth + 1);
    if (!a) return std::nullopt;
    if (current.is("LogicalNot")) return *a == 0;
    if (current.is("Cast")) return a;
    if (current.inputs.size() != 2) return std::nullopt;
    const std::optional<double> b = scalar(current.inputs[1], depth + 1);
    if (!b) return std::nullopt;
    if (current.is("LogicalAnd")) return *a != 0 && *b != 0;
    if (current.is("LogicalOr")) return *a != 0 || *b != 0;
    if (current.is("Sub")) return *a - *b;
    if (current.is("Add") || current.is("AddV2")) return *a + *b;
    if (current.is("Mul")) return *a * *b;
    if (current.is("RealDiv") || current.is("Div")) return *a / *b;
    return std::nullopt;
  }

  // A scalar that decides what dropout keeps; a placeholder that only training feeds counts as `otherwise`.
  std::optional<double> rate(TfRef ref, double otherwise) {
    if (std::optional<double> known = scalar(ref)) return known;
    const TfNode& current = node(ref);
    if (!current.is("Placeholder") || !may_be_scalar(current.declared_shape())) return std::nullopt;
    assume(ref.node, otherwise, otherwise == 1 ? "1: nothing is dropped" : "0: nothing is dropped");
    return otherwise;
  }

  // The share that a dropout mask keeps, or nothing if `ref` is no such mask.
  std::optional<double> kept_by_mask(TfRef ref) {
    while (node(ref).is("Cast") && !node(ref).inputs.empty()) ref = node(ref).inputs[0];
    const TfNode& mask = node(ref);
    if (!random_[size_t(ref.node)]) return std::nullopt;
    if (mask.is("Floor") && mask.inputs.size() == 1) {
      const TfNode& sum = node(mask.inputs[0]);
      if ((!sum.is("Add") && !sum.is("AddV2")) || sum.inputs.size() != 2) return std::nullopt;
      const bool second_is_random = random_[size_t(sum.inputs[1].node)];
      return rate(sum.inputs[second_is_random ? 0 : 1], 1);
    }
    const bool is_comparison = mask.is("GreaterEqual") || mask.is("Greater") || mask.is("Less");
    if (!is_comparison || mask.inputs.size() != 2 || !random_[size_t(mask.inputs[0].node)]) {
      return std::nullopt;
    }
    if (mask.is("Less")) return rate(mask.inputs[1], 1);
    const std::optional<double> dropped = rate(mask.inputs[1], 0);
    return dropped ? std::optional(1 - *dropped) : std::nullopt;
  }

  // What was scaled by 1/keep, or `ref` itself.
  TfRef without_scale(TfRef ref, double keep) {
    const TfNode& scaled = node(ref);
    if (scaled.inputs.size() != 2) return ref;
    const auto is_about = [](double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(b); };
    if (scaled.is("RealDiv") || scaled.is("Div")) {
      const std::optional<double> divisor = scalar(scaled.inputs[1]);
      return divisor && is_about(*divisor, keep) ? scaled.inputs[0] : ref;
    }
    if (!scaled.is("Mul")) return ref;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const std::optional<double> factor = scalar(scaled.inputs[side]);
      if (factor && is_about(*factor * keep, 1)) return scaled.inputs[1 - side];
    }
    return ref;
  }

  void fold_dropout(int index) {
    const TfNode& current = node(index);
    if (current.is("Mul") && current.inputs.size() == 2) {
      for (const size_t side : {size_t{0}, size_t{1}}) {
        const std::optional<double> keep = kept_by_mask(current.inputs[side]);
        if (keep) return forward(index, 0, without_scale(current.inputs[1 - side], *keep));
      }
    } else if (current.inputs.size() == 3) {
      const std::optional<double> keep = kept_by_mask(current.inputs[0]);
      if (keep) forward(index, 0, without_scale(current.inputs[1], *keep));
    }
  }

  TfNetwork& network_;
  Diagnostics& diagnostics_;
  std::vector<std::map<int, TfRef>> forward_;     // by node, by output
  std::vector<bool> dead_, random_;               // by node
  std::vector<std::optional<double>> assumed_;    // by node: what stands for a placeholder
  std::map<int, std::optional<double>> scalars_;  // by node: found so far
  bool unknown_predicate_ = false;
};

}  // namespace

void fold_training(TfNetwork& network, Diagnostics& diagnostics) { Folding(network, diagnostics).run(); }

void prune(TfNetwork& network) {
  std::vector<bool> needed(network.nodes.size(), false);
  for (const TfNetwork::Output& output : network.outputs) {
    if (output.ref.node >= 0) needed[size_t(output.ref.node)] = true;
  }
  for (size_t i = network.nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const TfRef& input : network.nodes[i].inputs) {
      if (input.node >= 0) needed[size_t(input.node)] = true;
    }
  }
  std::vector<int> place(network.nodes.size(), -1);
  std::vector<TfNode> kept;
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    if (!needed[i]) continue;
    place[i] = int(kept.size());
    kept.push_back(std::move(network.nodes[i]));
    for (TfRef& input : kept.back().inputs) input.node = input.node < 0 ? -1 : place[size_t(input.node)];
  }
  network.nodes = std::move(kept);
  for (TfNetwork::Output& output : network.outputs) {
    if (output.ref.node >= 0) output.ref.node = place[size_t(output.ref.node)];
  }
}

}  // namespace tilewright
