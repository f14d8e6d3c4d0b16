// Order: names reserved, nodes sorted, initializers, inputs, nodes, outputs. A node is resolved, converted to
// opset 17 and typed before the next; one that fails leaves untyped outputs, and nodes that read those are
// skipped in silence, so that each cause is reported once.
#include "tilewright/frontend/onnx/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/frontend/graph_values.h"
#include "tilewright/frontend/name_registry.h"
#include "tilewright/frontend/onnx/node_typing.h"
#include "tilewright/frontend/onnx/opset/microsoft_converters.h"
#include "tilewright/frontend/onnx/opset/opset_converters.h"
#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/qonnx_converters.h"
#include "tilewright/frontend/onnx/opset/tree_converters.h"
#include "tilewright/graph/operators/node_rules.h"
#include "tilewright/graph/operators/operators.h"

namespace tilewright {
namespace {

// More nodes than this are a loop that nobody meant to unroll.
constexpr size_t kMostUnrolledNodes = 200000;

using ForeignConverter = void (*)(Node&, NodeConversion&);

// Of operators that are not ONNX's own; nullptr if there is none.
ForeignConverter foreign_converter(const std::string& domain, const std::string& op) {
  if (is_qonnx_quantizer(domain, op)) return convert_qonnx_quantizer;
  if (is_microsoft_operator(domain, op)) return convert_microsoft_operator;
  return is_tree_ensemble(domain, op) ? convert_tree_ensemble : nullptr;
}

class GraphBuilder : public NodeConversion {
 public:
  GraphBuilder(OnnxModel model, const OnnxOptions& options, Diagnostics& diagnostics)
      : model_(std::move(model)), options_(options), diagnostics_(diagnostics), typing_(graph_) {}

  Graph build() {
    graph_.name = model_.name;
    reserve_names();
    const auto nothing_around = [](const std::string&) { return false; };
    const std::vector<size_t> order = order_onnx_nodes(model_, nothing_around, diagnostics_);
    for (auto& [name, tensor] : model_.initializers) {
      set_id(name, tensor ? add_constant(name, std::move(*tensor)) : add_value(name));
    }
    add_inputs();
    for (const size_t index : order) add(model_.nodes[index]);
    add_outputs();
    return std::move(graph_);
  }

  // NodeConversion
  int opset() const override { return model_.opset; }
  ElementType type(ValueId id) const override { return graph_.value(id).type; }
  Shape shape(ValueId id) const override { return graph_.value(id).shape; }
  std::optional<Tensor> constant_of(ValueId id) const override {
    const Tensor* known = id == kNoValue ? nullptr : typing_.known(id);
    return known == nullptr ? std::nullopt : std::optional(*known);
  }
  ValueId constant(const std::string& role, Tensor tensor) override {
    return add_constant(value_names_.unique(fmt::format("{}/{}", current_name_, role)), std::move(tensor));
  }
  std::vector<ValueId> emit_all(const std::string& op, std::vector<ValueId> inputs, int count,
                                Attributes attributes) override {
    std::vector<ValueId> outputs(size_t(count), kNoValue);
    if (failed_ || std::find(inputs.begin(), inputs.end(), kNoValue) != inputs.end()) return outputs;
    const std::string name = node_names_.unique(fmt::format("{}/{}", current_name_, op));
    for (ValueId& output : outputs) output = add_value(value_names_.unique(name));
    append({name, "", op, std::move(inputs), outputs, std::move(attributes)});
    if (failed_) outputs.assign(size_t(count), kNoValue);
    return outputs;
  }
  void define(ValueId output, ValueId value) override {
    if (failed_ || value == kNoValue) return;
    if (const std::vector<ValueId>* tensors = sequence(value)) return define_sequence(output, *tensors);
    append({node_names_.unique(current_name_), "", "Identity", {value}, {output}, {}});
  }
  const OnnxGraph* body(const std::string& attribute) const override {
    const auto found = current_->graphs.find(attribute);
    return found == current_->graphs.end() ? nullptr : found->second.get();
  }
  std::vector<ValueId> unrolled(const OnnxGraph& body, const std::vector<ValueId>& inputs) override {
    if (failed_) return {};
    if (inputs.size() != body.inputs.size()) {
      invalid(fmt::format("its body has {} inputs, {} are given", body.inputs.size(), inputs.size()));
      return {};
    }
    const OnnxNode* const outer = current_;
    const std::string outer_name = current_name_, outer_prefix = prefix_;
    prefix_ = current_name_ + "/";
    scopes_.emplace_back();
    for (size_t i = 0; i < inputs.size(); ++i) set_id(body.inputs[i].name, inputs[i]);
    const bool is_complete = add_body(body);
    std::vector<ValueId> outputs;
    for (const OnnxValueInfo& info : body.outputs)
      outputs.push_back(is_complete ? id_of(info.name) : kNoValue);
    scopes_.pop_back();
    current_ = outer;
    current_name_ = outer_name;
    prefix_ = outer_prefix;
    // What an output lacks has been reported with the node that should have made it.
    failed_ = !std::ranges::all_of(outputs, [&](ValueId id) {
      return id != kNoValue && (is_typed_[size_t(id)] || sequences_.count(id) != 0);
    });
    return failed_ ? std::vector<ValueId>{} : outputs;
  }
  const std::vector<ValueId>* sequence(ValueId id) const override {
    const auto found = sequences_.find(id);
    return found == sequences_.end() ? nullptr : &found->second;
  }
  void define_sequence(ValueId output, std::vector<ValueId> tensors) override {
    if (output != kNoValue) sequences_[output] = std::move(tensors);
  }
  void error(ErrorKind kind, const std::string& message, const std::string& hint) override {
    failed_ = true;
    diagnostics_.error(kind, current_->label, current_->op, message, hint);
  }
  bool failed() const override { return failed_; }

