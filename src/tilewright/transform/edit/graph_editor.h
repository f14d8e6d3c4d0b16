// A graph being edited: the producer and the readers of each value stay known through every edit, so a pass
// is one walk over the nodes.
#pragma once

#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

class GraphEditor {
 public:
  explicit GraphEditor(Graph graph);

  const Graph& graph() const { return graph_; }
  // Nodes keep their ids while the editor lives; killed ones stay in place, inserted ones come last.
  NodeId node_count() const { return NodeId(graph_.nodes.size()); }
  const Node& node(NodeId id) const { return graph_.nodes[size_t(id)]; }
  // For the operator name and the attributes; inputs and outputs are changed through the members below.
  Node& mutable_node(NodeId id) { return graph_.nodes[size_t(id)]; }
  bool is_dead(NodeId id) const { return dead_[size_t(id)]; }
  const Value& value(ValueId id) const { return graph_.value(id); }

  NodeId producer(ValueId id) const { return id == kNoValue ? kNoNode : producer_[size_t(id)]; }
  // Once per use; graph outputs are not readers.
  const std::vector<NodeId>& readers(ValueId id) const { return readers_[size_t(id)]; }
  bool is_read(ValueId id) const { return !readers(id).empty() || graph_.is_output(id); }
  // The node with the only use of the value; kNoNode when there are more, none, or it is a graph output.
  NodeId only_reader(ValueId id) const;
  // The live producer of input `index` of a node if it is the operator `onnx_op` and nothing else reads that
  // value; else kNoNode.
  NodeId sole_producer(NodeId id, int index, const char* onnx_op) const;

  ValueId add_constant(const std::string& name, Tensor tensor);
  ValueId add_value(const std::string& name, ElementType type, Shape shape);
  // Appends a node; the order is restored by finish().
  NodeId insert(const std::string& name, const std::string& op, std::vector<ValueId> inputs,
                std::vector<ValueId> outputs);
  // Lengthens the inputs if needed.
  void set_input(NodeId id, int index, ValueId value);
  void set_inputs(NodeId id, std::vector<ValueId> inputs);
  void set_output(NodeId id, int index, ValueId value);
  // All nodes that read `from` read `to`; graph outputs stay.
  void redirect_readers(ValueId from, ValueId to);
  void kill(NodeId id);
  // `id` computes nothing: its output 0 equals its input `index`. Removes it unless a graph output would lose
  // its name (its input is a graph input, a constant or another output) or another output is read.
  bool bypass(NodeId id, int index = 0);
  // `last` ends a chain that `first` now computes alone: `first` writes what `last` wrote, `last` is killed.
  void absorb(NodeId first, NodeId last);

  // Drops dead nodes and unused values; sorts if nodes were inserted.
  Graph finish() &&;

 private:
  void forget_read(NodeId id, ValueId value);

  Graph graph_;
  std::vector<NodeId> producer_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> dead_;
  bool unsorted_ = false;
};

}  // namespace tilewright
