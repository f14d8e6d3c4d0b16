// Names are looked up once; values move in the order of the pairs.
#include "tilewright/flow/model/network_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/calibrate/calibration.h"
#include "tilewright/tensor/tensor_parts.h"

namespace tilewright {
namespace {

// The position of the value called `name` in a list of them; -1 if it is not there.
int position(const Graph& graph, const std::vector<ValueId>& ids, const std::string& name) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (graph.value(ids[i]).name == name) return int(i);
  }
  return -1;
}

std::string listed(const Graph& graph, const std::vector<ValueId>& ids) {
  std::string text;
  for (const ValueId id : ids) text += (text.empty() ? "'" : ", '") + graph.value(id).name + "'";
  return text.empty() ? "none" : text;
}

}  // namespace

std::vector<StatePair> find_states(const Graph& graph, const std::vector<StatePair>& named) {
  std::vector<StatePair> states = named;
  for (const ValueId id : graph.inputs) {
    const std::string& input = graph.value(id).name;
    const bool is_named = std::ranges::find(named, input, &StatePair::input) != named.end();
    if (!is_named && position(graph, graph.outputs, input + ".next") >= 0)
      states.push_back({input, input + ".next"});
  }
  Diagnostics problems;
  std::set<std::string> seen;
  for (const StatePair& state : states) {
    const std::string where = fmt::format("state '{}={}'", state.input, state.output);
    const auto wrong = [&](const std::string& message, const std::string& hint) {
      problems.error(ErrorKind::kInvalidInput, where, "", message, hint);
    };
    const int input = position(graph, graph.inputs, state.input),
              output = position(graph, graph.outputs, state.output);
    if (input < 0)
      wrong(fmt::format("the network has no input '{}'", state.input),
            "its inputs: " + listed(graph, graph.inputs));
    if (output < 0)
      wrong(fmt::format("the network has no output '{}'", state.output),
            "its outputs: " + listed(graph, graph.outputs));
    if (!seen.insert(state.input).second)
      wrong("the input is named twice", "one output becomes the next input");
    if (input < 0 || output < 0) continue;
    const Value &from = graph.value(graph.outputs[size_t(output)]),
                &to = graph.value(graph.inputs[size_t(input)]);
    if (from.type != to.type || from.shape != to.shape) {
      wrong(fmt::format("the output is {}, the input {}", to_string(from.type, from.shape),
                        to_string(to.type, to.shape)),
            "a state keeps its type and shape");
    }
  }
  problems.raise_if_any();
  return states;
}

Graph without_states(Graph graph, const std::vector<StatePair>& states) {
  std::erase_if(graph.inputs, [&](ValueId id) {
    return std::ranges::find(states, graph.value(id).name, &StatePair::input) != states.end();
  });
  return graph;
}

StateValues::StateValues(const Graph& graph, std::vector<StatePair> states) : states_(std::move(states)) {
  state_of_input_.assign(graph.inputs.size(), -1);
  for (size_t i = 0; i < states_.size(); ++i) {
    const auto input = size_t(position(graph, graph.inputs, states_[i].input));
    state_of_input_[input] = int(i);
    output_index_.push_back(size_t(position(graph, graph.outputs, states_[i].output)));
    const Value& value = graph.value(graph.inputs[input]);
    values_.emplace_back(value.type, value.shape);
  }
}

void StateValues::set(std::vector<Tensor> values) {
  bool fits = values.size() == values_.size();
  for (size_t i = 0; fits && i < values.size(); ++i) {
    fits = values[i].type() == values_[i].type() && values[i].shape() == values_[i].shape();
  }
  if (!fits)
    throw Error(ErrorKind::kInvalidInput, "its states have other types or shapes than those of the network");
  values_ = std::move(values);
}

std::vector<Tensor> StateValues::inputs(std::vector<Tensor> given) const {
  std::vector<Tensor> all;
  size_t next = 0;
  for (const int state : state_of_input_)
    all.push_back(state >= 0 ? values_[size_t(state)] : std::move(given[next++]));
  return all;
}

void StateValues::advance(const std::vector<Tensor>& outputs) {
  for (size_t i = 0; i < states_.size(); ++i) values_[i] = outputs[output_index_[i]];
}

std::vector<Tensor> samples_with_states(const Graph& graph, const std::vector<StatePair>& states,
                                        const std::vector<Tensor>& given, int threads) {
  if (states.empty()) return given;
  const SampleInputs samples(without_states(graph, states), given);
  StateValues state(graph, states);
  const Executor executor(graph, HostOptions{threads});
  std::vector<Tensor> all;
  for (int64_t run = 0; run < samples.runs(); ++run) {
    const std::vector<Tensor> inputs = state.inputs(samples.inputs(run));
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (run == 0) {
        Shape shape = inputs[i].shape();
        if (shape.rank() > 0) shape[0] *= samples.runs();
        all.emplace_back(inputs[i].type(), std::move(shape));
      }
      if (inputs[i].shape().rank() > 0 || run == 0) set_elements(all[i], run * inputs[i].size(), inputs[i]);
    }
    state.advance(executor.run(inputs));
  }
  return all;
}

}  // namespace tilewright
