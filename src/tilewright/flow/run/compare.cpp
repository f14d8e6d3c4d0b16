// Three runs on the same inputs: the float model, the integer graph on the host, and the functional overlay
// engine. Range is the cause where values out of range make up more than half of the squared error; layout
// where sorting both sides, which ignores places, lifts the ratio over the threshold and by 10 dB or more.
#include "tilewright/flow/run/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tilewright/base/json.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/samples/input_samples.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/report.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

double signal_to_noise_db(double signal, double noise) {
  if (noise == 0) return std::numeric_limits<double>::infinity();
  return signal == 0 ? 0 : 10 * std::log10(signal / noise);
}

// The ratio when both sides are sorted: blind to the places of the values.
double sorted_ratio_db(std::vector<double> expected, std::vector<double> actual) {
  std::sort(expected.begin(), expected.end());
  std::sort(actual.begin(), actual.end());
  double signal = 0, noise = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    signal += expected[i] * expected[i];
    noise += (expected[i] - actual[i]) * (expected[i] - actual[i]);
  }
  return signal_to_noise_db(signal, noise);
}

}  // namespace

const char* name(DivergenceCause cause) {
  switch (cause) {
    case DivergenceCause::kNone:
      return "-";
    case DivergenceCause::kRange:
      return "range";
    case DivergenceCause::kLayout:
      return "layout";
    case DivergenceCause::kRounding:
      return "rounding";
  }
  return "-";
}

TensorComparison compare_tensors(const Tensor& expected, const Tensor& integers,
                                 const IntegerMeaning& meaning, double threshold_db) {
  TensorComparison result{meaning.integer, meaning.source};
  const double low = meaning.scale * double(lowest(integers.type()) - meaning.zero_point);
  const double high = meaning.scale * double(highest(integers.type()) - meaning.zero_point);
  double signal = 0, noise = 0, range_noise = 0;
  int64_t saturated = 0;
  std::vector<double> x(static_cast<size_t>(expected.size())), y(x.size());
  for (int64_t i = 0; i < expected.size(); ++i) {
    x[size_t(i)] = expected.number_at(i);
    y[size_t(i)] = meaning.scale * double(integers.integer_at(i) - meaning.zero_point);
    const double value = x[size_t(i)], error = value - y[size_t(i)];
    const bool outside = value < low - meaning.scale / 2 || value > high + meaning.scale / 2;
    signal += value * value;
    noise += error * error;
    if (outside) range_noise += error * error;
    saturated += outside;
    result.largest_error_steps = std::max(result.largest_error_steps, std::abs(error) / meaning.scale);
  }
  result.saturated_share = x.empty() ? 0 : double(saturated) / double(x.size());
  result.sqnr_db = signal_to_noise_db(signal, noise);
  if (noise > 0) {
    const double steps = meaning.scale * meaning.scale / 12 * double(expected.size() - saturated);
    result.range_share = range_noise / noise;
    result.step_share = std::min(steps / noise, 1 - result.range_share);
  }
  if (result.sqnr_db >= threshold_db) return result;
  if (range_noise > noise / 2) {
    result.cause = DivergenceCause::kRange;
  } else if (sorted_ratio_db(std::move(x), std::move(y)) >= std::max(threshold_db, result.sqnr_db + 10)) {
    result.cause = DivergenceCause::kLayout;
  } else {
    result.cause = DivergenceCause::kRounding;
  }
  return result;
}

namespace {

// The bundle's meanings with sources of the float model. A graph output keeps its name behind its
// DequantizeLinear, so the value before it got another one: that value goes by the output's name.
std::vector<IntegerMeaning> meanings_in(const Graph& float_model, const Bundle& bundle) {
  std::set<std::string> known;
  for (const Value& value : float_model.values) known.insert(value.name);
  std::map<std::string, std::string> outputs;  // by the integer value it is made from
  for (const Node& node : bundle.graph.nodes) {
    if (!node.is("DequantizeLinear")) continue;
    const ValueId made = node.outputs[0];
    if (std::count(bundle.graph.outputs.begin(), bundle.graph.outputs.end(), made) == 0) continue;
    outputs[bundle.graph.value(node.input(0)).name] = bundle.graph.value(made).name;
  }
  std::vector<IntegerMeaning> result = bundle.meanings;
  for (IntegerMeaning& meaning : result) {
    const auto output = outputs.find(meaning.integer);
    if (known.count(meaning.source) == 0 && output != outputs.end()) meaning.source = output->second;
  }
  return result;
}

}  // namespace

