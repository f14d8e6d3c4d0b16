// The rules of the operators that follow: which of their axes and constants change with the layout.
#include "tilewright/host/form_builder.h"

#include <algorithm>

#include "tilewright/host/execution_form.h"
#include "tilewright/host/image_layout.h"
#include "tilewright/host/strided_copy.h"

namespace tilewright {
namespace {

bool is_any_of(const Node& node, std::initializer_list<const char*> operators) {
  return node.domain.empty() && std::ranges::any_of(operators, [&](const char* op) { return node.op == op; });
}

bool is_element_wise(const Node& node) {
  return is_any_of(node, {"Abs",
                          "Acos",
                          "Acosh",
                          "Asin",
                          "Asinh",
                          "Atan",
                          "Atanh",
                          "Ceil",
                          "Clip",
                          "Cos",
                          "Cosh",
                          "Elu",
                          "Erf",
                          "Exp",
                          "Floor",
                          "HardSigmoid",
                          "HardSwish",
                          "LeakyRelu",
                          "Log",
                          "Neg",
                          "Not",
                          "Reciprocal",
                          "Relu",
                          "Round",
                          "Selu",
                          "Sigmoid",
                          "Sign",
                          "Sin",
                          "Sinh",
                          "Softplus",
                          "Softsign",
                          "Sqrt",
                          "Tan",
                          "Tanh",
                          "ThresholdedRelu",
                          "Add",
                          "And",
                          "Div",
                          "Equal",
                          "Greater",
                          "GreaterOrEqual",
                          "Less",
                          "LessOrEqual",
                          "Max",
                          "Mean",
                          "Min",
                          "Mul",
                          "Or",
                          "Pow",
                          "PRelu",
                          "Sub",
                          "Sum",
                          "Where",
                          "Xor",
                          "Cast",
                          "Identity",
                          "QuantizeLinear",
                          "DequantizeLinear"});
}

bool is_reduction(const Node& node) {
  return is_any_of(node, {"ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceL1",
                          "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"});
}

// Where an axis of the declared form is with channels last.
int last_axis_of(int axis, int rank) { return axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1; }

// A one-axis constant of `count` or 2 `count` entries, one per axis, in the order of the channels-last axes.
Tensor entries_permuted(const Tensor& list, int rank) {
  const std::vector<int> axes = channels_last_axes(rank);
  Tensor result(list.type(), list.shape());
  const size_t width = list.size_bytes() / size_t(std::max<int64_t>(list.size(), 1));
  for (int64_t half = 0; half < list.size() / rank; ++half) {
    for (int k = 0; k < rank; ++k) {
      const std::byte* from = list.bytes().data() + size_t(half * rank + axes[size_t(k)]) * width;
      std::copy(from, from + width, result.mutable_bytes().data() + size_t(half * rank + k) * width);
    }
  }
  return result;
}

}  // namespace

FormBuilder::FormBuilder(const Graph& graph)
    : graph_(graph), form_(graph), plain_(graph.values.size(), false), last_(graph.values.size(), kNoValue) {
  form_.nodes.clear();
  for (const ValueId id : graph.inputs) plain_[size_t(id)] = true;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    if (graph.is_constant(ValueId(id))) plain_[id] = true;
  }
}

bool FormBuilder::only_last(ValueId id) const {
  return id != kNoValue && last_[size_t(id)] != kNoValue && !plain_[size_t(id)];
}

ValueId FormBuilder::define_last(ValueId id) {
  const Value& value = graph_.value(id);
  form_.values.push_back(
      {value.name + " (channels last)", value.type, channels_last(value.shape), std::nullopt});
  return last_[size_t(id)] = ValueId(form_.values.size()) - 1;
}

void FormBuilder::add_view_or_transpose(ValueId from, const std::vector<int>& axes, ValueId to) {
  Node node;
  node.name = "layout of " + form_.value(to).name;
  node.inputs = {from};
  node.outputs = {to};
  if (keeps_order(form_.value(from).shape, axes)) {
    node.domain = kHostDomain;
    node.op = "View";
    node.attributes["shape"] = form_.value(to).shape.dims();
  } else {
    node.op = "Transpose";
    node.attributes["perm"] = std::vector<int64_t>(axes.begin(), axes.end());
  }
  add(std::move(node));
}

ValueId FormBuilder::channels_last_constant(ValueId id, int rank) {
  const auto [entry, fresh] = constants_.try_emplace({id, rank}, kNoValue);
  if (!fresh) return entry->second;
  const Tensor& tensor = *graph_.value(id).constant;
  std::vector<int64_t> dims(size_t(rank - tensor.shape().rank()), 1);
  dims.insert(dims.end(), tensor.shape().begin(), tensor.shape().end());
  Tensor moved = transposed(tensor.reshaped(Shape(std::move(dims))), channels_last_axes(rank));
  form_.values.push_back(
      {graph_.value(id).name + " (channels last)", moved.type(), moved.shape(), std::move(moved)});
  return entry->second = ValueId(form_.values.size()) - 1;
}

ValueId FormBuilder::constant(Tensor tensor) {
  form_.values.push_back({"constant", tensor.type(), tensor.shape(), std::move(tensor)});
  return ValueId(form_.values.size()) - 1;
}

