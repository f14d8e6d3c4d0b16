// A depth-first walk from the outputs over data edges, with its own stack, gives the nodes in topological
// order and finds cycles. Nodes keep the file's order where edges allow.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tilewright/frontend/tensorflow/tf_inference.h"

namespace tilewright {
namespace {

// Operators at the end of a graph that nobody wants as the network's output.
bool is_side_effect(const TfNode& node) {
  static constexpr std::array<const char*, 34> kOps = {"NoOp",
                                                       "Assign",
                                                       "AssignAdd",
                                                       "AssignSub",
                                                       "AssignVariableOp",
                                                       "AssignAddVariableOp",
                                                       "AssignSubVariableOp",
                                                       "SaveV2",
                                                       "RestoreV2",
                                                       "MergeV2Checkpoints",
                                                       "MergeSummary",
                                                       "ScalarSummary",
                                                       "HistogramSummary",
                                                       "ImageSummary",
                                                       "TensorSummaryV2",
                                                       "Assert",
                                                       "Print",
                                                       "VarIsInitializedOp",
                                                       "IsVariableInitialized",
                                                       "VarHandleOp",
                                                       "VariableV2",
                                                       "Variable",
                                                       "ShardedFilename",
                                                       "StringJoin",
                                                       "ApplyGradientDescent",
                                                       "ApplyMomentum",
                                                       "ApplyAdam",
                                                       "ApplyRMSProp",
                                                       "Const",
                                                       "Placeholder",
                                                       "PlaceholderWithDefault",
                                                       "TruncatedNormal",
                                                       "ReadVariableOp",
                                                       "Save"};
  return std::any_of(kOps.begin(), kOps.end(), [&](const char* op) { return node.op == op; }) ||
         node.op.rfind("ResourceApply", 0) == 0;
}

bool is_training_scope(const TfNode& node) {
  static constexpr std::array<const char*, 4> kScopes = {"gradients/", "save/", "init/",
                                                         "report_uninitialized"};
  return node.name == "init" || std::any_of(kScopes.begin(), kScopes.end(), [&](const char* scope) {
           return node.name.rfind(scope, 0) == 0;
         });
}

class Selection {
 public:
  Selection(TfModel model, const TensorflowOptions& options, TfStages& stages, Diagnostics& diagnostics)
      : model_(std::move(model)), options_(options), stages_(stages), diagnostics_(diagnostics) {}

  TfNetwork run() {
    stages_.stored = count_stage(model_.nodes);
    mark_read();
    apply_feeds();
    apply_signature();
    find_outputs();
    if (!options_.keep_arg_max && options_.outputs.empty()) drop_arg_max();
    for (const TfNetwork::Output& output : network_.outputs) visit(output.ref.node);
    TfNetwork network = compacted();
    stages_.reachable = count_stage(network.nodes);
    return network;
  }

 private:
  static void make_input(TfNode& node, const Shape& shape) {
    const int type = node.type_or("T", node.type_or("dtype", 1));
    TfShape declared = node.declared_shape();
    if (shape.rank() > 0) declared = {true, shape.dims()};
    node.op = "Placeholder";
    node.inputs.clear();
    node.input_names.clear();
    node.attributes = {{"shape", declared}, {"dtype", TfType{type}}};
  }

  void apply_feeds() {
    for (const auto& [name, shape] : options_.feeds) {
      const int index = model_.find(name);
      if (index < 0) {
        diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("input '{}'", name), "",
                           "is not a node of the file");
        continue;
      }
      make_input(model_.nodes[size_t(index)], shape);
    }
    for (TfNode& node : model_.nodes) {
      if (!node.is("Mfcc")) continue;
      diagnostics_.warn(tf_label(node), node.op,
                        "is left to the host: its values are an input of the network");
      make_input(node, guessed_shape(node));
    }
  }

