// The state of one lowering to wide fixed point: the source graph, the graph being built, and for each value
// of the source its float and its i32 form, made on demand.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"
#include "tilewright/tensor/fixed_point.h"

namespace tilewright {

class FixedPointBuilder {
 public:
  FixedPointBuilder(const Graph& source, int fraction, FixedPointReport& report);

  const Graph& source() const { return source_; }
  Graph& graph() { return graph_; }
  int fraction() const { return fraction_; }

  // The value in its own type; i32 forms are decoded.
  ValueId native(ValueId old);
  void set_native(ValueId old, ValueId id) { native_[size_t(old)] = id; }
  // The value as i32; float forms are encoded.
  ValueId fixed(ValueId old);
  void set_fixed(ValueId old, ValueId id);
  bool has_fixed(ValueId old) const { return old != kNoValue && fixed_[size_t(old)] != kNoValue; }

  // A value for the i32 form of `old`, or an intermediate one of its own shape.
  ValueId add_fixed_value(ValueId old);
  ValueId add_fixed_value(const std::string& name, const Shape& shape);
  // Encoded numbers as a constant; notes those that saturate as `what` of `node`.
  ValueId add_encoded(const Node& node, const std::string& what, std::span<const double> numbers,
                      const Shape& shape);
  ValueId add_shape_constant(const std::string& name, const Shape& shape);
  // A node that does the work of `old_node`, whose record names it.
  Node& add_node(const Node& old_node, const std::string& op, std::vector<ValueId> inputs, ValueId output,
                 const std::string& domain = kTilewrightDomain);
  // Notes that `old_node` was taken into the operator `op`.
  void absorbed(const Node& old_node, const std::string& op);
  // Notes why `old_node` stays in float (the first reason stays); returns false.
  bool refuse(const Node& old_node, const std::string& reason);

  // The graph with the outputs of the source under their names and without unused values; fills the report's
  // meanings. Call it once, at the end.
  Graph finish();

 private:
  FixedPointRecord& record(const Node& old_node);

  const Graph& source_;
  const int fraction_;
  FixedPointReport& report_;  // one record per node of the source until it is finished
  Graph graph_;
  std::vector<ValueId> native_, fixed_;
  std::vector<std::pair<ValueId, ValueId>> meanings_;  // i32 value, and the source value that it represents
};

}  // namespace tilewright
