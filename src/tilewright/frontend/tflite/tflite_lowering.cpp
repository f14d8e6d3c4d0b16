// One walk over the operators in the order of the file, which is the order of execution. Each is lowered on
// its own; what it throws is noted under its index, and the operators that read its results are skipped, so
// that one run finds the problems of all operators.
#include "tilewright/frontend/tflite/tflite_lowering.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tilewright/frontend/graph_values.h"
#include "tilewright/graph/operators/node_rules.h"

namespace tilewright {
namespace {

// Names of TFLite tensors list all operators that were fused, separated by semicolons.
std::string short_name(const std::string& name) { return name.substr(0, name.find(';')); }

constexpr int64_t kMaxDimension = int64_t{1} << 31;

}  // namespace

std::string where(const TfliteTensor& tensor) { return fmt::format("tensor '{}'", tensor.name); }

TfliteLowering::TfliteLowering(const TfliteModel& model, const TfliteOptions& options,
                               Diagnostics& diagnostics)
    : model_(model),
      options_(options),
      diagnostics_(diagnostics),
      typing_(graph_),
      states_(model.tensors.size()) {
  graph_.name = model.name.empty() ? "model" : model.name;
  for (const int64_t output : model_.outputs) states_[size_t(output)].is_output = true;
}

Graph TfliteLowering::run() {
  bind_inputs();
  for (const TfliteOperator& op : model_.operators) lower(op);
  collect_outputs();
  graph_.outputs.insert(graph_.outputs.end(), next_states_.begin(), next_states_.end());
  if (!diagnostics_.ok()) return {};
  graph_.remove_dead();
  return std::move(graph_);
}

void TfliteLowering::bind_inputs() {
  std::set<std::string> known_names;
  for (const int64_t input : model_.inputs) {
    const TfliteTensor& tensor = model_.tensors[size_t(input)];
    State& bound = states_[size_t(input)];
    const std::string place = fmt::format("input '{}'", tensor.name);
    if (bound.is_available || tensor.constant) {
      diagnostics_.error(ErrorKind::kInvalidInput, place, "",
                         bound.is_available ? "is listed twice" : "has constant data");
      continue;
    }
    bound.is_available = true;
    if (!tensor.problem.empty()) {
      diagnostics_.error(ErrorKind::kUnsupported, place, "", tensor.problem);
      bound.is_failed = true;
      continue;
    }
    Shape shape = tensor.shape;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (!tensor.is_dynamic[size_t(axis)]) continue;
      const std::string name = fmt::format("{}.{}", tensor.name, axis);
      known_names.insert(name);
      const auto given = options_.dimensions.find(name);
      if (given != options_.dimensions.end()) shape[axis] = given->second;
    }
    if (const std::string defect = defect_of({*tensor.type, shape}); !defect.empty()) {
      diagnostics_.error(ErrorKind::kInvalidInput, place, "", defect);
      bound.is_failed = true;
      continue;
    }
    bound.stored[0] = new_value(tensor.name);
    graph_.value(bound.stored[0]).type = *tensor.type;
    graph_.value(bound.stored[0]).shape = shape;
    graph_.inputs.push_back(bound.stored[0]);
  }
  for (const auto& [name, size] : options_.dimensions) {
    const std::string place = fmt::format("dimension '{}'", name);
    if (size < 1 || size >= kMaxDimension) {
      diagnostics_.error(ErrorKind::kInvalidInput, place, "", fmt::format("cannot be {}", size),
                         "give a size of 1 or more");
    } else if (!known_names.count(name)) {
      const std::string hint = known_names.empty()
                                   ? std::string("the model has no dynamic dimension")
                                   : fmt::format("dynamic are {}", fmt::join(known_names, ", "));
      diagnostics_.error(ErrorKind::kInvalidInput, place, "", "is not a dynamic dimension of the model",
                         hint);
    }
  }
}

void TfliteLowering::collect_outputs() {
  if (model_.outputs.empty()) {
    diagnostics_.error(ErrorKind::kInvalidInput, "model", "", "has no outputs");
  }
  for (const int64_t output : model_.outputs) {
    const TfliteTensor& tensor = model_.tensors[size_t(output)];
    const State& produced = states_[size_t(output)];
    if (produced.is_failed) continue;
    if (!produced.is_available && !tensor.constant) {
      diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("output '{}'", tensor.name), "",
                         "is written by no operator");
      continue;
    }
    base_name_ = short_name(tensor.name);
    try {
      graph_.outputs.push_back(stored_of(output, TensorLayout::kFile));
    } catch (const Error& error) {
      for (Diagnostic problem : error.diagnostics()) {
        problem.where = fmt::format("output '{}'", tensor.name);
        diagnostics_.add(std::move(problem));
      }
    }
  }
}

