// Nodes are converted one after another in topological order; what reads a failed node is skipped silently.
// The converter's last word on an output names the value after the TensorFlow node, and the first operator
// that is more than a rearrangement gets the node's own name.
#include "tilewright/frontend/tensorflow/tf_lowering.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tilewright/frontend/graph_values.h"
#include "tilewright/frontend/name_registry.h"
#include "tilewright/frontend/onnx/node_typing.h"
#include "tilewright/frontend/tensorflow/tf_operation.h"

namespace tilewright {
namespace {

class Lowering : public TfOperation {
 public:
  Lowering(TfNetwork network, const TensorflowOptions& options, Diagnostics& diagnostics)
      : network_(std::move(network)), options_(options), diagnostics_(diagnostics), typing_(graph_) {
    results_.resize(network_.nodes.size());
    // Inputs and outputs keep their names, whatever is in between.
    for (const TfNode& node : network_.nodes) {
      if (node.is("Placeholder")) value_names_.reserve(node.name);
    }
    for (const TfNetwork::Output& output : network_.outputs) {
      if (!is_input(output.ref)) value_names_.reserve(output.name);
    }
  }

  Graph run() {
    for (size_t i = 0; i < network_.nodes.size(); ++i) convert(i);
    report_unbound();
    report_unused_dimensions();
    add_outputs();
    if (diagnostics_.ok()) graph_.remove_dead();
    return std::move(graph_);
  }

