// Values of a graph as elements of the network's tensors: nodes that only move elements change nothing else.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/pipeline/network/tensor_assembly.h"

namespace tilewright::pipeline {

// Whether every element of a node's result is an element of what it reads, or a constant: views, copies,
// movement, Concat, Pad, and Resize to the nearest element.
bool moves_elements(const Node& node);

// A value's axes as those of a tensor: [1, channels, rows, columns], [1, channels, columns] or [1, channels];
// nullopt: more axes, several images, or no elements.
std::optional<TensorShape> map_shape(const Shape& shape);

class ValueViews {
 public:
  ValueViews(const Graph& graph, Network& network, TensorAssembly& assembly)
      : graph_(graph), network_(network), assembly_(assembly) {}

  bool known(ValueId value) const { return views_.count(value) != 0; }
  // `value` has the elements of `tensor` in the order of channels, rows, columns.
  void bind(ValueId value, int tensor) { views_[value] = {tensor, std::nullopt}; }
  // `value` has them as `like` has those of its whole tensor, which has the same shape.
  void bind_like(ValueId value, int tensor, ValueId like);

  // The result of a node that moves elements, all of whose data are known or constant.
  void move(const Node& node);

  // The tensor that has the elements of a value and no others, in whatever order; -1: there is none.
  int whole_tensor(ValueId value) const;
  // The same, where the order is that of channels, rows, columns.
  int ordered_tensor(ValueId value) const {
    const View& view = views_.at(value);
    return view.elements ? -1 : view.tensor;
  }
  // For each element of such a value, where it lies in that tensor (row, column, channel order).
  std::vector<int64_t> places(ValueId value) const;
  // The tensor that is a value, or what it gives if it is broadcast to `shape`; made if there is none yet,
  // for the node `name`. -1: its elements lie too wildly, or it has too many axes.
  int map(ValueId value, const std::string& name, const Shape& shape);
  int map(ValueId value, const std::string& name) { return map(value, name, graph_.value(value).shape); }

 private:
  struct View {
    int tensor = -1;
    std::optional<std::vector<int32_t>> elements;  // absent: the tensor's, by channels, rows, columns
  };
  std::vector<int32_t> elements(ValueId value) const;

  const Graph& graph_;
  Network& network_;
  TensorAssembly& assembly_;
  std::map<ValueId, View> views_;
};

}  // namespace tilewright::pipeline
