// The state of one import: the graph being built, and for each tensor of the file the values that represent
// it, in the file's layout and channels-first, as stored and as real numbers. Conversions between these are
// emitted on demand.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/frontend/name_registry.h"
#include "tilewright/frontend/onnx/node_typing.h"
#include "tilewright/frontend/tflite/tflite_model.h"
#include "tilewright/frontend/tflite/tflite_reader.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

// Of tensors of rank 4; all others only have the file's.
enum class TensorLayout { kFile, kChannelsFirst };

// Scales and zero points of a tensor, checked against its shape and type: as many zero points as scales, one
// or one per index of `axis`.
struct CheckedQuantization {
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
  int axis = 0;
  bool per_tensor() const { return scales.size() == 1; }
  float scale(int64_t index) const { return scales[per_tensor() ? 0 : size_t(index)]; }
};

class TfliteLowering {
 public:
  TfliteLowering(const TfliteModel& model, const TfliteOptions& options, Diagnostics& diagnostics);

  // The graph is complete only if the diagnostics have no error afterwards.
  Graph run();

  // The following is for the operators. All of it throws Error for problems of the file; the caller adds the
  // operator. Inputs and outputs are numbered as in the current operator.
  const TfliteOperator& op() const { return *op_; }
  const TfliteOperatorOptions& options() const { return op_->options; }
  int input_count() const { return int(op_->inputs.size()); }
  int output_count() const { return int(op_->outputs.size()); }
  bool has_input(int input) const { return input < input_count() && op_->inputs[size_t(input)] >= 0; }
  // Errors: fewer inputs or outputs than `inputs` (all present) and `outputs`.
  void require(int inputs, int outputs) const;
  void require_options() const;

  const TfliteTensor& tensor(int input) const { return model_.tensors[size_t(op_->inputs[size_t(input)])]; }
  const TfliteTensor& output_tensor(int output) const;
  // In the file's layout.
  Shape shape(int input);
  bool is_quantized(int input) const { return tensor(input).quantization.has_value(); }
  CheckedQuantization quantization(int input) const;

  // The elements, when they are constant or follow from sizes; else nullptr.
  const Tensor* constant(int input);
  // The same as integers. Errors: not constant; `what` says what they are.
  std::vector<int64_t> constant_integers(int input, const char* what);
  int64_t constant_integer(int input, const char* what);

  // Real numbers: dequantised, or as they are. Errors: neither float nor quantised.
  ValueId real(int input, TensorLayout layout);
  // Real numbers where the tensor is quantised or float, else the integers or booleans it holds.
  ValueId value(int input, TensorLayout layout);
  // What the tensor holds, quantised or not.
  ValueId stored(int input, TensorLayout layout);
  // A constant operand under another order of its axes (real numbers): weights.
  ValueId weights(int input, const std::vector<int64_t>& order);
  // Broadcasts against a channels-first value of rank 4, from any rank.
  ValueId broadcast_operand(int input, TensorLayout layout);
  // The activation of a layer whose weights are the input `w`.
  ValueId activation(int x, int w, TensorLayout layout);
  // The bias of a layer whose activation and weights are the inputs `x` and `w`, one number per output
  // channel; kNoValue when there is none.
  ValueId bias(int input, int x, int w, int64_t channels);

  // The layout in which an input already exists; channels-first if it exists in both.
  TensorLayout layout_of(int input) const;
  // A layout with the elements in the file's order: channels-first if the input exists only in it and has one
  // channel or one pixel. Reshaping operators can read it unchanged.
  TensorLayout flat_layout(int input) const;
  // Channels-first if any of the inputs exists only in it and all others have rank 4 or are constant.
  TensorLayout common_layout() const;
  // The number of an axis of the file's layout in `layout`. Errors: out of range.
  int64_t axis_in(TensorLayout layout, int64_t axis, int rank) const;

  ValueId constant_value(const std::string& role, Tensor tensor);
  ValueId integers_value(const std::string& role, const std::vector<int64_t>& integers);
  ValueId emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {});
  std::vector<ValueId> emit_many(const std::string& op, std::vector<ValueId> inputs, int outputs,
                                 Attributes attributes = {});
  // Axes and indices of constants, for what the operators write most.
  ValueId slice(ValueId x, int64_t axis, int64_t begin, int64_t end);
  ValueId reshape(ValueId x, const Shape& shape);
  ValueId activated(ValueId x, TfliteActivation activation);
  const Value& value_of(ValueId id) const { return graph_.value(id); }

  // Makes `value` the output: real numbers are quantised where the file says so, others are used unchanged.
  void finish(int output, ValueId value, TensorLayout layout);
  // Real numbers rounded as the output `output` would store them; unchanged if it is not quantised.
  ValueId rounded_as_output(int output, ValueId real);

  // The value of a variable before this run, real numbers of `shape`: an input of the graph by the tensor's
  // name. Errors: another declared shape, an input that is no variable.
  ValueId state(int input, const Shape& shape);
  // What the variable holds after this run: an output of the graph by its name and ".next".
  void finish_state(int input, ValueId value);
  void warn(const std::string& message, const std::string& hint = {});

 private:
  struct State {
    std::array<ValueId, 2> stored{kNoValue, kNoValue};  // by layout
    std::array<ValueId, 2> real{kNoValue, kNoValue};
    std::optional<Tensor> known;
    bool is_available = false, is_failed = false, is_output = false;
  };

  void bind_inputs();
  void collect_outputs();
  void lower(const TfliteOperator& op);
  bool inputs_are_available();
  void fail_outputs();
  void report(const Error& error);
  const Tensor* constant_of(int64_t tensor) const;
  CheckedQuantization checked_quantization(const TfliteTensor& tensor, const Shape& shape) const;
  ValueId stored_of(int64_t tensor, TensorLayout layout);
  ValueId real_of(int64_t tensor, TensorLayout layout);
  ValueId converted(int64_t tensor, ValueId from, TensorLayout to);
  ValueId dequantized(ValueId integers, const CheckedQuantization& quantization, int axis);
  ValueId quantized(ValueId real, const TfliteTensor& tensor);
  void check_bias_quantization(const TfliteTensor& bias, const std::vector<float>& scales);
  ValueId as_type(ValueId value, const TfliteTensor& tensor);
  ValueId named(ValueId value, int64_t tensor, TensorLayout layout);
  void check_declared_shape(const TfliteTensor& tensor, const Shape& shape) const;
  ValueId new_value(const std::string& name);

  const TfliteModel& model_;
  const TfliteOptions& options_;
  Diagnostics& diagnostics_;
  Graph graph_;
  NodeTyping typing_;
  NameRegistry value_names_, node_names_;
  std::vector<State> states_;         // by tensor
  std::vector<ValueId> next_states_;  // outputs after those of the file
  const TfliteOperator* op_ = nullptr;
  std::string base_name_;    // of the nodes and values of the current operator
  ValueId first_value_ = 0;  // of the operator at work
};

// The function that lowers an operator of that name, or nullptr.
using TfliteLower = void (*)(TfliteLowering&);
TfliteLower find_tflite_lowering(const std::string& op);
// Whether the operator reads and writes variables.
bool takes_tflite_variables(const std::string& op);
// All covered operators, in alphabetical order.
std::vector<std::string> covered_tflite_operators();

// "tensor 'x'".
std::string where(const TfliteTensor& tensor);

}  // namespace tilewright
