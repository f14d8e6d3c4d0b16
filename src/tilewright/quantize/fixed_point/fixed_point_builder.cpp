// Asking for a value's other form adds a FixedEncode or FixedDecode node the first time. Constants are
// encoded here, and those that saturate give one warning with their number and the largest magnitude.
#include "tilewright/quantize/fixed_point/fixed_point_builder.h"

#include <fmt/format.h>

#include <cmath>

#include "tilewright/quantize/integerize/output_names.h"

namespace tilewright {

FixedPointBuilder::FixedPointBuilder(const Graph& source, int fraction, FixedPointReport& report)
    : source_(source),
      fraction_(fraction),
      report_(report),
      native_(source.values.size(), kNoValue),
      fixed_(source.values.size(), kNoValue) {
  graph_.name = source.name;
  report_.records.resize(source.nodes.size());
  for (ValueId old : source.inputs) {
    const Value& value = source.value(old);
    native_[size_t(old)] = graph_.add_input(value.name, value.type, value.shape);
  }
}

ValueId FixedPointBuilder::native(ValueId old) {
  if (old == kNoValue) return kNoValue;
  ValueId& id = native_[size_t(old)];
  if (id != kNoValue) return id;
  const Value& value = source_.value(old);
  if (value.constant) return id = graph_.add_constant(value.name, *value.constant);
  TILEWRIGHT_CHECK(has_fixed(old), "a value was not lowered before its reader: " + value.name);
  id = graph_.add_value(value.name, value.type, value.shape);
  graph_.add_node(value.name + "_decode", "FixedDecode", {fixed_[size_t(old)]}, {id}, kTilewrightDomain)
      .attributes["fraction"] = int64_t{fraction_};
  return id;
}

ValueId FixedPointBuilder::fixed(ValueId old) {
  if (has_fixed(old)) return fixed_[size_t(old)];
  const Value& value = source_.value(old);
  if (value.constant) {
    std::vector<double> numbers;
    for (int64_t i = 0; i < value.constant->size(); ++i) numbers.push_back(value.constant->number_at(i));
    Node owner;
    owner.name = value.name;
    fixed_[size_t(old)] = add_encoded(owner, "values", numbers, value.shape);
    return fixed_[size_t(old)];
  }
  const ValueId real = native(old), id = add_fixed_value(old);
  graph_.add_node(value.name + "_encode", "FixedEncode", {real}, {id}, kTilewrightDomain)
      .attributes["fraction"] = int64_t{fraction_};
  set_fixed(old, id);
  return id;
}

void FixedPointBuilder::set_fixed(ValueId old, ValueId id) {
  fixed_[size_t(old)] = id;
  meanings_.emplace_back(id, old);
}

ValueId FixedPointBuilder::add_fixed_value(ValueId old) {
  return add_fixed_value(source_.value(old).name + "_fixed", source_.value(old).shape);
}

ValueId FixedPointBuilder::add_fixed_value(const std::string& name, const Shape& shape) {
  return graph_.add_value(name, ElementType::kI32, shape);
}

ValueId FixedPointBuilder::add_encoded(const Node& node, const std::string& what,
                                       std::span<const double> numbers, const Shape& shape) {
  Tensor integers(ElementType::kI32, shape);
  const auto to = integers.mutable_data<int32_t>();
  const double low = std::ldexp(-1, 31 - fraction_), high = -low;
  int64_t saturated = 0;
  double largest = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    to[i] = fixed_encode(numbers[i], fraction_);
    if (numbers[i] >= low && numbers[i] < high) continue;
    ++saturated;
    largest = std::max(largest, std::abs(numbers[i]));
  }
  if (saturated > 0) {
    report_.warnings.push_back(fmt::format(
        "node '{}': {} of {} {} saturate at {}..{}, the largest magnitude is {:.6g}; use a smaller "
        "fraction",
        node.name, saturated, numbers.size(), what, low, high, largest));
  }
  return graph_.add_constant(node.name + "_" + what, std::move(integers));
}

ValueId FixedPointBuilder::add_shape_constant(const std::string& name, const Shape& shape) {
  return graph_.add_constant(name, Tensor(Shape{shape.rank()}, std::span<const int64_t>(shape.dims())));
}

Node& FixedPointBuilder::add_node(const Node& old_node, const std::string& op, std::vector<ValueId> inputs,
                                  ValueId output, const std::string& domain) {
  absorbed(old_node, op);
  return graph_.add_node(old_node.name, op, std::move(inputs), {output}, domain);
}

FixedPointRecord& FixedPointBuilder::record(const Node& old_node) {
  return report_.records[size_t(&old_node - source_.nodes.data())];
}

void FixedPointBuilder::absorbed(const Node& old_node, const std::string& op) {
  FixedPointRecord& noted = record(old_node);
  if (noted.fixed_op.empty() || noted.fixed_op == "Reshape") noted.fixed_op = op;
}

bool FixedPointBuilder::refuse(const Node& old_node, const std::string& reason) {
  std::string& noted = record(old_node).reason;
  if (noted.empty()) noted = reason;
  return false;
}

Graph FixedPointBuilder::finish() {
  for (ValueId old : source_.outputs) graph_.outputs.push_back(native(old));
  name_outputs(graph_, source_);
  for (const auto& [id, old] : meanings_) {
    report_.meanings.push_back({graph_.value(id).name, source_.value(old).name});
  }
  graph_.remove_dead();
  return std::move(graph_);
}

}  // namespace tilewright
