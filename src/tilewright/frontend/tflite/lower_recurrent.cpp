// Recurrent operators as the steps they stand for. Those over a whole sequence begin with zeros at every
// run, those of a single step hand their variables from run to run. Formulas: TFLite's reference kernels, on
// real numbers; the output of a quantised cell is rounded at every step, its cell state is not.
#include <fmt/format.h>

#include "tilewright/frontend/tflite/tflite_operators.h"

namespace tilewright {
namespace {

constexpr int64_t kMostCellSteps = 4096;
using TensorLayout::kFile;

// A sequence [time, batch, features] of matrices; `steps` is 0 for an operator of a single step.
struct Sequence {
  ValueId flat = kNoValue;  // [time * batch, features]
  int64_t steps = 0, batch = 0, features = 0;
  int64_t count() const { return steps == 0 ? 1 : steps; }
};

Sequence read_sequence(TfliteLowering& l, bool is_sequence) {
  const Shape x = l.shape(0);
  Sequence sequence;
  if (x.rank() != (is_sequence ? 3 : 2)) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("reads {}, which has the wrong number of axes", to_string(x)));
  }
  ValueId value = l.real(0, kFile);
  if (is_sequence) {
    const bool time_major = l.options().is_time_major;
    sequence.steps = x[time_major ? 0 : 1];
    sequence.batch = x[time_major ? 1 : 0];
    if (!time_major) value = l.emit("Transpose", {value}, {{"perm", std::vector<int64_t>{1, 0, 2}}});
    if (sequence.steps < 1)
      throw Error(ErrorKind::kInvalidInput, fmt::format("reads the empty sequence {}", to_string(x)));
    if (sequence.steps > kMostCellSteps) {
      throw Error(ErrorKind::kUnsupported, fmt::format("has {} steps", sequence.steps),
                  fmt::format("give the sequence in parts of at most {} steps", kMostCellSteps));
    }
  } else {
    sequence.batch = x[0];
  }
  sequence.features = x[x.rank() - 1];
  sequence.flat = l.reshape(value, {sequence.count() * sequence.batch, sequence.features});
  return sequence;
}

// The rows of one step.
ValueId rows_of(TfliteLowering& l, const Sequence& sequence, ValueId all, int64_t step) {
  if (sequence.count() == 1) return all;
  return l.slice(all, 0, step * sequence.batch, (step + 1) * sequence.batch);
}

// The outputs [batch, width] of all steps in the layout of the input.
void finish_sequence(TfliteLowering& l, const Sequence& sequence, std::vector<ValueId> steps, int64_t width) {
  if (sequence.steps == 0) return l.finish(0, steps[0], kFile);
  ValueId y = steps.size() == 1 ? steps[0] : l.emit("Concat", std::move(steps), {{"axis", int64_t{0}}});
  y = l.reshape(y, {sequence.steps, sequence.batch, width});
  if (!l.options().is_time_major) y = l.emit("Transpose", {y}, {{"perm", std::vector<int64_t>{1, 0, 2}}});
  l.finish(0, y, kFile);
}

void require_shape(TfliteLowering& l, int input, const Shape& wanted) {
  if (l.shape(input) == wanted) return;
  throw Error(ErrorKind::kInvalidInput,
              fmt::format("its input {} is {}, not {}", input, to_string(l.shape(input)), to_string(wanted)));
}

// Zeros for a sequence; for a single step the variable at `input`.
ValueId initial_state(TfliteLowering& l, const Sequence& sequence, int input, int64_t width) {
  const Shape shape{sequence.batch, width};
  if (sequence.steps == 0) return l.state(input, shape);
  constexpr int64_t kLargestState = 1 << 24;
  if (width > kLargestState / std::max<int64_t>(sequence.batch, 1)) {
    throw Error(ErrorKind::kUnsupported, fmt::format("has a state of {}", to_string(shape)),
                "split its batch");
  }
  return l.constant_value("zeros", Tensor(ElementType::kF32, shape));
}

ValueId clipped(TfliteLowering& l, ValueId x, float bound) {
  if (!(bound > 0)) return x;
  return l.emit("Clip", {x, l.constant_value("low", Tensor::scalar(-bound)),
                         l.constant_value("high", Tensor::scalar(bound))});
}

// Inputs by gate: input, forget, cell, output.
enum Gate { kInput, kForget, kCell, kOutput };
constexpr int kInputWeights = 1, kRecurrentWeights = 5, kPeepholes = 9, kBiases = 12, kProjection = 16,
              kProjectionBias = 17, kOutputState = 18, kCellState = 19, kNormalizations = 20;

class Lstm {
 public:
  explicit Lstm(TfliteLowering& l) : l_(l) {}

