// One walk in topological order: a folded result can make its readers foldable. The host's kernels compute
// the results. For a large one, a bounded search forwards finds out whether all that reads it takes it as a
// weight.
#include "tilewright/transform/fold/fold_constants.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tilewright/graph/operator_class.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {
namespace {

class Folder {
 public:
  Folder(Graph graph, const FoldLimits& limits) : editor_(std::move(graph)), limits_(limits) {}

  Graph run() && {
    for (NodeId id = 0; id < editor_.node_count(); ++id) {
      if (fold_shape(id)) continue;
      if (is_foldable(id) && is_small_enough(id)) fold(id);
    }
    return std::move(editor_).finish();
  }

 private:
  bool writes_graph_output(const Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](ValueId id) { return id != kNoValue && editor_.graph().is_output(id); });
  }

  void replace(NodeId id, std::vector<Tensor> results) {
    const std::vector<ValueId> outputs = editor_.node(id).outputs;
    editor_.kill(id);
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k] == kNoValue) continue;
      const std::string name = editor_.value(outputs[k]).name;
      folded_bytes_ += int64_t(results[k].size_bytes());
      editor_.redirect_readers(outputs[k], editor_.add_constant(name, std::move(results[k])));
    }
  }

  // ONNX Shape-15: attributes start and end select dimensions, negative ones count from the last.
  bool fold_shape(NodeId id) {
    const Node& node = editor_.node(id);
    if ((!node.is("Shape") && !node.is("Size")) || writes_graph_output(node)) return false;
    const Shape& shape = editor_.value(node.input(0)).shape;
    if (node.is("Size")) {
      replace(id, {Tensor::scalar<int64_t>(shape.element_count())});
      return true;
    }
    const int64_t rank = shape.rank();
    const auto position = [&](int64_t p) { return std::clamp<int64_t>(p < 0 ? p + rank : p, 0, rank); };
    const int64_t start = position(node.int_or("start", 0)), end = position(node.int_or("end", rank));
    std::vector<int64_t> dims;
    for (int64_t axis = start; axis < end; ++axis) dims.push_back(shape[int(axis)]);
    replace(id, {Tensor(Shape{int64_t(dims.size())}, std::span<const int64_t>(dims))});
    return true;
  }

  bool is_foldable(NodeId id) const {
    const Node& node = editor_.node(id);
    if (!node.domain.empty() || node.is("DequantizeLinear") || writes_graph_output(node)) {
      return false;
    }
    return !node.outputs.empty() && std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
      return input == kNoValue || editor_.graph().is_constant(input);
    });
  }

  // A small result is folded whatever reads it, since it costs little memory; a large one only as a weight.
  bool is_small_enough(NodeId id) const {
    const Node& node = editor_.node(id);
    int64_t in = 0, out = 0;
    for (const ValueId input : node.inputs) in += input == kNoValue ? 0 : editor_.value(input).size_bytes();
    for (const ValueId output : node.outputs)
      out += output == kNoValue ? 0 : editor_.value(output).size_bytes();
    if (folded_bytes_ + out > limits_.total_bytes) return false;
    if (out <= limits_.result_bytes || out <= limits_.growth * in) return true;
    int readers_left = kMostReaders;
    return out <= limits_.weight_bytes &&
           std::all_of(node.outputs.begin(), node.outputs.end(),
                       [&](ValueId output) { return output == kNoValue || is_weight(output, readers_left); });
  }

  bool is_weight(ValueId id, int& readers_left) const {
    const std::vector<NodeId>& readers = editor_.readers(id);
    readers_left -= int(readers.size());
    return readers_left >= 0 && !readers.empty() &&
           std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
             const Node& node = editor_.node(reader);
             if (operator_class(node) == OperatorClass::kProduct || node.is("BatchNormalization"))
               return node.input(0) != id;
             if (!node.domain.empty() || node.outputs.size() != 1 ||
                 editor_.graph().is_output(node.outputs[0])) {
               return false;
             }
             const bool from_constants =
                 std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
                   return input == id || input == kNoValue || editor_.graph().is_constant(input);
                 });
             return from_constants && is_weight(node.outputs[0], readers_left);
           });
  }

  void fold(NodeId id) {
    const Node& node = editor_.node(id);
    std::vector<const Tensor*> inputs;
    for (int k = 0; k < int(node.inputs.size()); ++k) {
      inputs.push_back(editor_.graph().constant_input(node, k));
    }
    std::vector<Tensor> results;
    try {
      results = evaluate(editor_.graph(), node, inputs);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUnsupported) throw;
      return;
    }
    replace(id, std::move(results));
  }

  static constexpr int kMostReaders = 1000;  // looked at for one answer
  GraphEditor editor_;
  FoldLimits limits_;
  int64_t folded_bytes_ = 0;
};

}  // namespace

Graph fold_constants(Graph graph, const FoldLimits& limits) { return Folder(std::move(graph), limits).run(); }

}  // namespace tilewright