ModelComparison compare_models(const Graph& float_model, const Bundle& bundle,
                               const std::vector<Tensor>& inputs, double threshold_db) {
  const std::vector<IntegerMeaning> meanings = meanings_in(float_model, bundle);
  std::set<std::string> wanted;
  for (const IntegerMeaning& meaning : meanings) wanted.insert(meaning.source);
  std::map<std::string, Tensor> float_values, integer_values;
  const Executor float_executor(float_model);
  float_executor.run(inputs, [&](ValueId id, const Tensor& tensor) {
    const std::string& value = float_model.value(id).name;
    if (wanted.count(value)) float_values[value] = tensor;
  });
  const Executor reference(bundle.graph);
  reference.run(inputs, [&](ValueId id, const Tensor& tensor) {
    integer_values[bundle.graph.value(id).name] = tensor;
  });

  ModelComparison result;
  Session session(std::make_shared<const Engine>(bundle, Execution::kAsPlaced));
  session.run(inputs, [&](ValueId id, const Tensor& tensor) {
    const std::string& value = bundle.graph.value(id).name;
    const auto expected = integer_values.find(value);
    if (expected != integer_values.end() && !expected->second.identical(tensor))
      result.engine_faults.push_back(value);
  });
  for (const IntegerMeaning& meaning : meanings) {
    const auto expected = float_values.find(meaning.source);
    const auto actual = integer_values.find(meaning.integer);
    if (expected == float_values.end() || actual == integer_values.end() ||
        expected->second.size() != actual->second.size()) {
      continue;
    }
    result.tensors.push_back(compare_tensors(expected->second, actual->second, meaning, threshold_db));
    if (result.first_divergence < 0 && result.tensors.back().cause != DivergenceCause::kNone) {
      result.first_divergence = int(result.tensors.size()) - 1;
    }
  }
  std::vector<ValueNoise> noise;
  for (const TensorComparison& t : result.tensors) noise.push_back({t.source, t.sqnr_db, 0, 0});
  if (const auto loss = largest_loss(float_model, noise)) {
    result.largest_loss = int(loss->value);
    result.loss_db = loss->loss_db;
  }
  const auto is_input = [&](const std::string& name) {
    return std::any_of(float_model.inputs.begin(), float_model.inputs.end(),
                       [&](ValueId v) { return float_model.value(v).name == name; });
  };
  const bool computes = std::any_of(meanings.begin(), meanings.end(),
                                    [&](const IntegerMeaning& m) { return !is_input(m.source); });
  const bool knows_computed = std::any_of(result.tensors.begin(), result.tensors.end(),
                                          [&](const TensorComparison& t) { return !is_input(t.source); });
  if (result.tensors.empty() || (computes && !knows_computed)) {
    throw Error(ErrorKind::kInvalidInput, "no tensor of the bundle is known in the float model",
                "give the model that 'tilewright quantize' read");
  }
  return result;
}

ModelComparison compare_samples(const Graph& float_model, const Bundle& bundle, const SampleRequest& input,
                                double threshold_db) {
  const InputSamples samples = InputSamples::read(input, float_model, "--input");
  ModelComparison comparison = compare_models(float_model, bundle, samples.cut(0), threshold_db);
  comparison.preprocessing = {samples.text(), samples.json()};
  comparison.samples = samples.count();
  return comparison;
}

ModelComparison compare_files(const ModelFile& float_model, const std::filesystem::path& bundle,
                              const SampleRequest& input, double threshold_db) {
  return compare_samples(optimize(load_model(float_model)), read_bundle(bundle), input, threshold_db);
}

std::string to_string(const ModelComparison& comparison) {
  std::string text = comparison.preprocessing.text;
  if (comparison.samples > 1)
    text += fmt::format("the first of {} samples is compared\n", comparison.samples);
  text += fmt::format("{:<32} {:>9} {:>14} {:>11}  {}\n", "tensor", "SQNR dB", "largest error", "saturated",
                      "cause");
  for (const TensorComparison& t : comparison.tensors) {
    text += fmt::format("{:<32} {:>9.1f} {:>8.2f} steps {:>9.2f} %  {}\n", t.source, t.sqnr_db,
                        t.largest_error_steps, 100 * t.saturated_share, name(t.cause));
  }
  if (comparison.first_divergence < 0) {
    text += "no tensor diverges from the float model\n";
  } else {
    const TensorComparison& t = comparison.tensors[size_t(comparison.first_divergence)];
    text += fmt::format("first divergence: tensor '{}', because of {}\n", t.source, name(t.cause));
  }
  if (comparison.largest_loss >= 0) {
    const TensorComparison& t = comparison.tensors[size_t(comparison.largest_loss)];
    text += fmt::format(
        "largest loss: {:.1f} dB at tensor '{}'; of its error, {:.0f} % is beyond its range, {:.0f} % its "
        "own steps, "
        "{:.0f} % from what computes it\n",
        comparison.loss_db, t.source, 100 * t.range_share, 100 * t.step_share,
        100 * std::max(0.0, 1 - t.range_share - t.step_share));
  }
  for (const std::string& value : comparison.engine_faults) {
    text += fmt::format("the simulator differs from the integer reference in '{}'\n", value);
  }
  return text;
}

std::string to_json(const ModelComparison& comparison) {
  nlohmann::json tensors = nlohmann::json::array();
  for (const TensorComparison& t : comparison.tensors) {
    tensors.push_back({{"tensor", t.source},
                       {"integer", t.integer},
                       {"sqnr_db", std::isfinite(t.sqnr_db) ? nlohmann::json(t.sqnr_db) : nlohmann::json()},
                       {"largest_error_steps", t.largest_error_steps},
                       {"saturated_share", t.saturated_share},
                       {"range_share", t.range_share},
                       {"step_share", t.step_share},
                       {"cause", name(t.cause)}});
  }
  nlohmann::json facts = {{"tensors", tensors},
                          {"first_divergence", comparison.first_divergence},
                          {"largest_loss", comparison.largest_loss},
                          {"loss_db", comparison.loss_db},
                          {"engine_faults", comparison.engine_faults}};
  if (!comparison.preprocessing.text.empty())
    facts["preprocessing"] = nlohmann::json::parse(comparison.preprocessing.json);
  return json_text(facts, 2) + "\n";
}

}  // namespace tilewright