  // [1, N] when the readers reshape to rows of N.
  Shape guessed_shape(const TfNode& node) const {
    const int index = int(&node - model_.nodes.data());
    for (const TfNode& reader : model_.nodes) {
      if (!reader.is("Reshape") || reader.inputs.size() != 2 || reader.inputs[0] != TfRef{index, 0}) continue;
      const int shape = reader.inputs[1].node;
      if (shape < 0 || !model_.nodes[size_t(shape)].value) continue;
      const std::vector<int64_t> dims = model_.nodes[size_t(shape)].value->to_integers();
      if (dims.size() == 2 && dims[0] == -1 && dims[1] > 0) return {1, dims[1]};
    }
    return {};
  }

  // Under the signature's names. What it calls an input is one, whatever computes it in the file.
  void apply_signature() {
    for (const auto& [name, input] : model_.signature_inputs) {
      const TfTensorName tensor = parse_tensor_name(input.tensor);
      const int index = model_.find(tensor.node);
      if (index < 0 || tensor.output != 0)
        continue;  // an input that nothing reads may be left out of the graph
      TfNode& node = model_.nodes[size_t(index)];
      const bool is_usable = input.shape.has_rank && !node.declared_shape().has_rank;
      if (!node.is("Placeholder")) {
        make_input(node, {});
        node.attributes["dtype"] = TfType{input.type};
      }
      if (is_usable) node.attributes["shape"] = input.shape;
      if (model_.find(name) < 0) node.name = name;
    }
  }

  void add_output(const std::string& text, const std::string& called = {}) {
    const TfTensorName name = parse_tensor_name(text);
    const int index = model_.find(name.node);
    if (index < 0) {
      diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("output '{}'", text), "",
                         "is not a node of the file");
      return;
    }
    const TfRef ref{index, name.output};
    const auto same = [&](const TfNetwork::Output& other) { return other.ref == ref; };
    if (std::any_of(network_.outputs.begin(), network_.outputs.end(), same)) return;
    network_.outputs.push_back({!called.empty() ? called : name.output == 0 ? name.node : text, ref});
  }

  // Before the graph is cut: what only a cut-off part reads is no output either.
  void mark_read() {
    read_.resize(model_.nodes.size(), false);
    for (const TfNode& node : model_.nodes) {
      if (is_side_effect(node) && !node.is("ReadVariableOp")) continue;  // being saved or shown is no use
      for (const TfRef& input : node.inputs) {
        if (input.node >= 0) read_[size_t(input.node)] = true;
      }
    }
  }

  void find_outputs() {
    if (!options_.outputs.empty()) {
      for (const std::string& name : options_.outputs) add_output(name);
      return;
    }
    for (const auto& [name, output] : model_.signature_outputs) add_output(output.tensor, name);
    if (!network_.outputs.empty() || !diagnostics_.ok()) return;
    for (size_t i = 0; i < model_.nodes.size(); ++i) {
      const TfNode& node = model_.nodes[i];
      if (!read_[i] && !is_side_effect(node) && !is_training_scope(node) && depends_on_input(int(i))) {
        network_.outputs.push_back({node.name, {int(i), 0}});
      }
    }
    if (network_.outputs.empty()) {
      diagnostics_.error(ErrorKind::kInvalidInput, "graph", "", "has no node that looks like an output",
                         "name one with --output-node");
    }
  }

  bool depends_on_input(int node) {
    if (dependent_.empty()) dependent_ = find_dependent();
    return dependent_[size_t(node)];
  }

  // By node: is a placeholder among what it is computed from.
  std::vector<bool> find_dependent() const {
    std::vector<std::vector<int>> readers(model_.nodes.size());
    std::vector<int> open;
    std::vector<bool> dependent(model_.nodes.size(), false);
    for (size_t i = 0; i < model_.nodes.size(); ++i) {
      const TfNode& node = model_.nodes[i];
      for (const TfRef& input : node.inputs) {
        if (input.node >= 0) readers[size_t(input.node)].push_back(int(i));
      }
      if (node.is("Placeholder") || node.is("PlaceholderWithDefault")) open.push_back(int(i));
    }
    while (!open.empty()) {
      const size_t node = size_t(open.back());
      open.pop_back();
      if (dependent[node]) continue;
      dependent[node] = true;
      open.insert(open.end(), readers[node].begin(), readers[node].end());
    }
    return dependent;
  }

