// RNN, GRU and LSTM as the steps they stand for: one product with W for the whole sequence, then for every
// step one with R (two for a GRU that resets before it) and the gates element by element. Products with
// constant weights are what quantisation and accelerators know. Formulas: ONNX operator reference.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/steps.h"

namespace tilewright {
namespace {

// More nodes than this take longer to compile than anybody waits for.
constexpr int64_t kMostSteps = 4096;

struct Activation {
  std::string name;
  std::optional<float> alpha, beta;
};

// The sizes of a layer; `directions` is 2 for a bidirectional one.
struct Sizes {
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0;
  int directions = 1, gates = 1;
};

// The state between two steps, each [batch, hidden]; no cell except in an LSTM. kNoValue: zeros, which the
// first step is simpler for.
struct State {
  ValueId hidden = kNoValue, cell = kNoValue;
};

class RecurrentLayer {
 public:
  RecurrentLayer(Node& node, NodeConversion& conversion)
      : node_(node), conversion_(conversion), s_(conversion) {}

  void convert() {
    if (!read_sizes() || !read_activations()) return;
    for (int d = 0; d < sizes_.directions && !conversion_.failed(); ++d) run_direction(d);
    if (conversion_.failed()) return;
    define_outputs();
    node_.outputs.clear();
  }

 private:
  bool is_lstm() const { return node_.op == "LSTM"; }
  bool is_gru() const { return node_.op == "GRU"; }
  bool batch_first() const { return node_.int_or("layout", 0) != 0; }

  bool fail(const std::string& message, const std::string& hint = {}) {
    conversion_.invalid(message, hint);
    return false;
  }

  bool read_sizes() {
    for (int i = 0; i < 3; ++i) {
      if (!node_.has_input(i) || s_.shape(node_.input(i)).rank() != 3) {
        return fail("needs a sequence, weights and recurrent weights of 3 axes each");
      }
    }
    const std::string direction = node_.string_or("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
      return fail(fmt::format("has the direction '{}'", direction),
                  "forward, reverse and bidirectional exist");
    }
    sizes_.directions = direction == "bidirectional" ? 2 : 1;
    first_is_reverse_ = direction == "reverse";
    sizes_.gates = is_lstm() ? 4 : is_gru() ? 3 : 1;
    const Shape x = s_.shape(node_.input(0)), w = s_.shape(node_.input(1)), r = s_.shape(node_.input(2));
    sizes_.steps = x[batch_first() ? 1 : 0];
    sizes_.batch = x[batch_first() ? 0 : 1];
    sizes_.inputs = x[2];
    sizes_.hidden = r[2];
    const int64_t rows = sizes_.gates * sizes_.hidden, d = sizes_.directions;
    if (w != Shape{d, rows, sizes_.inputs} || r != Shape{d, rows, sizes_.hidden}) {
      return fail(fmt::format("weights {} and {} do not fit the sequence {} in {} direction(s)", to_string(w),
                              to_string(r), to_string(x), d));
    }
    if (sizes_.hidden != node_.int_or("hidden_size", sizes_.hidden)) {
      return fail(fmt::format("hidden_size is {}, the weights are of {}", node_.int_or("hidden_size", 0),
                              sizes_.hidden));
    }
    if (sizes_.steps < 1 || sizes_.batch < 1 || sizes_.hidden < 1)
      return fail("has an empty sequence or state");
    if (sizes_.steps > kMostSteps) {
      conversion_.unsupported(fmt::format("has {} steps", sizes_.steps),
                              fmt::format("give the sequence in parts of at most {} steps", kMostSteps));
      return false;
    }
    return check_shapes();
  }

  // The optional inputs: biases, lengths, initial states, peepholes.
  bool check_shapes() {
    const int64_t d = sizes_.directions, h = sizes_.hidden, n = sizes_.batch;
    const Shape state = batch_first() ? Shape{n, d, h} : Shape{d, n, h};
    const std::pair<int, Shape> wanted[] = {
        {3, {d, 2 * sizes_.gates * h}}, {4, {n}}, {5, state}, {6, state}, {7, {d, 3 * h}}};
    for (const auto& [index, shape] : wanted) {
      if (!node_.has_input(index) || s_.shape(node_.input(index)) == shape) continue;
      return fail(fmt::format("input {} is {}, not {}", index, to_string(s_.shape(node_.input(index))),
                              to_string(shape)));
    }
    return true;
  }