ValueId TfliteLowering::state(int input, const Shape& shape) {
  const TfliteTensor& variable = tensor(input);
  const int64_t index = op_->inputs[size_t(input)];
  State& known = states_[size_t(index)];
  if (!variable.is_variable || known.real[0] != kNoValue) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("keeps its state in {}, which is no variable of its own", where(variable)));
  }
  if (variable.shape.element_count() != shape.element_count()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("keeps a state of {} in {}, which is {}", to_string(shape), where(variable),
                            to_string(variable.shape)));
  }
  known.real[0] = new_value(variable.name);
  graph_.value(known.real[0]).shape = variable.shape;
  graph_.inputs.push_back(known.real[0]);
  return reshape(known.real[0], shape);
}

void TfliteLowering::finish_state(int input, ValueId value) {
  const ValueId next = emit("Identity", {reshape(value, tensor(input).shape)});
  const ValueId before = states_[size_t(op_->inputs[size_t(input)])].real[0];
  graph_.value(next).name = value_names_.unique(graph_.value(before).name + ".next");
  next_states_.push_back(next);
}

void TfliteLowering::report(const Error& error) {
  for (Diagnostic problem : error.diagnostics()) {
    problem.where = where(model_, *op_);
    problem.op = op_->op;
    diagnostics_.add(std::move(problem));
  }
}

void TfliteLowering::fail_outputs() {
  for (const int64_t output : op_->outputs) {
    states_[size_t(output)].is_available = states_[size_t(output)].is_failed = true;
  }
}

void TfliteLowering::lower(const TfliteOperator& op) {
  op_ = &op;
  first_value_ = ValueId(graph_.values.size());
  base_name_ = op.outputs.empty() ? op.op : short_name(model_.tensors[size_t(op.outputs[0])].name);
  const TfliteLower lowering = op.is_custom ? nullptr : find_tflite_lowering(op.op);
  try {
    if (op.is_custom) {
      throw Error(ErrorKind::kUnsupported, "is a custom operator",
                  "express it in built-in operators, or cut the model before it");
    }
    if (lowering == nullptr) {
      throw Error(
          ErrorKind::kUnsupported, "is not supported",
          "docs/reference/tflite.md lists the supported operators; cut the model before it or replace it");
    }
    for (const int64_t output : op.outputs) {
      const TfliteTensor& tensor = model_.tensors[size_t(output)];
      if (states_[size_t(output)].is_available || tensor.constant) {
        throw Error(ErrorKind::kInvalidInput,
                    fmt::format("writes {}, which {}", where(tensor),
                                tensor.constant ? "is constant" : "has a value already"));
      }
    }
    if (!inputs_are_available()) return fail_outputs();
    lowering(*this);
  } catch (const Error& error) {
    report(error);
    fail_outputs();
  }
}

// False where an input is missing because of a problem that was reported.
bool TfliteLowering::inputs_are_available() {
  for (const int64_t input : op_->inputs) {
    if (input < 0) continue;
    const TfliteTensor& tensor = model_.tensors[size_t(input)];
    const State& produced = states_[size_t(input)];
    if (produced.is_failed) return false;
    if (!tensor.problem.empty()) {
      throw Error(ErrorKind::kUnsupported, fmt::format("reads {}, which {}", where(tensor), tensor.problem));
    }
    if (tensor.is_variable) {
      if (takes_tflite_variables(op_->op)) continue;
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("reads {}, a variable that keeps its value from run to run", where(tensor)),
                  "only recurrent operators may");
    }
    if (!produced.is_available && !tensor.constant) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("reads {}, which is not constant and was not written before", where(tensor)),
                  "operators must be listed in execution order");
    }
  }
  return true;
}

void TfliteLowering::require(int inputs, int outputs) const {
  for (int i = 0; i < inputs; ++i) {
    if (!has_input(i)) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("needs {} inputs, but input {} is absent", inputs, i));
    }
  }
  if (output_count() < outputs) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("needs {} outputs, but has {}", outputs, output_count()));
  }
}

void TfliteLowering::require_options() const {
  if (!options().present) throw Error(ErrorKind::kInvalidInput, "has no options");
}

const TfliteTensor& TfliteLowering::output_tensor(int output) const {
  return model_.tensors[size_t(op_->outputs[size_t(output)])];
}

ValueId TfliteLowering::new_value(const std::string& name) {
  return append_value(graph_, value_names_.unique(name));
}

ValueId TfliteLowering::constant_value(const std::string& role, Tensor tensor) {
  return append_constant(graph_, value_names_.unique(fmt::format("{}/{}", base_name_, role)),
                         std::move(tensor));
}

ValueId TfliteLowering::integers_value(const std::string& role, const std::vector<int64_t>& integers) {
  return constant_value(role, Tensor(Shape{int64_t(integers.size())}, std::span<const int64_t>(integers)));
}