  void lower() {
    l_.require(1, 1);
    l_.require_options();
    if (l_.options().is_basic) {
      throw Error(ErrorKind::kUnsupported, "is the basic LSTM of 5 inputs",
                  "convert the model again with a newer converter");
    }
    const bool is_sequence = l_.op().op == "UNIDIRECTIONAL_SEQUENCE_LSTM";
    for (const int needed :
         {kInputWeights + kForget, kInputWeights + kCell, kInputWeights + kOutput,
          kRecurrentWeights + kForget, kRecurrentWeights + kCell, kRecurrentWeights + kOutput,
          kBiases + kForget, kBiases + kCell, kBiases + kOutput, kOutputState, kCellState}) {
      if (!l_.has_input(needed))
        throw Error(ErrorKind::kInvalidInput, fmt::format("its input {} is absent", needed));
    }
    sequence_ = read_sequence(l_, is_sequence);
    cells_ = l_.shape(kInputWeights + kOutput).rank() == 2 ? l_.shape(kInputWeights + kOutput)[0] : 0;
    outputs_ =
        l_.has_input(kProjection) && l_.shape(kProjection).rank() == 2 ? l_.shape(kProjection)[0] : cells_;
    check_shapes();
    prepare();
    ValueId hidden = initial_state(l_, sequence_, kOutputState, outputs_);
    ValueId cell = initial_state(l_, sequence_, kCellState, cells_);
    std::vector<ValueId> steps;
    for (int64_t step = 0; step < sequence_.count(); ++step) {
      advance(step, hidden, cell);
      steps.push_back(hidden);
    }
    finish_sequence(l_, sequence_, std::move(steps), outputs_);
    if (sequence_.steps != 0) return;
    l_.finish_state(kOutputState, hidden);
    l_.finish_state(kCellState, cell);
  }

 private:
  bool has_input_gate() const { return l_.has_input(kInputWeights + kInput); }

  void check_shapes() {
    for (int gate = kInput; gate <= kOutput; ++gate) {
      if (gate == kInput && !has_input_gate()) continue;
      for (const int needed : {kRecurrentWeights + gate, kBiases + gate}) {
        if (!l_.has_input(needed))
          throw Error(ErrorKind::kInvalidInput, fmt::format("its input {} is absent", needed));
      }
      require_shape(l_, kInputWeights + gate, {cells_, sequence_.features});
      require_shape(l_, kRecurrentWeights + gate, {cells_, outputs_});
      require_shape(l_, kBiases + gate, {cells_});
      if (l_.has_input(kNormalizations + gate)) require_shape(l_, kNormalizations + gate, {cells_});
    }
    for (int i = kPeepholes; i < kBiases; ++i) {
      if (l_.has_input(i)) require_shape(l_, i, {cells_});
    }
    if (l_.has_input(kProjection)) require_shape(l_, kProjection, {outputs_, cells_});
    if (l_.has_input(kProjectionBias)) require_shape(l_, kProjectionBias, {outputs_});
  }

  // The products of all steps with the input weights, once for each gate. The bias is added here, unless a
  // normalisation comes in between.
  void prepare() {
    for (int gate = kInput; gate <= kOutput; ++gate) {
      if (gate == kInput && !has_input_gate()) continue;
      std::vector<ValueId> inputs = {sequence_.flat, l_.weights(kInputWeights + gate, {0, 1})};
      bias_[gate] = bias_of(gate);
      if (!l_.has_input(kNormalizations + gate)) inputs.push_back(bias_[gate]);
      of_input_[gate] = l_.emit("Gemm", std::move(inputs), {{"transB", int64_t{1}}});
      recurrent_[gate] = l_.weights(kRecurrentWeights + gate, {0, 1});
    }
  }

  ValueId bias_of(int gate) {
    const int input = kBiases + gate;
    return l_.is_quantized(input) ? l_.real(input, kFile) : l_.bias(input, 0, kInputWeights + gate, cells_);
  }

  ValueId gate_of(int gate, int64_t step, ValueId hidden, ValueId cell, int peephole) {
    const ValueId recurrent = l_.emit("Gemm", {hidden, recurrent_[gate]}, {{"transB", int64_t{1}}});
    ValueId sum = l_.emit("Add", {rows_of(l_, sequence_, of_input_[gate], step), recurrent});
    if (peephole >= 0 && l_.has_input(peephole))
      sum = l_.emit("Add", {sum, l_.emit("Mul", {l_.real(peephole, kFile), cell})});
    if (l_.has_input(kNormalizations + gate)) {
      const ValueId scale = l_.real(kNormalizations + gate, kFile);
      sum = l_.emit("LayerNormalization", {sum, scale, bias_[gate]},
                    {{"axis", int64_t{-1}}, {"epsilon", 1e-8f}});
    }
    return gate == kCell ? l_.activated(sum, l_.options().activation) : l_.emit("Sigmoid", {sum});
  }