  // TfOperation
  const TfNode& node() const override { return *current_; }
  int input_count() const override { return int(inputs_.size()); }
  ValueId input(int index) const override {
    if (index < 0 || index >= int(inputs_.size())) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("has {} inputs, input {} is missing", inputs_.size(), index));
    }
    return inputs_[size_t(index)];
  }
  const Value& value(ValueId id) const override { return graph_.value(id); }
  const Tensor* known(ValueId id) const override { return typing_.known(id); }
  ValueId constant(const std::string& role, Tensor tensor) override {
    return append_constant(graph_, value_names_.unique(fmt::format("{}/{}", current_->name, role)),
                           std::move(tensor));
  }
  ValueId emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes) override {
    return emit_several(op, std::move(inputs), 1, std::move(attributes))[0];
  }
  std::vector<ValueId> emit_several(const std::string& op, std::vector<ValueId> inputs, int outputs,
                                    Attributes attributes) override {
    const bool is_main = !has_main_ && op != "Transpose" && op != "Reshape" && op != "Cast";
    has_main_ |= is_main;
    const std::string name = node_names_.unique(is_main ? current_->name : current_->name + "/" + op);
    std::vector<ValueId> ids;
    for (int i = 0; i < outputs; ++i) {
      ids.push_back(
          append_value(graph_, value_names_.unique(fmt::format("{}/{}:{}", current_->name, op, i))));
    }
    Node node{name, "", op, std::move(inputs), ids, std::move(attributes)};
    typing_.infer(node);
    graph_.nodes.push_back(std::move(node));
    return ids;
  }
  void output(int index, ValueId id) override {
    std::vector<ValueId>& results = results_[current_index_];
    if (int(results.size()) <= index) results.resize(size_t(index) + 1, kNoValue);
    results[size_t(index)] = id;
  }

 private:
  bool is_input(TfRef ref) const {
    return ref.node >= 0 && network_.nodes[size_t(ref.node)].is("Placeholder");
  }

  void error(const TfNode& node, ErrorKind kind, const std::string& message, const std::string& hint = {}) {
    diagnostics_.error(kind, tf_label(node), node.op, message, hint);
  }

  void convert(size_t index) {
    TfNode& node = network_.nodes[index];
    current_ = &node;
    current_index_ = index;
    has_main_ = false;
    if (node.is_reported) return;
    if (node.is("Placeholder")) return add_input(node);
    if (node.is("Const")) return add_const(node);
    const TfConverter converter = find_tf_converter(node.op);
    if (converter == nullptr) {
      return error(node, ErrorKind::kUnsupported, "operator is not supported", hint_for(node));
    }
    if (!find_inputs(node)) return;
    const size_t nodes_before = graph_.nodes.size();
    try {
      converter(*this);
      if (results_[index].empty()) throw Error(ErrorKind::kInvalidInput, "has no outputs");
      name_outputs();
    } catch (const Error& problem) {
      graph_.nodes.resize(nodes_before);
      results_[index].clear();
      for (const Diagnostic& part : problem.diagnostics()) error(node, part.kind, part.message, part.hint);
    }
  }

  static std::string hint_for(const TfNode& node) {
    if (node.is("While") || node.is("StatelessWhile") || node.is("Enter"))
      return "unroll loops before the export";
    if (node.is("If") || node.is("StatelessIf")) return "export the branch that inference takes";
    if (node.is("Switch") || node.is("Merge")) return "export the model for inference";
    return "cut the graph there: --feed makes a node an input, --output-node an output";
  }

  // False when something it reads has failed or does not exist.
  bool find_inputs(const TfNode& node) {
    inputs_.clear();
    for (const TfRef& ref : node.inputs) {
      const std::vector<ValueId>& results = results_[size_t(ref.node)];
      if (results.empty()) return false;
      if (ref.output >= int(results.size()) || results[size_t(ref.output)] == kNoValue) {
        error(node, ErrorKind::kUnsupported,
              fmt::format("reads output {} of node '{}', which inference does not have", ref.output,
                          network_.nodes[size_t(ref.node)].name));
        return false;
      }
      inputs_.push_back(results[size_t(ref.output)]);
    }
    return true;
  }

  // After the node, unless the value has a name of its own already.
  void name_outputs() {
    const std::vector<ValueId>& results = results_[current_index_];
    for (size_t i = 0; i < results.size(); ++i) {
      const bool is_passed_on = std::find(inputs_.begin(), inputs_.end(), results[i]) != inputs_.end();
      if (results[i] == kNoValue || is_passed_on || graph_.is_constant(results[i])) continue;
      const bool is_output =
          std::any_of(network_.outputs.begin(), network_.outputs.end(), [&](const TfNetwork::Output& o) {
            return o.ref == TfRef{int(current_index_), int(i)};
          });
      if (is_output) continue;  // named at the end
      const std::string wanted = i == 0 ? current_->name : fmt::format("{}:{}", current_->name, i);
      graph_.value(results[i]).name = value_names_.unique(wanted);
    }
  }

  void add_const(TfNode& node) {
    if (!node.value) {
      const Diagnostic& why = *node.value_error;
      return error(node, why.kind, why.message, why.hint);
    }
    output(0, append_constant(graph_, value_names_.unique(node.name), std::move(*node.value)));
  }

  void add_input(const TfNode& node) {
    const int code = node.type_or("dtype", 1);
    const std::optional<ElementType> type = element_type_of_tensorflow(code);
    if (!type) {
      return error(node, ErrorKind::kUnsupported,
                   fmt::format("is an input of {}", tensorflow_type_name(code)),
                   "start after it: --feed NODE makes a node an input");
    }
    const std::optional<Shape> shape = bound_shape(node);
    if (!shape) return;
    const ValueId id = append_value(graph_, node.name);
    graph_.value(id).type = *type;
    graph_.value(id).shape = *shape;
    graph_.inputs.push_back(id);
    output(0, id);
  }

  std::optional<Shape> bound_shape(const TfNode& node) {
    const TfShape declared = node.declared_shape();
    if (!declared.has_rank) {
      error(node, ErrorKind::kInvalidInput, "is an input without a declared shape",
            fmt::format("give its shape: --feed {}=1x...", node.name));
      return std::nullopt;
    }
    std::vector<int64_t> dims = declared.dims;
    bool is_bound = true;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const std::string name = fmt::format("{}.{}", node.name, axis);
      const auto given = options_.dimensions.find(name);
      if (given != options_.dimensions.end()) {
        used_.insert(name);
        if (given->second < 1)
          error(node, ErrorKind::kInvalidInput, fmt::format("axis {} cannot be {}", axis, given->second));
        dims[axis] = given->second;
      } else if (axis == 0 && dims.size() > 1 && dims[0] != 1 && !is_fed(node)) {
        diagnostics_.warn(
            tf_label(node), node.op,
            fmt::format("batch of {} is read as 1", dims[0] < 0 ? "any size" : std::to_string(dims[0])),
            fmt::format("--shape {}=N binds another size", name));
        dims[0] = 1;
      } else if (dims[axis] < 0) {
        unbound_.push_back(name);
        is_bound = false;
      }
    }
    return is_bound ? std::optional(Shape(dims)) : std::nullopt;
  }

  bool is_fed(const TfNode& node) const {
    const auto feed = options_.feeds.find(node.name);
    return feed != options_.feeds.end() && feed->second.rank() > 0;
  }

  void report_unbound() {
    if (unbound_.empty()) return;
    diagnostics_.error(ErrorKind::kInvalidInput, "inputs", "",
                       fmt::format("axes without a size: {}", fmt::join(unbound_, ", ")),
                       fmt::format("give each a size: --shape {}=N", unbound_[0]));
  }

  void report_unused_dimensions() {
    for (const auto& [name, size] : options_.dimensions) {
      if (!used_.count(name)) {
        diagnostics_.warn(fmt::format("dimension '{}'", name), "", "no input has an axis of this name");
      }
    }
  }

  void add_outputs() {
    for (const TfNetwork::Output& output : network_.outputs) {
      if (output.ref.node < 0) continue;
      const std::vector<ValueId>& results = results_[size_t(output.ref.node)];
      if (results.empty()) continue;  // reported with its node
      if (output.ref.output >= int(results.size()) || results[size_t(output.ref.output)] == kNoValue) {
        diagnostics_.error(ErrorKind::kUnsupported, fmt::format("output '{}'", output.name), "",
                           "is an output of its node that inference does not have");
        continue;
      }
      const ValueId id = results[size_t(output.ref.output)];
      if (!is_input(output.ref) && !graph_.is_output(id)) graph_.value(id).name = output.name;
      graph_.outputs.push_back(id);
    }
  }

  TfNetwork network_;
  const TensorflowOptions& options_;
  Diagnostics& diagnostics_;
  Graph graph_;
  NodeTyping typing_;
  NameRegistry value_names_, node_names_;
  std::vector<std::vector<ValueId>> results_;  // by node, by output; empty: failed
  std::set<std::string> used_;
  std::vector<std::string> unbound_;

  // The node in work.
  TfNode* current_ = nullptr;
  size_t current_index_ = 0;
  std::vector<ValueId> inputs_;
  bool has_main_ = false;
};

}  // namespace

Graph lower_tensorflow(TfNetwork network, const TensorflowOptions& options, Diagnostics& diagnostics) {
  return Lowering(std::move(network), options, diagnostics).run();
}

}  // namespace tilewright
