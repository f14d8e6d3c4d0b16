// One walk over the nodes. Every value may have two forms, as declared and with channels last; each is made
// where somebody first asks for it. Convolutions and pools ask for channels last; element-wise operators and
// those that can state their axes otherwise follow the form that their input has; everything else asks for
// the declared form.
#include "tilewright/host/execution_form.h"

#include <algorithm>
#include <cmath>

#include "tilewright/graph/window.h"
#include "tilewright/host/form_builder.h"
#include "tilewright/host/onednn_layers.h"
#include "tilewright/host/post_operations.h"

namespace tilewright {
namespace {

bool is_f32(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.value(id).type == ElementType::kF32;
}

bool is_convolution(const Node& node) { return node.is("Conv") || node.is("ConvTranspose"); }
bool is_product(const Node& node) { return node.is("Gemm") || node.is("MatMul"); }

// An anchor that fits oneDNN. A node that does not is left to the plain kernels, which say what is wrong.
bool runs_channels_last(const Graph& graph, const Node& node) {
  const auto f32_image = [&](ValueId id) {
    return is_f32(graph, id) && graph.value(id).shape.rank() >= 3 && graph.value(id).shape.rank() <= 5 &&
           graph.value(id).shape.element_count() > 0;
  };
  if (!node.domain.empty() || node.inputs.empty() || node.outputs.size() != 1 || !f32_image(node.inputs[0]) ||
      !f32_image(node.outputs[0])) {
    return false;
  }
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape;
  try {
    if (is_convolution(node)) {
      const Tensor* weights = graph.constant_input(node, 1);
      if (weights == nullptr || weights->type() != ElementType::kF32 || weights->shape().rank() != x.rank()) {
        return false;
      }
      const int64_t group = node.int_or("group", 1);
      const int64_t outputs = node.is("Conv") ? weights->shape()[0] : weights->shape()[1] * group;
      const Window window = node.is("Conv") ? convolution_window(node, x, weights->shape())
                                            : transposed_window(node, x, weights->shape());
      return window.output_shape(x[0], outputs) == y && onednn_convolves(node, x, weights->shape());
    }
    if (node.is("InstanceNormalization")) {
      const auto per_channel = [&](int input) {
        const ValueId id = node.input(input);
        return is_f32(graph, id) && graph.value(id).shape == Shape{x[1]};
      };
      return x == y && per_channel(1) && per_channel(2);
    }
    if (node.is("LRN")) return x == y && x.rank() == 4 && node.int_or("size", 0) % 2 == 1;
    return (node.is("MaxPool") || node.is("AveragePool") || node.is("GlobalAveragePool") ||
            node.is("GlobalMaxPool")) &&
           onednn_pools(node, x);
  } catch (const Error&) {
    return false;
  }
}

// Matrix products in f32 that oneDNN computes, with two operands of two axes or more.
bool runs_fused_product(const Graph& graph, const Node& node) {
  if (!is_product(node) || node.inputs.size() < 2 || !is_f32(graph, node.outputs[0])) return false;
  if (node.is("Gemm")) {
    if (node.float_or("alpha", 1) != 1 || node.float_or("beta", 1) != 1) return false;
    const Shape& c = graph.value(node.outputs[0]).shape;
    if (node.has_input(2) && graph.value(node.inputs[2]).shape != Shape{c[1]}) return false;
  }
  return std::ranges::all_of(node.inputs, [&](ValueId id) {
    return id == kNoValue ||
           (is_f32(graph, id) && (id == node.input(2) || graph.value(id).shape.rank() >= 2) &&
            graph.value(id).shape.rank() <= 5 && graph.value(id).shape.element_count() > 0);
  });
}

// A convolution or product with what is applied to its result; it runs where the last of its nodes stood.
struct Group {
  NodeId anchor = kNoNode;
  std::vector<PostOperation> operations;
  std::vector<ValueId> added;
  std::vector<NodeId> members;  // besides the anchor
  ValueId output = kNoValue;
};

class Former {
 public:
  explicit Former(const Graph& graph)
      : graph_(graph), builder_(graph), readers_(graph.consumers()), taken_(graph.nodes.size(), false) {}

  Graph run() {
    std::map<NodeId, Group> ending_at;
    for (NodeId n = 0; n < NodeId(graph_.nodes.size()); ++n) {
      const auto group = ending_at.find(n);
      if (group != ending_at.end()) {
        emit(group->second);
        continue;
      }
      if (taken_[size_t(n)]) continue;
      const Node& node = graph_.nodes[size_t(n)];
      const bool anchor = runs_channels_last(graph_, node);
      if ((anchor && is_convolution(node)) || runs_fused_product(graph_, node)) {
        Group found = find_group(n);
        if (found.members.empty()) {
          emit(found);
        } else {
          ending_at[found.members.back()] = std::move(found);
        }
      } else if (anchor) {
        emit({n, {}, {}, {}, node.outputs[0]});
      } else {
        emit_alone(n);
      }
    }
    return builder_.finish();
  }