std::vector<ValueId> TfliteLowering::emit_many(const std::string& op, std::vector<ValueId> inputs,
                                               int outputs, Attributes attributes) {
  const std::string name = node_names_.unique(fmt::format("{}/{}", base_name_, op));
  std::vector<ValueId> values;
  for (int i = 0; i < outputs; ++i) values.push_back(new_value(name));
  Node node{name, "", op, std::move(inputs), values, std::move(attributes)};
  typing_.infer(node);
  graph_.nodes.push_back(std::move(node));
  return values;
}

ValueId TfliteLowering::emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes) {
  return emit_many(op, std::move(inputs), 1, std::move(attributes))[0];
}

ValueId TfliteLowering::slice(ValueId x, int64_t axis, int64_t begin, int64_t end) {
  return emit("Slice", {x, integers_value("begin", {begin}), integers_value("end", {end}),
                        integers_value("axis", {axis})});
}

ValueId TfliteLowering::reshape(ValueId x, const Shape& shape) {
  if (graph_.value(x).shape == shape) return x;
  // An empty dimension would be read as "the same as before".
  return emit("Reshape", {x, integers_value("shape", shape.dims())}, {{"allowzero", int64_t{1}}});
}

ValueId TfliteLowering::activated(ValueId x, TfliteActivation activation) {
  const auto clip = [&](float low, float high) {
    return emit("Clip", {x, constant_value("low", Tensor::scalar(low)),
                         constant_value("high", Tensor::scalar(high))});
  };
  switch (activation) {
    case TfliteActivation::kNone:
      return x;
    case TfliteActivation::kRelu:
      return emit("Relu", {x});
    case TfliteActivation::kReluN1To1:
      return clip(-1, 1);
    case TfliteActivation::kRelu6:
      return clip(0, 6);
    case TfliteActivation::kTanh:
      return emit("Tanh", {x});
    case TfliteActivation::kSignBit:
    case TfliteActivation::kUnknown:
      break;
  }
  throw Error(ErrorKind::kUnsupported, "has a fused activation that is not supported",
              "RELU, RELU6, RELU_N1_TO_1 and TANH are");
}

ValueId TfliteLowering::named(ValueId value, int64_t tensor, TensorLayout layout) {
  const State& target = states_[size_t(tensor)];
  const std::string& name = model_.tensors[size_t(tensor)].name;
  const bool is_new = value >= first_value_ && !graph_.value(value).constant;
  // One pixel of one channel is the same in both layouts.
  const Shape& shape = graph_.value(value).shape;
  const bool is_in_file_layout = layout == TensorLayout::kFile || shape.count(1, shape.rank()) == 1;
  const bool is_final = target.is_output && is_in_file_layout;
  if (!is_new) {
    if (!is_final) return value;
    value = emit("Identity", {value});  // an output needs a value of its own
  }
  graph_.value(value).name =
      value_names_.unique(target.is_output && !is_final ? fmt::format("{}/channels_first", name) : name);
  return value;
}

void TfliteLowering::check_declared_shape(const TfliteTensor& tensor, const Shape& shape) const {
  // A rank of 0 also says "not known"; sizes other than the file's make all declarations after them void.
  if (!options_.dimensions.empty() || tensor.shape.rank() == 0) return;
  bool matches = shape.rank() == tensor.shape.rank();
  for (int axis = 0; matches && axis < shape.rank(); ++axis) {
    matches = tensor.is_dynamic[size_t(axis)] || shape[axis] == tensor.shape[axis];
  }
  if (!matches) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("gives {}, but {} is declared as {}", to_string(shape),
                                                      where(tensor), to_string(tensor.shape)));
  }
}

void TfliteLowering::finish(int output, ValueId value, TensorLayout layout) {
  const int64_t index = op_->outputs[size_t(output)];
  const TfliteTensor& tensor = model_.tensors[size_t(index)];
  State& target = states_[size_t(index)];
  if (!tensor.problem.empty()) {
    throw Error(ErrorKind::kUnsupported, fmt::format("writes {}, which {}", where(tensor), tensor.problem));
  }
  if (const Tensor* known = typing_.known(value)) target.known = *known;
  if (graph_.value(value).constant) target.known = graph_.value(value).constant;
  const bool is_real = is_float(graph_.value(value).type);
  if (is_real && tensor.quantization && is_integer(*tensor.type)) {
    value = quantized(value, tensor);
    target.known.reset();
  } else {
    value = as_type(value, tensor);
  }
  const Shape& shape = graph_.value(value).shape;
  if (layout == TensorLayout::kChannelsFirst) {
    check_declared_shape(tensor, {shape[0], shape[2], shape[3], shape[1]});
  } else {
    check_declared_shape(tensor, shape);
  }
  if (target.known && target.known->type() != *tensor.type) target.known = target.known->cast(*tensor.type);
  target.stored[size_t(layout)] = named(value, index, layout);
  target.is_available = true;
}

void TfliteLowering::warn(const std::string& message, const std::string& hint) {
  diagnostics_.warn(where(model_, *op_), op_->op, message, hint);
}

}  // namespace tilewright