  bool read_activations() {
    const std::vector<std::string> defaults = is_lstm()  ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
                                              : is_gru() ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                                         : std::vector<std::string>{"Tanh"};
    std::vector<std::string> names;
    const auto given = node_.attributes.find("activations");
    if (given != node_.attributes.end()) {
      const auto* list = std::get_if<std::vector<std::string>>(&given->second);
      if (list == nullptr) return fail("attribute 'activations' is no list of names");
      names = *list;
    }
    if (names.empty()) {
      for (int d = 0; d < sizes_.directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
    }
    per_direction_ = defaults.size();
    if (names.size() != per_direction_ * size_t(sizes_.directions)) {
      return fail(fmt::format("has {} activations, not {}", names.size(),
                              per_direction_ * size_t(sizes_.directions)));
    }
    // Numbers are handed out in order to the functions that take them.
    const std::vector<float> alphas = node_.floats_or("activation_alpha", {}),
                             betas = node_.floats_or("activation_beta", {});
    size_t alpha = 0, beta = 0;
    for (std::string& name : names) {
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return char(std::tolower(c)); });
      Activation activation{name, {}, {}};
      const bool both = name == "affine" || name == "scaledtanh" || name == "hardsigmoid";
      if ((both || name == "leakyrelu" || name == "thresholdedrelu" || name == "elu") &&
          alpha < alphas.size()) {
        activation.alpha = alphas[alpha++];
      }
      if (both && beta < betas.size()) activation.beta = betas[beta++];
      activations_.push_back(std::move(activation));
    }
    return true;
  }

  ValueId apply(const Activation& f, ValueId x) {
    static const std::map<std::string, const char*> plain = {{"sigmoid", "Sigmoid"},
                                                             {"tanh", "Tanh"},
                                                             {"relu", "Relu"},
                                                             {"softsign", "Softsign"},
                                                             {"softplus", "Softplus"}};
    if (node_.has("clip")) {
      const double bound = double(node_.float_or("clip", 0));
      x = s_.op("Clip", {x, s_.number_like(x, -bound), s_.number_like(x, bound)});
    }
    if (const auto found = plain.find(f.name); found != plain.end()) return s_.op(found->second, {x});
    if (f.name == "leakyrelu") return s_.op("LeakyRelu", {x}, {{"alpha", f.alpha.value_or(0.01f)}});
    if (f.name == "elu") return s_.op("Elu", {x}, {{"alpha", f.alpha.value_or(1.0f)}});
    if (f.name == "thresholdedrelu")
      return s_.op("ThresholdedRelu", {x}, {{"alpha", f.alpha.value_or(1.0f)}});
    if (f.name == "hardsigmoid") {
      return s_.op("HardSigmoid", {x}, {{"alpha", f.alpha.value_or(0.2f)}, {"beta", f.beta.value_or(0.5f)}});
    }
    const ValueId alpha = s_.number_like(x, double(f.alpha.value_or(1.0f)));
    const ValueId beta = s_.number_like(x, double(f.beta.value_or(f.name == "affine" ? 0.0f : 1.0f)));
    if (f.name == "affine") return s_.op("Add", {s_.op("Mul", {x, alpha}), beta});
    if (f.name == "scaledtanh") return s_.op("Mul", {alpha, s_.op("Tanh", {s_.op("Mul", {x, beta})})});
    conversion_.unsupported(fmt::format("has the activation '{}'", f.name),
                            "export it with activations that ONNX lists");
    return kNoValue;
  }

  // The part of direction `d` of an input, without the axis of directions.
  ValueId part(int input, int d) { return s_.pick(node_.input(input), 0, d); }
  // Of b that is zeros: a alone, and zeros.
  ValueId add(ValueId a, ValueId b) { return b == kNoValue ? a : s_.op("Add", {a, b}); }
  ValueId multiply(ValueId a, ValueId b) { return b == kNoValue ? b : s_.op("Mul", {a, b}); }
  ValueId one_less(ValueId x) { return s_.op("Sub", {s_.number_like(x, 1), x}); }
  // Columns of gate `g` in [rows, gates * hidden].
  ValueId gate(ValueId x, int64_t g) { return s_.slice(x, 1, g * sizes_.hidden, (g + 1) * sizes_.hidden); }
  // x times the transposed of w, plus a bias if there is one.
  ValueId product(ValueId x, ValueId w, ValueId bias) {
    std::vector<ValueId> inputs{x, w};
    if (bias != kNoValue) inputs.push_back(bias);
    return s_.op("Gemm", std::move(inputs), {{"transB", int64_t{1}}});
  }

