// Every edit updates two tables, the producer of each value and its readers. A node stands among the readers
// once per use, so only_reader() sees that x + x reads x twice. Nodes are erased and sorted in finish()
// alone.
#include "tilewright/transform/edit/graph_editor.h"

#include <algorithm>
#include <utility>

namespace tilewright {

GraphEditor::GraphEditor(Graph graph)
    : graph_(std::move(graph)),
      producer_(graph_.producers()),
      readers_(graph_.consumers()),
      dead_(graph_.nodes.size(), false) {}

NodeId GraphEditor::only_reader(ValueId id) const {
  if (id == kNoValue || readers(id).size() != 1 || graph_.is_output(id)) return kNoNode;
  return readers(id).front();
}

NodeId GraphEditor::sole_producer(NodeId id, int index, const char* onnx_op) const {
  const ValueId value = node(id).input(index);
  const NodeId source = producer(value);
  if (source == kNoNode || !node(source).is(onnx_op) || only_reader(value) != id) return kNoNode;
  return source;
}

ValueId GraphEditor::add_constant(const std::string& name, Tensor tensor) {
  const ValueId id = graph_.add_constant(name, std::move(tensor));
  producer_.push_back(kNoNode);
  readers_.emplace_back();
  return id;
}

ValueId GraphEditor::add_value(const std::string& name, ElementType type, Shape shape) {
  const ValueId id = graph_.add_value(name, type, std::move(shape));
  producer_.push_back(kNoNode);
  readers_.emplace_back();
  return id;
}

NodeId GraphEditor::insert(const std::string& name, const std::string& op, std::vector<ValueId> inputs,
                           std::vector<ValueId> outputs) {
  graph_.add_node(name, op, {}, {});
  dead_.push_back(false);
  unsorted_ = true;
  const NodeId id = node_count() - 1;
  set_inputs(id, std::move(inputs));
  mutable_node(id).outputs.assign(outputs.size(), kNoValue);
  for (size_t k = 0; k < outputs.size(); ++k) set_output(id, int(k), outputs[k]);
  return id;
}

void GraphEditor::forget_read(NodeId id, ValueId value) {
  if (value == kNoValue) return;
  std::vector<NodeId>& list = readers_[size_t(value)];
  list.erase(std::find(list.begin(), list.end(), id));
}

void GraphEditor::set_input(NodeId id, int index, ValueId value) {
  std::vector<ValueId>& inputs = mutable_node(id).inputs;
  if (index >= int(inputs.size())) inputs.resize(size_t(index) + 1, kNoValue);
  forget_read(id, inputs[size_t(index)]);
  inputs[size_t(index)] = value;
  if (value != kNoValue) readers_[size_t(value)].push_back(id);
}

void GraphEditor::set_inputs(NodeId id, std::vector<ValueId> inputs) {
  for (const ValueId old : node(id).inputs) forget_read(id, old);
  for (const ValueId value : inputs) {
    if (value != kNoValue) readers_[size_t(value)].push_back(id);
  }
  mutable_node(id).inputs = std::move(inputs);
}

void GraphEditor::set_output(NodeId id, int index, ValueId value) {
  ValueId& output = mutable_node(id).outputs[size_t(index)];
  if (output != kNoValue && producer_[size_t(output)] == id) producer_[size_t(output)] = kNoNode;
  output = value;
  if (value != kNoValue) producer_[size_t(value)] = id;
}

void GraphEditor::redirect_readers(ValueId from, ValueId to) {
  const std::vector<NodeId> readers = std::exchange(readers_[size_t(from)], {});
  for (const NodeId reader : readers) {
    std::vector<ValueId>& inputs = mutable_node(reader).inputs;
    std::replace(inputs.begin(), inputs.end(), from, to);
    readers_[size_t(to)].push_back(reader);
  }
}

void GraphEditor::kill(NodeId id) {
  set_inputs(id, {});
  for (size_t k = 0; k < node(id).outputs.size(); ++k) set_output(id, int(k), kNoValue);
  dead_[size_t(id)] = true;
}

bool GraphEditor::bypass(NodeId id, int index) {
  const std::vector<ValueId>& outputs = node(id).outputs;
  for (size_t k = 1; k < outputs.size(); ++k) {
    if (outputs[k] != kNoValue && is_read(outputs[k])) return false;
  }
  const ValueId in = node(id).input(index), out = outputs.front();
  if (in == kNoValue || value(in).type != value(out).type || value(in).shape != value(out).shape)
    return false;
  if (!graph_.is_output(out)) {
    kill(id);
    redirect_readers(out, in);
    return true;
  }
  const NodeId source = producer(in);
  if (source == kNoNode || graph_.is_output(in)) return false;
  kill(id);
  const std::vector<ValueId>& written = node(source).outputs;
  const auto slot = std::find(written.begin(), written.end(), in) - written.begin();
  set_output(source, int(slot), out);
  redirect_readers(in, out);
  return true;
}

void GraphEditor::absorb(NodeId first, NodeId last) {
  const ValueId out = node(last).outputs.front();
  kill(last);
  set_output(first, 0, out);
}

Graph GraphEditor::finish() && {
  graph_.erase_nodes(dead_);
  if (unsorted_) graph_.sort_topologically();
  graph_.remove_dead();
  return std::move(graph_);
}

}  // namespace tilewright