 private:
  void reserve_names() {
    for (const auto& [name, tensor] : model_.initializers) value_names_.reserve(name);
    for (const OnnxValueInfo& info : model_.inputs) value_names_.reserve(info.name);
    for (const OnnxNode& node : model_.nodes) {
      for (const std::string& output : node.outputs) value_names_.reserve(output);
    }
    note_reads(model_);
  }
  void note_reads(const OnnxGraph& graph) {
    for (const OnnxNode& node : graph.nodes)
      std::ranges::copy(names_read(node), inserter(read_names_, read_names_.end()));
    for (const OnnxValueInfo& info : graph.outputs) read_names_.insert(info.name);
  }

  // The innermost value of a name; kNoValue if there is none.
  ValueId id_of(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->find(name); found != scope->end()) return found->second;
    }
    return kNoValue;
  }
  void set_id(const std::string& name, ValueId id) { scopes_.back()[name] = id; }

  // The nodes of a body once more; false after an error.
  bool add_body(const OnnxGraph& body) {
    const size_t errors = diagnostics_.errors().size();
    unrolled_ += 1 + body.nodes.size();
    if (unrolled_ > kMostUnrolledNodes) {
      unsupported(fmt::format("unrolls to more than {} nodes", kMostUnrolledNodes),
                  "give it fewer iterations");
      return false;
    }
    note_reads(body);
    const auto is_around = [&](const std::string& name) { return id_of(name) != kNoValue; };
    const std::vector<size_t> order = order_onnx_nodes(body, is_around, diagnostics_);
    for (const auto& [name, tensor] : body.initializers) {
      auto [constant, is_new] = body_constants_.try_emplace({&body, name}, kNoValue);
      if (is_new) {
        const std::string unique = value_names_.unique(prefix_ + name);
        constant->second = tensor ? add_constant(unique, *tensor) : add_value(unique);
      }
      set_id(name, constant->second);
    }
    for (const size_t index : order) add(body.nodes[index]);
    return diagnostics_.errors().size() == errors;
  }

  ValueId add_value(const std::string& name) {
    is_typed_.push_back(false);
    return append_value(graph_, name);
  }
  ValueId add_constant(const std::string& name, Tensor tensor) {
    is_typed_.push_back(true);
    return append_constant(graph_, name, std::move(tensor));
  }

  void add_inputs() {
    for (const BoundInput& input : bind_onnx_inputs(model_, options_, diagnostics_)) {
      const auto fixed = options_.fixed_inputs.find(input.name);
      if (fixed != options_.fixed_inputs.end()) {
        set_id(input.name, add_constant(input.name, fixed->second));
        continue;
      }
      const ValueId id = add_value(input.name);
      set_id(input.name, id);
      graph_.inputs.push_back(id);
      if (!input.type || !input.shape) continue;
      graph_.value(id).type = *input.type;
      graph_.value(id).shape = *input.shape;
      is_typed_[size_t(id)] = true;
    }
  }

  // The same problems, under the name that the node has in the file.
  void add_located(const std::vector<Diagnostic>& problems) {
    for (Diagnostic problem : problems) {
      problem.where = current_->label;
      problem.op = current_->op;
      diagnostics_.add(std::move(problem));
    }
  }