  // The product of a state and its bias; of zeros the bias, as a row, if there is one.
  ValueId of_state(ValueId state, ValueId w, ValueId bias) {
    if (state != kNoValue) return product(state, w, bias);
    return bias == kNoValue ? bias : s_.reshape(bias, {1, s_.shape(bias)[0]});
  }
  ValueId or_zeros(ValueId state) {
    return state != kNoValue ? state : s_.filled(s_.type(node_.input(0)), {sizes_.batch, sizes_.hidden}, 0);
  }

  State initial(int d) {
    State state;
    const int axis = batch_first() ? 1 : 0;
    if (node_.has_input(5)) state.hidden = s_.pick(node_.input(5), axis, d);
    if (is_lstm() && node_.has_input(6)) state.cell = s_.pick(node_.input(6), axis, d);
    return state;
  }

  void run_direction(int d) {
    const Activation* f = &activations_[size_t(d) * per_direction_];
    const int64_t rows = sizes_.gates * sizes_.hidden;
    recurrent_ = part(2, d);
    ValueId bias = kNoValue;
    recurrent_bias_ = kNoValue;
    if (node_.has_input(3)) {
      const ValueId both = part(3, d);
      bias = s_.slice(both, 0, 0, rows);
      recurrent_bias_ = s_.slice(both, 0, rows, 2 * rows);
    }
    // Only a GRU with linear_before_reset scales its recurrent bias; elsewhere the two simply add up.
    const bool separate = is_gru() && node_.int_or("linear_before_reset", 0) != 0;
    if (bias != kNoValue && !separate) {
      bias = add(bias, recurrent_bias_);
      recurrent_bias_ = kNoValue;
    }
    peephole_ = is_lstm() && node_.has_input(7) ? part(7, d) : kNoValue;
    const ValueId sequence = batch_first() ? s_.transpose(node_.input(0), {1, 0, 2}) : node_.input(0);
    const ValueId flat = s_.reshape(sequence, {sizes_.steps * sizes_.batch, sizes_.inputs});
    const ValueId all = product(flat, part(1, d), bias);
    State state = initial(d);
    const std::vector<ValueId> by_step =
        s_.split(all, 0, std::vector<int64_t>(size_t(sizes_.steps), sizes_.batch));
    std::vector<ValueId> outputs(size_t(sizes_.steps), kNoValue);
    const bool reverse = d == 1 || first_is_reverse_;
    for (int64_t i = 0; i < sizes_.steps && !conversion_.failed(); ++i) {
      const int64_t t = reverse ? sizes_.steps - 1 - i : i;
      const ValueId x = by_step[size_t(t)];
      const State next = is_lstm()  ? lstm_step(f, x, state)
                         : is_gru() ? gru_step(f, x, state)
                                    : State{rnn_step(f, x, state), kNoValue};
      outputs[size_t(t)] = keep_within_length(t, next, state);
    }
    last_.push_back(state);
    sequences_.push_back(std::move(outputs));
  }

  // Beyond the end of its sequence, a row of the batch keeps its state and gives zeros.
  ValueId keep_within_length(int64_t t, const State& next, State& state) {
    if (!node_.has_input(4)) {
      state = next;
      return next.hidden;
    }
    const auto lengths = conversion_.constant_of(node_.input(4));
    const bool all_within =
        lengths && std::ranges::all_of(lengths->to_integers(), [&](int64_t n) { return n > t; });
    if (all_within) {
      state = next;
      return next.hidden;
    }
    const ValueId length = s_.reshape(node_.input(4), {sizes_.batch, 1});
    const ValueId within = s_.op("Less", {s_.number_like(length, double(t)), length});
    state.hidden = s_.op("Where", {within, next.hidden, or_zeros(state.hidden)});
    if (is_lstm()) state.cell = s_.op("Where", {within, next.cell, or_zeros(state.cell)});
    return s_.op("Where", {within, next.hidden, s_.number_like(next.hidden, 0)});
  }

  ValueId rnn_step(const Activation* f, ValueId x, const State& state) {
    return apply(f[0], add(x, of_state(state.hidden, recurrent_, recurrent_bias_)));
  }