  void advance(int64_t step, ValueId& hidden, ValueId& cell) {
    const ValueId forget = gate_of(kForget, step, hidden, cell, kPeepholes + 1);
    const ValueId in = has_input_gate()
                           ? gate_of(kInput, step, hidden, cell, kPeepholes)
                           : l_.emit("Sub", {l_.constant_value("one", Tensor::scalar(1.0f)), forget});
    const ValueId fresh = gate_of(kCell, step, hidden, cell, -1);
    cell = l_.emit("Add", {l_.emit("Mul", {forget, cell}), l_.emit("Mul", {in, fresh})});
    cell = clipped(l_, cell, l_.options().cell_clip);
    const ValueId out = gate_of(kOutput, step, hidden, cell, kPeepholes + 2);
    hidden = l_.emit("Mul", {out, l_.activated(cell, l_.options().activation)});
    if (l_.has_input(kProjection)) {
      std::vector<ValueId> inputs = {hidden, l_.weights(kProjection, {0, 1})};
      if (l_.has_input(kProjectionBias)) {
        inputs.push_back(l_.is_quantized(kProjectionBias) || is_float(*l_.tensor(kProjectionBias).type)
                             ? l_.real(kProjectionBias, kFile)
                             : l_.bias(kProjectionBias, 0, kProjection, outputs_));
      }
      hidden = clipped(l_, l_.emit("Gemm", std::move(inputs), {{"transB", int64_t{1}}}),
                       l_.options().projection_clip);
    }
    hidden = l_.rounded_as_output(0, hidden);
  }

  TfliteLowering& l_;
  Sequence sequence_;
  int64_t cells_ = 0, outputs_ = 0;
  ValueId of_input_[4] = {kNoValue, kNoValue, kNoValue, kNoValue}, recurrent_[4] = {}, bias_[4] = {};
};

}  // namespace

void lower_lstm(TfliteLowering& l) { Lstm(l).lower(); }

// Inputs: x, weights, recurrent weights, bias, state.
void lower_rnn(TfliteLowering& l) {
  l.require(5, 1);
  l.require_options();
  const Sequence sequence = read_sequence(l, l.op().op != "RNN");
  const Shape w = l.shape(1);
  const int64_t units = w.rank() == 2 ? w[0] : 0;
  require_shape(l, 1, {units, sequence.features});
  require_shape(l, 2, {units, units});
  const ValueId all =
      l.emit("Gemm", {sequence.flat, l.weights(1, {0, 1}), l.bias(3, 0, 1, units)}, {{"transB", int64_t{1}}});
  const ValueId recurrent = l.weights(2, {0, 1});
  ValueId hidden = initial_state(l, sequence, 4, units);
  std::vector<ValueId> steps;
  for (int64_t step = 0; step < sequence.count(); ++step) {
    const ValueId product = l.emit("Gemm", {hidden, recurrent}, {{"transB", int64_t{1}}});
    hidden = l.activated(l.emit("Add", {rows_of(l, sequence, all, step), product}), l.options().activation);
    hidden = l.rounded_as_output(0, hidden);
    steps.push_back(hidden);
  }
  finish_sequence(l, sequence, std::move(steps), units);
  if (sequence.steps == 0) l.finish_state(4, hidden);
}

// Inputs: x, weights over the features, weights over the time, bias, state. Each filter keeps what it gave in
// the last runs; `count` (the rank) of them make up a unit.
void lower_svdf(TfliteLowering& l) {
  l.require(3, 1);
  l.require_options();
  const Sequence sequence = read_sequence(l, false);
  const Shape time = l.shape(2);
  const int64_t filters = time.rank() == 2 ? time[0] : 0, memory = time.rank() == 2 ? time[1] : 0;
  const int64_t rank = l.options().count, batch = sequence.batch;
  require_shape(l, 1, {filters, sequence.features});
  if (rank < 1 || filters < 1 || memory < 1 || filters % rank != 0 || !l.has_input(4)) {
    throw Error(
        ErrorKind::kInvalidInput,
        fmt::format("has {} filters of {} steps and the rank {}, or no state", filters, memory, rank));
  }
  const ValueId given = l.emit("Gemm", {sequence.flat, l.weights(1, {0, 1})}, {{"transB", int64_t{1}}});
  ValueId state = l.reshape(given, {batch, filters, 1});
  const ValueId before = l.state(4, {batch, filters, memory});
  if (memory > 1) state = l.emit("Concat", {l.slice(before, 2, 1, memory), state}, {{"axis", int64_t{2}}});
  const ValueId weighted = l.emit("Mul", {state, l.reshape(l.weights(2, {0, 1}), {1, filters, memory})});
  const ValueId by_unit = l.reshape(weighted, {batch, filters / rank, rank * memory});
  ValueId y = l.emit("ReduceSum", {by_unit, l.integers_value("axes", {2})}, {{"keepdims", int64_t{0}}});
  if (l.has_input(3)) {
    const bool plain = l.is_quantized(3) || is_float(*l.tensor(3).type);
    y = l.emit("Add", {y, plain ? l.real(3, kFile) : l.bias(3, 0, 1, filters / rank)});
  }
  l.finish(0, l.activated(y, l.options().activation), kFile);
  l.finish_state(4, state);
}

}  // namespace tilewright