  // Whether the graph has the operator or something to replace it by; reports if not.
  bool is_covered(const OnnxNode& source) {
    if (source.domain.empty() && source.op == "Constant") return true;
    if (source.domain.empty() && is_rewritten_operator(source.op)) return true;
    if (foreign_converter(source.domain, source.op) != nullptr) return true;
    if (find_operator(source.domain, source.op) != nullptr) return true;
    failed_ = true;
    const std::string key = fmt::format("{}:{}", source.domain, source.op);
    const auto& functions = model_.functions;
    if (std::find(functions.begin(), functions.end(), key) != functions.end()) {
      diagnostics_.error(ErrorKind::kUnsupported, source.label, source.op,
                         "is a function of the model, which is not supported",
                         "inline the functions of the model");
      return false;
    }
    Diagnostics unknown;
    check_node({current_name_, source.domain, source.op, {}, {}, {}}, unknown);
    add_located(unknown.errors());
    return false;
  }

  void add(const OnnxNode& source) {
    current_ = &source;
    const auto first =
        std::ranges::find_if(source.outputs, [](const std::string& name) { return !name.empty(); });
    const bool has_output = first != source.outputs.end();
    current_name_ = source.name.empty() && has_output ? *first : source.name;
    if (current_name_.empty()) current_name_ = source.op;
    current_name_ = prefix_ + current_name_;
    failed_ = !source.is_usable;
    // Of operators that are rewritten, any output may be the one that is wanted (the last state of an LSTM).
    if (!has_output || (source.outputs[0].empty() && find_operator(source.domain, source.op) != nullptr)) {
      // Only for its diagnostics: nobody could read it.
      if (is_covered(source)) error(ErrorKind::kInvalidInput, "has no output", "");
      return;
    }
    const bool covered = is_covered(source);
    if (source.domain.empty() && source.op == "Constant") return add_constant_node(source);
    Node node = resolve(source);
    if (!covered || failed_ || !inputs_are_typed(node)) return;
    if (const auto convert = foreign_converter(node.domain, node.op)) {
      convert(node, *this);
    } else if (node.domain.empty()) {
      convert_to_opset_17(node, *this);
    }
    if (failed_ || node.outputs.empty()) return;
    node.name = node_names_.unique(current_name_);
    append(std::move(node));
  }

  // Names to values; the outputs get new, untyped ones.
  Node resolve(const OnnxNode& source) {
    Node node{"", source.domain, source.op, {}, {}, source.attributes};
    for (const std::string& input : source.inputs) {
      node.inputs.push_back(input.empty() ? kNoValue : id_of(input));
      // Reported with the order of the nodes.
      if (!input.empty() && node.inputs.back() == kNoValue) failed_ = true;
    }
    const Operator* op = find_operator(source.domain, source.op);
    const bool has_optional = op != nullptr && op->max_outputs < kAnyNumber;
    // Of Split even those without a name count: their number says how large each one is.
    const bool all_count = op != nullptr && op->max_outputs == kAnyNumber;
    for (size_t i = 0; i < source.outputs.size(); ++i) {
      const std::string& output = source.outputs[i];
      // Of several outputs of an operator that is rewritten, those that nothing reads are not made.
      const bool may_go =
          op == nullptr ? source.outputs.size() > 1 : has_optional && i >= size_t(op->min_outputs);
      const bool unwanted = may_go && !read_names_.count(output);
      if (output.empty() && all_count) {
        node.outputs.push_back(add_value(value_names_.unique(fmt::format("{}/unread", current_name_))));
      } else if (output.empty() || unwanted) {
        node.outputs.push_back(kNoValue);
      } else {
        node.outputs.push_back(add_value(own_name(output)));
        set_id(output, node.outputs.back());
      }
    }
    trim_absent(node);
    return node;
  }

  // The name of a value of the file: its own, or in a body one that is new each time.
  std::string own_name(const std::string& name) {
    return scopes_.size() == 1 ? name : value_names_.unique(prefix_ + name);
  }

