// To move a Transpose after a node, the node reads what lies before it, the node's axes, pads and constants
// are permuted back, and every output gets a Transpose of its own. Transposes that meet are composed, and
// identities dropped.
#include "tilewright/transform/normalize/cancel_transposes.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/graph/operator_class.h"
#include "tilewright/transform/edit/graph_editor.h"
#include "tilewright/transform/edit/permutation.h"

namespace tilewright {
namespace {

// One output whose elements follow those of the first input, one by one; everything else is a scalar.
bool is_elementwise_unary(const Graph& graph, const Node& node) {
  const OperatorClass kind = operator_class(node);
  const bool listed =
      kind == OperatorClass::kElementwise || kind == OperatorClass::kConversion || node.is("Identity");
  return listed && node.outputs.size() == 1 && node.has_input(0) &&
         std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId id) {
           return id == kNoValue || graph.value(id).shape.element_count() == 1;
         });
}

enum class Reach {
  kEverywhere,     // also where a Transpose has several readers and is duplicated
  kNeverCostlier,  // only where the number of transposes and the elements they move cannot grow
};

class Sinker {
 public:
  Sinker(Graph graph, Reach reach) : editor_(std::move(graph)), reach_(reach) {}

  Graph run() && {
    const NodeId count = editor_.node_count();
    // Nodes come in topological order and an inserted Transpose is met through the values it writes, so one
    // walk carries a Transpose as far as it goes.
    for (NodeId id = 0; id < count; ++id) {
      if (editor_.node(id).is("Transpose")) {
        merge(id);
      } else {
        sink(id);
      }
    }
    return std::move(editor_).finish();
  }

 private:
  int rank(ValueId id) const { return editor_.value(id).shape.rank(); }

  // The permutation of the Transpose that writes `id`.
  std::optional<Permutation> incoming(ValueId id) const {
    const NodeId source = editor_.producer(id);
    if (source == kNoNode || !editor_.node(source).is("Transpose")) return {};
    return permutation_of(editor_.node(source), rank(id));
  }
  ValueId before_transpose(ValueId id) const { return editor_.node(editor_.producer(id)).input(0); }

  void merge(NodeId id) {
    const ValueId input = editor_.node(id).input(0);
    Permutation perm = permutation_of(editor_.node(id), rank(input));
    if (const std::optional<Permutation> first = incoming(input)) {
      perm = then(*first, perm);
      editor_.mutable_node(id).attributes["perm"] = perm;
      editor_.set_input(id, 0, before_transpose(input));
    }
    if (is_identity(perm)) editor_.bypass(id);
  }

  void sink(NodeId id) {
    const Node& node = editor_.node(id);
    if (!node.domain.empty() || node.outputs.empty() || !node.has_input(0)) return;
    if (reach_ == Reach::kNeverCostlier && !is_never_costlier(id)) return;
    if (is_elementwise_unary(editor_.graph(), node)) return sink_data_input(id);
    if (node.is("Concat")) return sink_concat(id);
    if (operator_class(node) == OperatorClass::kBroadcast) return sink_broadcast(id);
    if (node.is("Softmax") || node.is("LogSoftmax")) return sink_axis(id, -1);
    if (node.is("Split")) return sink_axis(id, 0);
    if (node.is("Pad")) return sink_pad(id);
    if (node.is("Slice")) return sink_slice(id);
    if (node.is("ReduceMean") || node.is("ReduceMax") || node.is("ReduceMin")) return sink_reduction(id);
  }

