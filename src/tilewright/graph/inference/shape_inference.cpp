// One walk over the nodes. A value is known, failed (its producer was reported; readers stay silent) or not
// yet seen (its producer comes later or does not exist).
#include "tilewright/graph/inference/shape_inference.h"

#include <fmt/format.h>

#include <unordered_map>

#include "tilewright/graph/inference/constant_propagation.h"
#include "tilewright/graph/operators/node_rules.h"

namespace tilewright {
namespace {

enum class State : uint8_t { kUnseen, kInferred, kFailed };

class Inference {
 public:
  Inference(Graph& graph, Diagnostics& diagnostics, Declared declared)
      : graph_(graph),
        diagnostics_(diagnostics),
        declared_(declared),
        states_(graph.values.size(), State::kUnseen) {}

  void run() {
    for (ValueId id : graph_.inputs) {
      if (valid(id)) take_source(id, "graph input");
    }
    for (ValueId id = 0; id < ValueId(graph_.values.size()); ++id) {
      if (graph_.is_constant(id)) take_constant(id);
    }
    for (const Node& node : graph_.nodes) {
      if (!infer(node)) fail_outputs(node);
    }
  }

 private:
  bool valid(ValueId id) const { return id >= 0 && id < ValueId(graph_.values.size()); }

  void report(const Node& node, std::string message, std::string hint = {}) {
    diagnostics_.error(ErrorKind::kInvalidInput, where(node), node.op, std::move(message), std::move(hint));
  }

  void take_source(ValueId id, const char* what) {
    const Value& value = graph_.value(id);
    const std::string defect = defect_of({value.type, value.shape});
    states_[size_t(id)] = defect.empty() ? State::kInferred : State::kFailed;
    if (defect.empty()) return;
    diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("{} '{}'", what, value.name), "", defect,
                       "give it a fixed shape, for example with --shape NAME=1x3x224x224");
  }

  void take_constant(ValueId id) {
    const Value& value = graph_.value(id);
    const TypedShape declared{value.type, value.shape}, held{value.constant->type(), value.constant->shape()};
    states_[size_t(id)] = declared == held ? State::kInferred : State::kFailed;
    if (declared == held) return;
    diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("constant '{}'", value.name), "",
                       fmt::format("is declared as {}, but holds {}", to_string(declared), to_string(held)));
  }

  void fail_outputs(const Node& node) {
    for (ValueId id : node.outputs) {
      if (valid(id) && !graph_.is_constant(id)) states_[size_t(id)] = State::kFailed;
    }
  }

  // False after a report, or silently after a failed node.
  bool infer(const Node& node) {
    if (!valid_ids(node)) return false;
    const Operator* op = check_node(node, diagnostics_);
    if (op == nullptr) return false;
    bool ready = true;
    for (ValueId id : node.inputs) {
      if (id == kNoValue || states_[size_t(id)] == State::kInferred) continue;
      ready = false;
      if (states_[size_t(id)] == State::kFailed) continue;
      report(node, fmt::format("reads '{}' before anything produces it", graph_.value(id).name));
      states_[size_t(id)] = State::kFailed;
    }
    return ready && infer_outputs(node, *op);
  }

  bool valid_ids(const Node& node) {
    for (const std::vector<ValueId>* ids : {&node.inputs, &node.outputs}) {
      for (ValueId id : *ids) {
        if (id == kNoValue || valid(id)) continue;
        report(node, fmt::format("refers to value {} of {}", id, graph_.values.size()));
        return false;
      }
    }
    return true;
  }

  OperatorContext context(const Node& node) const {
    std::vector<OperatorInput> inputs(node.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == kNoValue) continue;
      const Value& value = graph_.value(id);
      const auto computed = computed_.find(id);
      const Tensor* known = value.constant                ? &*value.constant
                            : computed != computed_.end() ? &computed->second
                                                          : nullptr;
      inputs[i] = {true, {value.type, value.shape}, known, value.name};
    }
    return {node, std::move(inputs)};
  }

  bool infer_outputs(const Node& node, const Operator& op) {
    const OperatorContext facts = context(node);
    std::vector<TypedShape> results;
    try {
      results = op.infer(facts);
    } catch (const Error& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) diagnostics_.add(located(diagnostic, node));
      return false;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id == kNoValue) continue;
      if (graph_.is_constant(id) || states_[size_t(id)] == State::kInferred) {
        report(node, fmt::format("produces '{}', which has another source", graph_.value(id).name),
               "a value is a graph input, a constant or one output of one node");
        return false;
      }
      if (!accept(node, id, results[i])) return false;
    }
    if (!node.outputs.empty() && node.outputs[0] != kNoValue) {
      if (std::optional<Tensor> known = propagate(facts, results[0])) {
        computed_.insert_or_assign(node.outputs[0], std::move(*known));
      }
    }
    return true;
  }

  // Errors of helpers that know no node get the node's name.
  static Diagnostic located(Diagnostic diagnostic, const Node& node) {
    if (diagnostic.where.empty()) {
      diagnostic.where = where(node);
      diagnostic.op = node.op;
    }
    return diagnostic;
  }

  bool accept(const Node& node, ValueId id, const TypedShape& result) {
    Value& value = graph_.value(id);
    if (const std::string defect = defect_of(result); !defect.empty()) {
      report(node, fmt::format("output '{}' {}", value.name, defect));
      return false;
    }
    const TypedShape before{value.type, value.shape};
    if (declared_ == Declared::kCheck && contradicts(before, result)) {
      report(node,
             fmt::format("output '{}' is declared as {}, but is {}", value.name, to_string(before),
                         to_string(result)),
             "the file contradicts itself");
      return false;
    }
    value.type = result.type;
    value.shape = result.shape;
    states_[size_t(id)] = State::kInferred;
    return true;
  }

  static bool contradicts(const TypedShape& before, const TypedShape& result) {
    if (before.shape.rank() == 0) return before.type != ElementType::kF32 && before.type != result.type;
    if (before.type != result.type || before.shape.rank() != result.shape.rank()) return true;
    for (int axis = 0; axis < result.shape.rank(); ++axis) {
      if (before.shape[axis] >= 0 && before.shape[axis] != result.shape[axis]) return true;
    }
    return false;
  }

  Graph& graph_;
  Diagnostics& diagnostics_;
  Declared declared_;
  std::vector<State> states_;
  std::unordered_map<ValueId, Tensor> computed_;
};

}  // namespace

void infer_shapes(Graph& graph, Diagnostics& diagnostics, Declared declared) {
  Inference(graph, diagnostics, declared).run();
}

std::vector<TypedShape> infer_node(const Graph& graph, const Node& node) {
  Diagnostics diagnostics;
  const Operator* op = check_node(node, diagnostics);
  diagnostics.raise_if_any();
  return op->infer(context_of(graph, node));
}

}  // namespace tilewright
