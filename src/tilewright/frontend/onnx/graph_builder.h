// From the plain content of an ONNX file to a Graph: names resolved, dimensions bound, nodes ordered,
// converted to opset 17 and typed one after another, so that a problem in one place does not hide those in
// others.
#pragma once

#include <functional>

#include "tilewright/base/error.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/proto/onnx_model.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

// The graph is complete only if `diagnostics` has no error afterwards. Takes the tensors out of `model`.
Graph build_onnx_graph(OnnxModel model, const OnnxOptions& options, Diagnostics& diagnostics);

// The graph inputs of the model that are not initializers.
std::vector<const OnnxValueInfo*> open_inputs(const OnnxModel& model);
// The name under which a dynamic dimension is bound: its symbol, or INPUT.AXIS without one.
std::string dimension_name(const OnnxValueInfo& info, size_t axis);

// Those inputs, their dimensions bound by `options`; unbound ones
// are reported in one error, and their input has no value in the result.
struct BoundInput {
  std::string name;
  std::optional<ElementType> type;
  std::optional<Shape> shape;
};
std::vector<BoundInput> bind_onnx_inputs(const OnnxModel& model, const OnnxOptions& options,
                                         Diagnostics& diagnostics);

// The names that a node reads: its inputs, and what its bodies read from around it.
std::vector<std::string> names_read(const OnnxNode& node);

// Makes these the outputs: values, or first outputs of nodes; the nodes, inputs and initializers that they do
// not need are dropped. Reports names that are neither. Nothing happens if the list is empty.
void cut_at_outputs(OnnxModel& model, const std::vector<std::string>& outputs, Diagnostics& diagnostics);

// Node indices in an order in which every node follows those it reads from, as close to the file's as
// possible. Reports names that nothing produces, names produced twice, and cycles; the nodes concerned are
// left out. `is_around`: whether a name exists outside of the graph.
std::vector<size_t> order_onnx_nodes(const OnnxGraph& graph,
                                     const std::function<bool(const std::string&)>& is_around,
                                     Diagnostics& diagnostics);

}  // namespace tilewright