 private:
  Group find_group(NodeId anchor) {
    constexpr size_t kMostOperations = 4;
    Group group{anchor, {}, {}, {}, graph_.nodes[size_t(anchor)].outputs[0]};
    // oneDNN's transposed convolutions apply post-operations element by element.
    while (group.operations.size() < kMostOperations && !graph_.nodes[size_t(anchor)].is("ConvTranspose")) {
      if (!add_activation(group) && !add_addition(group)) break;
    }
    return group;
  }

  // oneDNN 2.6 keeps one set of numbers for each of its functions: of two slopes in one chain it takes one.
  static bool clashes(const Group& group, const std::vector<PostOperation>& more) {
    return std::ranges::any_of(more, [&](const PostOperation& one) {
      return std::ranges::any_of(group.operations, [&](const PostOperation& other) {
        return one.name == other.name && (one.alpha != other.alpha || one.beta != other.beta);
      });
    });
  }

  bool add_activation(Group& group) {
    const Activation found = find_activation(graph_, readers_, group.output);
    if (found.nodes.empty() || any_taken(found.nodes) || clashes(group, found.operations)) return false;
    group.operations.insert(group.operations.end(), found.operations.begin(), found.operations.end());
    take(group, found.nodes);
    return true;
  }

  bool add_addition(Group& group) {
    const std::vector<NodeId>& readers = readers_[size_t(group.output)];
    if (readers.size() != 1 || graph_.is_output(group.output) || any_taken(readers)) return false;
    const Node& node = graph_.nodes[size_t(readers[0])];
    if (!(node.is("Add") || node.is("Sum")) || node.inputs.size() != 2) return false;
    const ValueId other = node.inputs[0] == group.output ? node.inputs[1] : node.inputs[0];
    const Shape &own = graph_.value(group.output).shape, &added = graph_.value(other).shape;
    if (!is_f32(graph_, other) || graph_.value(node.outputs[0]).shape != own) return false;
    const bool vector = is_product(graph_.nodes[size_t(group.anchor)]) && graph_.is_constant(other) &&
                        added == Shape{own[own.rank() - 1]};
    if (added != own && !vector) return false;
    group.operations.push_back({"add", 0, 0});
    group.added.push_back(other);
    take(group, readers);
    return true;
  }

  bool any_taken(const std::vector<NodeId>& nodes) const {
    return std::ranges::any_of(nodes, [&](NodeId n) { return taken_[size_t(n)]; });
  }

  void take(Group& group, const std::vector<NodeId>& nodes) {
    for (const NodeId n : nodes) taken_[size_t(n)] = true;
    group.members.insert(group.members.end(), nodes.begin(), nodes.end());
    group.output = graph_.nodes[size_t(nodes.back())].outputs[0];
  }

  void emit(const Group& group) {
    Node node = graph_.nodes[size_t(group.anchor)];
    const bool image = !is_product(node);
    if (!image && group.members.empty()) return builder_.keep(node);
    const bool has_operations = is_convolution(node) || is_product(node);
    node.domain = kHostDomain;
    if (has_operations) {
      node.inputs.resize(3, kNoValue);
      node.inputs.insert(node.inputs.end(), group.added.begin(), group.added.end());
      if (!group.operations.empty()) set_post_operations(node, group.operations);
    }
    node.outputs = {group.output};
    if (!image) return builder_.keep(std::move(node));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i == 0 || i >= 3) node.inputs[i] = builder_.last(node.inputs[i]);
    }
    node.outputs = {builder_.define_last(group.output)};
    builder_.add(std::move(node));
  }

  // Activations are one operation wherever they stand; the rest follows its inputs.
  void emit_alone(NodeId n) {
    const Node& node = graph_.nodes[size_t(n)];
    if (emit_activation(n) || emit_normalization(n) || emit_shuffle(n)) return;
    if (builder_.follow(node)) return;
    Node kept = node;
    const bool softmax = node.is("Softmax") && is_f32(graph_, node.inputs[0]);
    const Shape& shape = graph_.value(node.outputs[0]).shape;
    if (softmax && shape.rank() > 0 && shape.rank() <= 5 && shape.element_count() > 0 &&
        graph_.value(node.inputs[0]).shape == shape) {
      kept.domain = kHostDomain;
    }
    builder_.keep(std::move(kept));
  }