  bool inputs_are_typed(const Node& node) {
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || is_typed_[size_t(id)]) continue;
      if (sequences_.count(id) == 0) return false;
      if (takes_sequences(node)) continue;
      invalid(fmt::format("reads '{}', which is a sequence and not a tensor", graph_.value(id).name));
      return false;
    }
    return true;
  }

  // The forms of Constant, one attribute each.
  std::optional<Tensor> constant_value(const OnnxNode& source) {
    if (source.attributes.size() == 1) {
      const auto& [name, attribute] = *source.attributes.begin();
      if (const auto* tensor = std::get_if<Tensor>(&attribute); tensor && name == "value") return *tensor;
      if (const auto* number = std::get_if<float>(&attribute); number && name == "value_float") {
        return Tensor::scalar(*number);
      }
      if (const auto* number = std::get_if<int64_t>(&attribute); number && name == "value_int") {
        return Tensor::scalar(*number);
      }
      if (const auto* list = std::get_if<std::vector<int64_t>>(&attribute); list && name == "value_ints") {
        return int64_list(*list);
      }
      if (const auto* list = std::get_if<std::vector<float>>(&attribute); list && name == "value_floats") {
        return Tensor(Shape{int64_t(list->size())}, std::span<const float>(*list));
      }
      if (name == "value_string" || name == "value_strings") {
        error(ErrorKind::kUnsupported, "holds strings", "");
        return std::nullopt;
      }
    }
    error(ErrorKind::kInvalidInput, "needs exactly one of its value attributes", "");
    return std::nullopt;
  }

  void add_constant_node(const OnnxNode& source) {
    std::optional<Tensor> tensor;
    if (!failed_) tensor = constant_value(source);
    const std::string& output = source.outputs[0];
    const std::string name = own_name(output);
    set_id(output, tensor ? add_constant(name, std::move(*tensor)) : add_value(name));
  }

  // Types the outputs of `node` and appends it to the graph.
  void append(Node node) {
    try {
      typing_.infer(node);
      for (const ValueId output : node.outputs) {
        if (output != kNoValue) is_typed_[size_t(output)] = true;
      }
    } catch (const Error& problem) {
      failed_ = true;
      add_located(problem.diagnostics());
      return;
    }
    graph_.nodes.push_back(std::move(node));
  }

  void add_outputs() {
    if (model_.outputs.empty()) {
      diagnostics_.error(ErrorKind::kInvalidInput, "model", "", "has no outputs");
    }
    for (const OnnxValueInfo& info : model_.outputs) {
      const std::string where = fmt::format("output '{}'", info.name);
      const ValueId id = id_of(info.name);
      if (id == kNoValue) {
        if (diagnostics_.ok()) {
          diagnostics_.error(ErrorKind::kInvalidInput, where, "", "is produced by nothing");
        }
        continue;
      }
      if (sequences_.count(id)) {
        diagnostics_.error(ErrorKind::kUnsupported, where, "", "is a sequence",
                           "end the network with the tensors in it (SequenceAt, ConcatFromSequence)");
      }
      graph_.outputs.push_back(id);
      if (is_typed_[size_t(id)]) compare_with_declared(info, graph_.value(id), where);
    }
  }

  void compare_with_declared(const OnnxValueInfo& info, const Value& output, const std::string& where) {
    bool matches = !info.type || *info.type == output.type;
    if (info.has_shape) {
      matches &= info.dims.size() == size_t(output.shape.rank());
      for (size_t axis = 0; matches && axis < info.dims.size(); ++axis) {
        matches = info.dims[axis].size < 0 || info.dims[axis].size == output.shape[int(axis)];
      }
    }
    if (matches) return;
    diagnostics_.warn(where, "",
                      fmt::format("is declared with another type or shape (rank {}) than the {} it has",
                                  info.dims.size(), to_string(output.type, output.shape)));
  }

  OnnxModel model_;
  const OnnxOptions& options_;
  Diagnostics& diagnostics_;
  Graph graph_;
  NodeTyping typing_;
  std::vector<bool> is_typed_;  // by value
  // Values by their name in the file: of the graph, then of the bodies around the node at hand.
  std::vector<std::unordered_map<std::string, ValueId>> scopes_ = {{}};
  std::map<std::pair<const OnnxGraph*, std::string>, ValueId> body_constants_;
  std::unordered_map<ValueId, std::vector<ValueId>> sequences_;
  std::unordered_set<std::string> read_names_;
  NameRegistry value_names_, node_names_;
  size_t unrolled_ = 0;  // nodes of bodies so far, and bodies

  // The node being converted.
  const OnnxNode* current_ = nullptr;
  std::string current_name_;
  std::string prefix_;  // of names in a body
  bool failed_ = false;
};

}  // namespace

Graph build_onnx_graph(OnnxModel model, const OnnxOptions& options, Diagnostics& diagnostics) {
  return GraphBuilder(std::move(model), options, diagnostics).build();
}

}  // namespace tilewright
