// The graph that execution_form builds: values in up to two forms, and the nodes that follow the form of
// their inputs.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

class FormBuilder {
 public:
  // `graph`, whose values keep their ids, must outlive the builder.
  explicit FormBuilder(const Graph& graph);

  // The id of the value's channels-last form, made on demand. For values of three axes and more.
  ValueId last(ValueId id);
  // A new id for it, which the node that is added next computes.
  ValueId define_last(ValueId id);
  ValueId constant(Tensor tensor);
  // Whether the value exists, so far, with channels last alone.
  bool only_last(ValueId id) const;

  // A node as it is: its inputs in their declared form.
  void keep(Node node);
  // A node whose inputs exist already.
  void add(Node node) { form_.nodes.push_back(std::move(node)); }
  // `y` is `x` with its channels, seen as a matrix of `groups` rows, transposed; both with channels last.
  void shuffle_channels(const Node& origin, ValueId x, int64_t groups, ValueId y);
  // Adds the node in the form of its inputs, if that is channels-last alone and the operator can run on it.
  bool follow(const Node& node);

  Graph finish();

 private:
  void need_plain(ValueId id);
  ValueId channels_last_constant(ValueId id, int rank);
  ValueId constant_integers(const std::vector<int64_t>& values);
  void add_view_or_transpose(ValueId from, const std::vector<int>& axes, ValueId to);
  bool follow_element_wise(Node node);
  bool follow_transpose(const Node& node);
  bool follow_axis(Node node, int64_t fallback);
  bool follow_reduction(Node node);
  bool follow_slice(Node node);
  bool follow_pad_or_resize(Node node);
  void add_following(Node node);

  const Graph& graph_;
  Graph form_;
  std::vector<bool> plain_;    // by value of graph_: exists as declared
  std::vector<ValueId> last_;  // by value of graph_: its channels-last form, or kNoValue
  std::map<std::pair<ValueId, int>, ValueId> constants_;  // with channels last, by constant and rank
};

}  // namespace tilewright