  // Reshape, Transpose and Reshape that deal the channels of an image anew: [N, g k, ...] to [N, k g, ...].
  bool emit_shuffle(NodeId n) {
    const auto only_reader = [&](const Node& node) -> const Node* {
      const std::vector<NodeId>& readers = readers_[size_t(node.outputs[0])];
      const bool inner =
          readers.size() == 1 && !graph_.is_output(node.outputs[0]) && !taken_[size_t(readers[0])];
      return inner ? &graph_.nodes[size_t(readers[0])] : nullptr;
    };
    const Node& split = graph_.nodes[size_t(n)];
    if (!split.is("Reshape") || !builder_.only_last(split.inputs[0])) return false;
    const Node* turn = only_reader(split);
    const Node* join = turn != nullptr && turn->is("Transpose") ? only_reader(*turn) : nullptr;
    if (join == nullptr || !join->is("Reshape") || join->inputs[0] != turn->outputs[0]) return false;
    const ValueId x = split.inputs[0], y = join->outputs[0];
    const Shape &shape = graph_.value(x).shape, &parts = graph_.value(split.outputs[0]).shape;
    const int rank = shape.rank();
    std::vector<int64_t> perm{0, 2, 1};
    for (int axis = 3; axis <= rank; ++axis) perm.push_back(axis);
    if (parts.rank() != rank + 1 || graph_.value(y).shape != shape || turn->ints_or("perm", {}) != perm ||
        parts[1] * parts[2] != shape[1]) {
      return false;
    }
    for (int axis = 2; axis < rank; ++axis) {
      if (parts[axis + 1] != shape[axis]) return false;
    }
    taken_[size_t(readers_[size_t(split.outputs[0])][0])] =
        taken_[size_t(readers_[size_t(turn->outputs[0])][0])] = true;
    builder_.shuffle_channels(split, x, parts[1], y);
    return true;
  }

  // A batch normalisation that no convolution took in, where its images have their channels last; with the
  // Relu behind it.
  bool emit_normalization(NodeId n) {
    const Node& node = graph_.nodes[size_t(n)];
    if (!node.is("BatchNormalization") || node.inputs.size() != 5 || node.outputs.size() != 1 ||
        !builder_.only_last(node.inputs[0]) || !is_f32(graph_, node.inputs[0]) ||
        node.int_or("training_mode", 0) != 0) {
      return false;
    }
    const int64_t channels = graph_.value(node.inputs[0]).shape[1];
    const auto fits = [&](ValueId id) {
      return is_f32(graph_, id) && graph_.is_constant(id) && graph_.value(id).shape == Shape{channels};
    };
    if (!std::all_of(node.inputs.begin() + 1, node.inputs.end(), fits)) return false;
    Tensor factor(ElementType::kF32, Shape{channels}), offset(ElementType::kF32, Shape{channels});
    for (int64_t c = 0; c < channels; ++c) {
      const auto at = [&](int input) { return graph_.constant_input(node, input)->number_at(c); };
      const double f = at(1) / std::sqrt(at(4) + double(node.float_or("epsilon", 1e-5f)));
      factor.set_number(c, f);
      offset.set_number(c, at(2) - at(3) * f);
    }
    Node scale;
    scale.name = node.name;
    scale.domain = kHostDomain;
    scale.op = "ChannelScale";
    scale.inputs = {builder_.last(node.inputs[0]), builder_.constant(std::move(factor)),
                    builder_.constant(std::move(offset))};
    ValueId y = node.outputs[0];
    const Activation found = find_activation(graph_, readers_, y);
    if (found.operations.size() == 1 && found.operations[0].name == "relu" &&
        found.operations[0].alpha == 0 && !any_taken(found.nodes)) {
      taken_[size_t(found.nodes[0])] = true;
      set_post_operations(scale, found.operations);
      y = graph_.nodes[size_t(found.nodes[0])].outputs[0];
    }
    scale.outputs = {builder_.define_last(y)};
    builder_.add(std::move(scale));
    return true;
  }

  bool emit_activation(NodeId n) {
    const Node& first = graph_.nodes[size_t(n)];
    if (first.inputs.empty() || !is_f32(graph_, first.inputs[0]) || graph_.is_constant(first.inputs[0]))
      return false;
    const ValueId x = first.inputs[0];
    if (graph_.value(x).shape.element_count() == 0) return false;
    const Activation found = find_activation(graph_, readers_, x);
    // As a primitive of its own, oneDNN 2.6's "linear" followed by another function reads beyond its input.
    if (found.operations.size() != 1 || found.nodes[0] != n || any_taken(found.nodes)) return false;
    for (const NodeId member : found.nodes) taken_[size_t(member)] = true;
    Node node;
    node.name = first.name;
    node.domain = kHostDomain;
    node.op = "Activation";
    set_post_operations(node, found.operations);
    const ValueId y = graph_.nodes[size_t(found.nodes.back())].outputs[0];
    if (builder_.only_last(x)) {
      node.inputs = {builder_.last(x)};
      node.outputs = {builder_.define_last(y)};
      builder_.add(std::move(node));
    } else {
      node.inputs = {x};
      node.outputs = {y};
      builder_.keep(std::move(node));
    }
    return true;
  }

  const Graph& graph_;
  FormBuilder builder_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> taken_;  // by node: part of a group that has been found
};

}  // namespace

Graph execution_form(const Graph& graph) { return Former(graph).run(); }

}  // namespace tilewright