ValueId FormBuilder::constant_integers(const std::vector<int64_t>& values) {
  return constant(Tensor(Shape{int64_t(values.size())}, std::span<const int64_t>(values)));
}

ValueId FormBuilder::last(ValueId id) {
  if (graph_.is_constant(id)) return channels_last_constant(id, graph_.value(id).shape.rank());
  if (last_[size_t(id)] == kNoValue) {
    const ValueId to = define_last(id);
    add_view_or_transpose(id, channels_last_axes(graph_.value(id).shape.rank()), to);
  }
  return last_[size_t(id)];
}

void FormBuilder::need_plain(ValueId id) {
  if (id == kNoValue || plain_[size_t(id)] || last_[size_t(id)] == kNoValue) return;
  plain_[size_t(id)] = true;
  add_view_or_transpose(last_[size_t(id)], channels_first_axes(graph_.value(id).shape.rank()), id);
}

void FormBuilder::keep(Node node) {
  for (const ValueId id : node.inputs) need_plain(id);
  for (const ValueId id : node.outputs) {
    if (id != kNoValue) plain_[size_t(id)] = true;
  }
  add(std::move(node));
}

Graph FormBuilder::finish() {
  for (const ValueId id : graph_.outputs) need_plain(id);
  return std::move(form_);
}

void FormBuilder::shuffle_channels(const Node& origin, ValueId x, int64_t groups, ValueId y) {
  const ValueId from = last(x);
  const Shape shape = form_.value(from).shape;
  const int64_t channels = shape[shape.rank() - 1], pixels = shape.element_count() / channels;
  const auto step = [&](const std::string& op, const std::string& domain, ValueId in, ValueId out) -> Node& {
    Node& node = form_.nodes.emplace_back();
    node.name = origin.name;
    node.op = op;
    node.domain = domain;
    node.inputs = {in};
    node.outputs = {out};
    return node;
  };
  const auto value = [&](Shape dims) {
    form_.values.push_back({origin.name, graph_.value(x).type, std::move(dims), std::nullopt});
    return ValueId(form_.values.size()) - 1;
  };
  const ValueId split = value(Shape{pixels, groups, channels / groups});
  const ValueId turned = value(Shape{pixels, channels / groups, groups});
  step("View", kHostDomain, from, split).attributes["shape"] = form_.value(split).shape.dims();
  step("Transpose", "", split, turned).attributes["perm"] = std::vector<int64_t>{0, 2, 1};
  const ValueId joined = define_last(y);
  step("View", kHostDomain, turned, joined).attributes["shape"] = form_.value(joined).shape.dims();
}

// Input 0 and the outputs with channels last; the rest of the node has been changed already.
void FormBuilder::add_following(Node node) {
  node.inputs[0] = last(node.inputs[0]);
  for (ValueId& id : node.outputs) {
    if (id != kNoValue) id = define_last(id);
  }
  add(std::move(node));
}

bool FormBuilder::follow(const Node& node) {
  const bool wanted = std::ranges::any_of(node.inputs, [&](ValueId id) { return only_last(id); });
  if (!wanted || node.outputs.empty()) return false;
  const auto same_rank = [&](ValueId id) {
    return id == kNoValue || graph_.value(id).shape.rank() == graph_.value(node.inputs[0]).shape.rank();
  };
  if (is_element_wise(node)) return follow_element_wise(node);
  if (!only_last(node.inputs[0]) && !node.is("Concat")) return false;
  if (is_reduction(node)) return follow_reduction(node);
  if (node.is("Transpose")) return follow_transpose(node);
  if (!std::ranges::all_of(node.outputs, same_rank)) return false;
  if (node.is("Concat") || node.is("Split")) return follow_axis(node, 0);
  if (is_any_of(node, {"Softmax", "LogSoftmax"})) return follow_axis(node, -1);
  if (node.is("Slice")) return follow_slice(node);
  if (node.is("Pad") || node.is("Resize")) return follow_pad_or_resize(node);
  return false;
}

bool FormBuilder::follow_element_wise(Node node) {
  const int rank = graph_.value(node.outputs[0]).shape.rank();
  if (rank < 3 || node.outputs.size() != 1) return false;
  const bool axis_matters = is_any_of(node, {"QuantizeLinear", "DequantizeLinear"});
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (id == kNoValue || graph_.value(id).shape.element_count() == 1) continue;
    const bool constant = graph_.is_constant(id) && bit_width(graph_.value(id).type) >= 8;
    if (axis_matters && i > 0) return false;
    if (graph_.value(id).shape.rank() != rank && !(constant && graph_.value(id).shape.rank() < rank))
      return false;
    if (bit_width(graph_.value(id).type) < 8) return false;
  }
  for (ValueId& id : node.inputs) {
    if (id == kNoValue) continue;
    const Shape& shape = graph_.value(id).shape;
    if (shape.element_count() == 1) {
      need_plain(id);
    } else {
      id = graph_.is_constant(id) ? channels_last_constant(id, rank) : last(id);
    }
  }
  node.outputs[0] = define_last(node.outputs[0]);
  add(std::move(node));
  return true;
}