  // With other outputs an ArgMax is dropped; alone it is replaced by the scores it reads.
  void drop_arg_max() {
    auto& outputs = network_.outputs;
    const auto is_arg_max = [&](const TfNetwork::Output& output) {
      const TfNode& node = model_.nodes[size_t(output.ref.node)];
      return node.is("ArgMax") && !node.inputs.empty() && node.inputs[0].node >= 0;
    };
    const bool all = std::all_of(outputs.begin(), outputs.end(), is_arg_max);
    std::vector<TfNetwork::Output> kept;
    for (const TfNetwork::Output& output : outputs) {
      if (!is_arg_max(output)) {
        kept.push_back(output);
        continue;
      }
      const TfNode& node = model_.nodes[size_t(output.ref.node)];
      diagnostics_.warn(tf_label(node), node.op,
                        "is left to the reader of the scores; --keep-argmax keeps it in the network");
      if (all) kept.push_back({model_.nodes[size_t(node.inputs[0].node)].name, node.inputs[0]});
    }
    outputs = std::move(kept);
  }

  void visit(int root) {
    if (state_.empty()) state_.resize(model_.nodes.size(), kNew);
    struct Frame {
      int node;
      size_t next;
    };
    std::vector<Frame> stack;
    const auto open = [&](int node) {
      if (node < 0 || state_[size_t(node)] == kDone) return;
      if (state_[size_t(node)] == kOpen) {
        const TfNode& member = model_.nodes[size_t(node)];
        diagnostics_.error(ErrorKind::kUnsupported, tf_label(member), member.op, "is in a loop",
                           "unroll loops before the export");
        return;
      }
      state_[size_t(node)] = kOpen;
      stack.push_back({node, 0});
    };
    open(root);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const TfNode& node = model_.nodes[size_t(frame.node)];
      if (frame.next < node.inputs.size()) {
        open(node.inputs[frame.next++].node);
        continue;
      }
      state_[size_t(frame.node)] = kDone;
      order_.push_back(frame.node);
      stack.pop_back();
    }
  }

  TfNetwork compacted() {
    std::vector<int> place(model_.nodes.size(), -1);
    for (size_t i = 0; i < order_.size(); ++i) place[size_t(order_[i])] = int(i);
    for (const int index : order_) {
      TfNode& node = model_.nodes[size_t(index)];
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        TfRef& input = node.inputs[i];
        if (input.node < 0) {
          diagnostics_.error(ErrorKind::kInvalidInput, tf_label(node), node.op,
                             fmt::format("reads '{}', which is not in the file", node.input_names[i]));
        } else {
          input.node = place[size_t(input.node)];
        }
      }
      network_.nodes.push_back(std::move(node));
    }
    for (TfNetwork::Output& output : network_.outputs) output.ref.node = place[size_t(output.ref.node)];
    return std::move(network_);
  }

  enum State : char { kNew, kOpen, kDone };

  TfModel model_;
  const TensorflowOptions& options_;
  TfStages& stages_;
  Diagnostics& diagnostics_;
  TfNetwork network_;
  std::vector<bool> dependent_, read_;
  std::vector<State> state_;
  std::vector<int> order_;
};

}  // namespace

TfNetwork select_inference(TfModel model, const TensorflowOptions& options, TfStages& stages,
                           Diagnostics& diagnostics) {
  return Selection(std::move(model), options, stages, diagnostics).run();
}

std::string tf_label(const TfNode& node) { return fmt::format("node '{}'", node.name); }

}  // namespace tilewright