  // Gates: update, reset, hidden.
  State gru_step(const Activation* f, ValueId x, const State& state) {
    const int64_t h = sizes_.hidden;
    const bool late = node_.int_or("linear_before_reset", 0) != 0;
    const std::vector<ValueId> of_x = s_.split(x, 1, {2 * h, h});
    ValueId of_h = kNoValue, fresh = kNoValue;
    if (late) {
      const ValueId all = of_state(state.hidden, recurrent_, recurrent_bias_);
      if (all != kNoValue) {
        const std::vector<ValueId> parts = s_.split(all, 1, {2 * h, h});
        of_h = parts[0];
        fresh = parts[1];
      }
    } else {
      of_h = of_state(state.hidden, s_.slice(recurrent_, 0, 0, 2 * h), kNoValue);
    }
    const std::vector<ValueId> both = s_.split(apply(f[0], add(of_x[0], of_h)), 1, {h, h});
    const ValueId update = both[0], reset = both[1];
    const ValueId candidate =
        late ? multiply(reset, fresh)
             : of_state(multiply(reset, state.hidden), s_.slice(recurrent_, 0, 2 * h, 3 * h), kNoValue);
    fresh = apply(f[1], add(of_x[1], candidate));
    return {add(multiply(one_less(update), fresh), multiply(update, state.hidden)), kNoValue};
  }

  // Gates: input, output, forget, cell. Peepholes: input, output, forget.
  State lstm_step(const Activation* f, ValueId x, const State& state) {
    const int64_t h = sizes_.hidden;
    const ValueId all = add(x, of_state(state.hidden, recurrent_, recurrent_bias_));
    ValueId in = kNoValue, out = kNoValue, forget = kNoValue, fresh = kNoValue;
    const bool coupled = node_.int_or("input_forget", 0) != 0;
    const auto peeping = [&](int64_t g, int64_t p, ValueId cell) {
      return add(gate(all, g), multiply(s_.slice(peephole_, 0, p * h, (p + 1) * h), cell));
    };
    if (peephole_ == kNoValue) {
      const std::vector<ValueId> parts = s_.split(all, 1, {3 * h, h});
      const std::vector<ValueId> gates = s_.split(apply(f[0], parts[0]), 1, {h, h, h});
      in = gates[0];
      out = gates[1];
      if (!coupled) forget = gates[2];
      fresh = parts[1];
    } else {
      fresh = gate(all, 3);
      in = apply(f[0], peeping(0, 0, state.cell));
      if (!coupled) forget = apply(f[0], peeping(2, 2, state.cell));
    }
    if (coupled) forget = one_less(in);
    State next;
    next.cell = add(multiply(in, apply(f[1], fresh)), multiply(forget, state.cell));
    if (peephole_ != kNoValue) out = apply(f[0], peeping(1, 1, next.cell));
    next.hidden = multiply(out, apply(f[2], next.cell));
    return next;
  }

  void define_outputs() {
    const int64_t n = sizes_.batch, h = sizes_.hidden;
    if (wants(0)) {
      std::vector<ValueId> all;
      for (std::vector<ValueId>& steps : sequences_) {
        all.push_back(s_.reshape(s_.concat(std::move(steps), 0), {sizes_.steps, 1, n, h}));
      }
      const ValueId y = s_.concat(std::move(all), 1);
      conversion_.define(node_.outputs[0], batch_first() ? s_.transpose(y, {2, 0, 1, 3}) : y);
    }
    for (const int output : {1, 2}) {
      if (!wants(output)) continue;
      if (output == 2 && !is_lstm()) return conversion_.invalid("has more than two outputs");
      std::vector<ValueId> states;
      for (const State& state : last_)
        states.push_back(s_.reshape(output == 1 ? state.hidden : state.cell, {1, n, h}));
      const ValueId last = s_.concat(std::move(states), 0);
      conversion_.define(node_.outputs[size_t(output)], batch_first() ? s_.transpose(last, {1, 0, 2}) : last);
    }
  }

  bool wants(int output) const {
    return size_t(output) < node_.outputs.size() && node_.outputs[size_t(output)] != kNoValue;
  }

  Node& node_;
  NodeConversion& conversion_;
  Steps s_;
  Sizes sizes_;
  bool first_is_reverse_ = false;
  std::vector<Activation> activations_;
  size_t per_direction_ = 1;
  // Of the direction at hand.
  ValueId recurrent_ = kNoValue, recurrent_bias_ = kNoValue, peephole_ = kNoValue;
  // By direction.
  std::vector<State> last_;
  std::vector<std::vector<ValueId>> sequences_;
};

}  // namespace

void convert_recurrent(Node& node, NodeConversion& conversion) { RecurrentLayer(node, conversion).convert(); }

}  // namespace tilewright