// From the channels-last form directly to whatever form of the result costs nothing, else to the declared
// one.
bool FormBuilder::follow_transpose(const Node& node) {
  const ValueId x = node.inputs[0], y = node.outputs[0];
  const int rank = graph_.value(x).shape.rank();
  const std::vector<int64_t> listed = node.ints_or("perm", {});
  if (int(listed.size()) != rank || graph_.value(y).shape.rank() != rank) return false;
  std::vector<int> axes;  // of the channels-last input, for the declared output
  std::vector<bool> seen(size_t(rank), false);
  for (const int64_t axis : listed) {
    if (axis < 0 || axis >= rank || seen[size_t(axis)]) return false;
    seen[size_t(axis)] = true;
    axes.push_back(last_axis_of(int(axis), rank));
  }
  const Shape& stored = form_.value(last(x)).shape;
  if (permuted(stored, axes) != graph_.value(y).shape) return false;
  std::vector<int> to_last;  // the same for the channels-last output
  for (const int axis : channels_last_axes(rank)) to_last.push_back(axes[size_t(axis)]);
  if (!keeps_order(stored, axes) && keeps_order(stored, to_last)) {
    add_view_or_transpose(last(x), to_last, define_last(y));
  } else {
    plain_[size_t(y)] = true;
    add_view_or_transpose(last(x), axes, y);
  }
  return true;
}

bool FormBuilder::follow_axis(Node node, int64_t fallback) {
  const int rank = graph_.value(node.inputs[0]).shape.rank();
  const int64_t axis = node.int_or("axis", fallback);
  if (axis < -rank || axis >= rank) return false;
  node.attributes["axis"] = int64_t(last_axis_of(int(axis < 0 ? axis + rank : axis), rank));
  if (node.is("Concat")) {
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || graph_.value(id).shape.rank() != rank || bit_width(graph_.value(id).type) < 8)
        return false;
    }
    for (ValueId& id : node.inputs) {
      id = last(id);
    }
    node.outputs[0] = define_last(node.outputs[0]);
    add(std::move(node));
    return true;
  }
  add_following(std::move(node));
  return true;
}

bool FormBuilder::follow_reduction(Node node) {
  const int rank = graph_.value(node.inputs[0]).shape.rank();
  std::vector<int64_t> axes = node.ints_or("axes", {});
  if (node.has_input(1)) {
    const Tensor* list = graph_.constant_input(node, 1);
    if (list == nullptr) return false;
    axes = list->to_integers();
  }
  if (axes.empty()) return false;
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank) return false;
    axis = last_axis_of(int(axis < 0 ? axis + rank : axis), rank);
  }
  std::ranges::sort(axes);
  if (node.has_input(1)) {
    node.inputs[1] = constant_integers(axes);
  } else {
    node.attributes["axes"] = axes;
  }
  if (node.int_or("keepdims", 1) != 0) {
    if (graph_.value(node.outputs[0]).shape.rank() != rank) return false;
    add_following(std::move(node));
    return true;
  }
  // Without its spatial axes, N x C is the same in both forms.
  if (int(axes.size()) != rank - 2 || axes.front() != 1 || axes.back() != rank - 2) return false;
  node.inputs[0] = last(node.inputs[0]);
  plain_[size_t(node.outputs[0])] = true;
  add(std::move(node));
  return true;
}

bool FormBuilder::follow_slice(Node node) {
  const int rank = graph_.value(node.inputs[0]).shape.rank();
  const Tensor* starts = graph_.constant_input(node, 1);
  if (starts == nullptr) return false;
  std::vector<int64_t> axes(size_t(starts->size()));
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = int64_t(i);
  if (node.has_input(3)) {
    const Tensor* list = graph_.constant_input(node, 3);
    if (list == nullptr) return false;
    axes = list->to_integers();
  }
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank) return false;
    axis = last_axis_of(int(axis < 0 ? axis + rank : axis), rank);
  }
  node.inputs.resize(std::max<size_t>(node.inputs.size(), 4), kNoValue);
  node.inputs[3] = constant_integers(axes);
  add_following(std::move(node));
  return true;
}

// Their lists, constants all, have an entry or two for each axis.
bool FormBuilder::follow_pad_or_resize(Node node) {
  const int rank = graph_.value(node.inputs[0]).shape.rank();
  const bool pad = node.is("Pad");
  if (node.has("axes") || (pad && node.has_input(3))) return false;
  std::vector<size_t> lists;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (pad && i > 1) break;  // the padding's value
    if (!node.has_input(int(i))) continue;
    const Tensor* list = graph_.constant_input(node, int(i));
    if (list == nullptr) return false;
    if (list->size() == 0) continue;
    const bool per_end = pad || i == 1;
    if (list->shape().rank() != 1 || list->size() != (per_end ? 2 * rank : rank)) return false;
    lists.push_back(i);
  }
  for (const size_t i : lists) {
    node.inputs[i] = constant(entries_permuted(*graph_.value(node.inputs[i]).constant, rank));
  }
  add_following(std::move(node));
  return true;
}

}  // namespace tilewright