  // All transposes in front of the node end with it, and the one after it moves no more than they did.
  bool is_never_costlier(NodeId id) const {
    const Node& node = editor_.node(id);
    int64_t before = 0;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const ValueId input = node.inputs[k];
      if (input == kNoValue || editor_.graph().is_constant(input)) continue;
      if (editor_.only_reader(input) != id) return false;
      before += editor_.value(input).shape.element_count();
    }
    return node.outputs.size() == 1 && editor_.value(node.outputs[0]).shape.element_count() <= before;
  }

  // The node reads the data before the Transpose; every output gets a Transpose by `perm` of its own.
  void transpose_outputs(NodeId id, const Permutation& perm) {
    for (size_t k = 0; k < editor_.node(id).outputs.size(); ++k) {
      const ValueId out = editor_.node(id).outputs[k];
      if (out == kNoValue) continue;
      const Value value = editor_.value(out);
      const ValueId moved =
          editor_.add_value(value.name + "_untransposed", value.type, permuted(value.shape, inverse(perm)));
      editor_.set_output(id, int(k), moved);
      const NodeId transpose =
          editor_.insert(editor_.node(id).name + "_transpose", "Transpose", {moved}, {out});
      editor_.mutable_node(transpose).attributes["perm"] = perm;
      if (is_identity(perm)) editor_.bypass(transpose);
    }
  }

  void sink_data_input(NodeId id) {
    const ValueId input = editor_.node(id).input(0);
    const std::optional<Permutation> perm = incoming(input);
    if (!perm) return;
    editor_.set_input(id, 0, before_transpose(input));
    transpose_outputs(id, *perm);
  }

  // The one permutation that all non-constant inputs come through; nullopt when there is none.
  std::optional<Permutation> common_permutation(const Node& node) const {
    std::optional<Permutation> common;
    const int out_rank = rank(node.outputs[0]);
    for (const ValueId input : node.inputs) {
      if (input == kNoValue) return {};
      if (editor_.graph().is_constant(input)) {
        if (bit_width(editor_.value(input).type) < 8) return {};
        continue;
      }
      const std::optional<Permutation> perm = incoming(input);
      if (!perm || int(perm->size()) != out_rank || (common && *common != *perm)) return {};
      common = perm;
    }
    return common;
  }

  // All inputs as they are before the Transpose; constants are transposed back.
  void untranspose_inputs(NodeId id, const Permutation& perm) {
    for (int k = 0; k < int(editor_.node(id).inputs.size()); ++k) {
      const ValueId input = editor_.node(id).input(k);
      if (!editor_.graph().is_constant(input)) {
        editor_.set_input(id, k, before_transpose(input));
        continue;
      }
      const Tensor& constant = *editor_.value(input).constant;
      if (constant.size() == 1 && constant.shape().rank() == 0) continue;
      std::vector<int64_t> dims(perm.size() - size_t(constant.shape().rank()), 1);
      dims.insert(dims.end(), constant.shape().begin(), constant.shape().end());
      Tensor moved = transposed(constant.reshaped(Shape(dims)), inverse(perm));
      const std::string name = editor_.value(input).name + "_untransposed";
      editor_.set_input(id, k, editor_.add_constant(name, std::move(moved)));
    }
  }

  void sink_broadcast(NodeId id) {
    const std::optional<Permutation> perm = common_permutation(editor_.node(id));
    if (!perm) return;
    for (const ValueId input : editor_.node(id).inputs) {
      if (rank(input) > int(perm->size())) return;
    }
    untranspose_inputs(id, *perm);
    transpose_outputs(id, *perm);
  }

  void sink_concat(NodeId id) {
    const std::optional<Permutation> perm = common_permutation(editor_.node(id));
    if (!perm) return;
    const int axis = normalize_axis(editor_.node(id).int_or("axis", 0), int(perm->size()));
    untranspose_inputs(id, *perm);
    editor_.mutable_node(id).attributes["axis"] = (*perm)[size_t(axis)];
    transpose_outputs(id, *perm);
  }

  void sink_axis(NodeId id, int64_t default_axis) {
    const ValueId input = editor_.node(id).input(0);
    const std::optional<Permutation> perm = incoming(input);
    if (!perm) return;
    const int axis = normalize_axis(editor_.node(id).int_or("axis", default_axis), rank(input));
    editor_.mutable_node(id).attributes["axis"] = (*perm)[size_t(axis)];
    sink_data_input(id);
  }

  ValueId integers(const std::string& name, const std::vector<int64_t>& values) {
    return editor_.add_constant(name,
                                Tensor(Shape{int64_t(values.size())}, std::span<const int64_t>(values)));
  }

  void sink_pad(NodeId id) {
    const Node& node = editor_.node(id);
    const std::optional<Permutation> perm = incoming(node.input(0));
    const Tensor* amounts = editor_.graph().constant_input(node, 1);
    if (!perm || amounts == nullptr || node.has_input(3) || amounts->size() != 2 * int64_t(perm->size()))
      return;
    const std::vector<int64_t> pads = amounts->to_integers();
    const auto middle = pads.begin() + int64_t(perm->size());
    std::vector<int64_t> moved = permuted({pads.begin(), middle}, inverse(*perm));
    const std::vector<int64_t> ends = permuted({middle, pads.end()}, inverse(*perm));
    moved.insert(moved.end(), ends.begin(), ends.end());
    editor_.set_input(id, 1, integers(node.name + "_pads", moved));
    sink_data_input(id);
  }

  void sink_slice(NodeId id) {
    const Node& node = editor_.node(id);
    const std::optional<Permutation> perm = incoming(node.input(0));
    const Tensor* starts = editor_.graph().constant_input(node, 1);
    const Tensor* axes = editor_.graph().constant_input(node, 3);
    if (!perm || starts == nullptr || (axes == nullptr && node.has_input(3))) return;
    std::vector<int64_t> moved;
    for (int64_t k = 0; k < starts->size(); ++k) {
      const int axis = normalize_axis(axes == nullptr ? k : axes->integer_at(k), int(perm->size()));
      moved.push_back((*perm)[size_t(axis)]);
    }
    ValueId list = integers(node.name + "_axes", moved);
    if (editor_.value(node.input(1)).type ==
        ElementType::kI32) {  // ONNX: starts, ends and axes have one type
      list = editor_.add_constant(node.name + "_axes", editor_.value(list).constant->cast(ElementType::kI32));
    }
    editor_.set_input(id, 3, list);
    sink_data_input(id);
  }

  void sink_reduction(NodeId id) {
    const Node& node = editor_.node(id);
    const ValueId input = node.input(0);
    const std::optional<Permutation> perm = incoming(input);
    if (!perm || !node.has("axes") || node.inputs.size() > 1) return;
    std::vector<int64_t> axes;
    std::vector<bool> reduced(perm->size(), false);  // by axis before the Transpose
    for (const int64_t axis : node.ints_or("axes", {})) {
      axes.push_back((*perm)[size_t(normalize_axis(axis, int(perm->size())))]);
      reduced[size_t(axes.back())] = true;
    }
    Permutation result = *perm;
    if (node.int_or("keepdims", 1) == 0) {
      std::vector<int64_t> position(perm->size());  // among the axes that stay
      for (size_t axis = 0, next = 0; axis < perm->size(); ++axis) {
        position[axis] = reduced[axis] ? -1 : int64_t(next++);
      }
      result.clear();
      for (const int64_t axis : *perm) {
        if (!reduced[size_t(axis)]) result.push_back(position[size_t(axis)]);
      }
    }
    editor_.mutable_node(id).attributes["axes"] = axes;
    editor_.set_input(id, 0, before_transpose(input));
    transpose_outputs(id, result);
  }

  GraphEditor editor_;
  Reach reach_;
};

// Elements that transposes move, and how many there are.
std::pair<int64_t, int64_t> cost(const Graph& graph) {
  std::pair<int64_t, int64_t> total{0, 0};
  for (const Node& node : graph.nodes) {
    if (!node.is("Transpose")) continue;
    total.first += graph.value(node.outputs[0]).shape.element_count();
    ++total.second;
  }
  return total;
}

}  // namespace

Graph cancel_transposes(Graph graph) {
  const auto [elements, count] = cost(graph);
  if (count == 0) return graph;
  for (const Reach reach : {Reach::kEverywhere, Reach::kNeverCostlier}) {
    Graph sunk = Sinker(graph, reach).run();
    const auto [sunk_elements, sunk_count] = cost(sunk);
    if (sunk_elements <= elements && sunk_count <= count) return sunk;
  }
  return graph;
}

}  // namespace tilewright
