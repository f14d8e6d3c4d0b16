// The accuracy that counts is the one of the integer arithmetic, not of its simulation in floats.
#include "tilewright/flow/model/quantize_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tilewright/base/json.h"
#include "tilewright/flow/model/choice.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/frontend/onnx/opset/qonnx_form.h"
#include "tilewright/quantize/fixed_point/fixed_point_check.h"
#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"
#include "tilewright/quantize/integer_borders.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/mixed_precision.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/quantize/report.h"
#include "tilewright/tensor/tensor_parts.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

enum class QuantizedForm { kQdq, kQonnx };

QuantizedForm quantized_form(const std::string& format, Diagnostics& problems) {
  return choose<QuantizedForm>("format", format,
                               {{"qdq", QuantizedForm::kQdq}, {"qonnx", QuantizedForm::kQonnx}}, problems);
}

void choose_corrections(const std::string& names, QuantizeOptions& options, Diagnostics& problems) {
  bool* const chosen[] = {&options.correct_bias, &options.reconstruct, &options.equalize};
  for (bool* correction : chosen) *correction = false;
  if (names == "none") return;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    const auto known = std::find(std::begin(kCorrections), std::end(kCorrections), name);
    if (known == std::end(kCorrections)) {
      problems.error(
          ErrorKind::kInvalidInput, "corrections", "", fmt::format("unknown correction '{}'", name),
          fmt::format("choose some of {}, separated by commas, or none", fmt::join(kCorrections, ", ")));
    } else {
      *chosen[known - std::begin(kCorrections)] = true;
    }
  }
}

QuantizeOptions quantizer_options(const QuantizeRequest& request) {
  QuantizeOptions result;
  result.weight_bits = request.weight_bits;
  result.activation_bits = request.activation_bits;
  result.weight_group = request.weight_group;
  result.per_channel = !request.per_tensor;
  result.symmetric_activations = request.symmetric;
  Diagnostics problems;
  quantized_form(request.format, problems);
  result.scales =
      choose<ScaleKind>("scales", request.scales,
                        {{"real", ScaleKind::kReal}, {"power-of-two", ScaleKind::kPowerOfTwo}}, problems);
  result.calibration =
      choose<std::optional<CalibrationMethod>>("method", request.method,
                                               {{"best", std::nullopt},
                                                {"layer-error", CalibrationMethod::kLayerError},
                                                {"squared-error", CalibrationMethod::kSquaredError},
                                                {"min-max", CalibrationMethod::kMinMax},
                                                {"percentile", CalibrationMethod::kPercentile},
                                                {"kl", CalibrationMethod::kEntropy}},
                                               problems);
  choose_corrections(request.corrections, result, problems);
  problems.raise_if_any();
  result.float_nodes = request.keep_float;
  result.threads = request.threads;
  return result;
}

// nullopt: all layers have the same bits.
std::optional<MixedBits> mixed_bits(const QuantizeRequest& request) {
  if (request.mixed.empty()) {
    if (request.target_db == 0 && request.mean_bits == 0) return std::nullopt;
    throw Error(ErrorKind::kInvalidInput, "a target or mean bits are bounds of mixed bits",
                "say which bits a layer may have, for example --mixed 4,8");
  }
  MixedBits result;
  result.weight_bits.clear();
  Diagnostics problems;
  std::istringstream list(request.mixed);
  for (std::string item; std::getline(list, item, ',');) {
    int bits = 0;
    const auto [end, failure] = std::from_chars(item.data(), item.data() + item.size(), bits);
    if (failure != std::errc() || end != item.data() + item.size()) {
      problems.error(ErrorKind::kInvalidInput, "mixed", "", fmt::format("'{}' is no number of bits", item),
                     "give numbers from 2 to 8, and perhaps 16, separated by commas");
    } else if (bits == 16) {
      result.wide_activations = true;
    } else {
      result.weight_bits.push_back(bits);
    }
  }
  problems.raise_if_any();
  if (request.target_db != 0) result.target_db = request.target_db;
  if (request.mean_bits != 0) result.mean_bits = request.mean_bits;
  return result;
}

const std::string kCalibrationOption = "--calibration";

const SampleRequest& judged_samples(const QuantizeRequest& request) {
  return request.evaluation.empty() ? request.calibration : request.evaluation;
}

InputSamples read_judged(const QuantizeRequest& request, const Graph& graph) {
  return InputSamples::read(judged_samples(request), graph,
                            request.evaluation.empty() ? kCalibrationOption : "--evaluate", request.threads);
}

// One class number per sample of the accuracy; empty without labels.
std::vector<int64_t> read_labels(const QuantizeRequest& request, const Graph& graph, int64_t samples) {
  if (!request.labels) return {};
  const Value& output = graph.value(graph.outputs[0]);
  const int64_t batch = output.shape.rank() == 0 ? 1 : std::max<int64_t>(output.shape[0], 1);
  const int64_t classes = class_count(output.type, output.shape.element_count() / batch);
  return read_samples(*request.labels).labels(samples, classes, judged_samples(request).count > 0);
}

void check_quantized(const std::string& path, const Graph& graph) {
  const bool quantized = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                     [](const Node& node) { return node.is("QuantizeLinear"); });
  if (quantized) return;
  std::string operators;
  std::set<std::string> seen;
  for (const Node& node : graph.nodes) {
    if (seen.insert(node.op).second) operators += (operators.empty() ? "" : ", ") + node.op;
  }
  throw Error(ErrorKind::kUnsupported,
              fmt::format("'{}' contains nothing that can be quantised (operators: {})", path,
                          operators.empty() ? "none" : operators),
              "2-D convolutions and matrix products with constant weights are quantised, together with the "
              "operators between them");
}

nlohmann::json accuracy_json(const AccuracyReport& accuracy) {
  return {{"samples", accuracy.samples},
          {"float_accuracy", accuracy.float_accuracy()},
          {"quantized_accuracy", accuracy.quantized_accuracy()},
          {"agreements", accuracy.agreements}};
}

// What the states of a network are found to be, and the inputs that its caller gives.
struct CalledNetwork {
  std::vector<StatePair> states;
  Graph given;
  CalledNetwork(const Graph& graph, const QuantizeRequest& request)
      : states(find_states(graph, request.states)), given(without_states(graph, states)) {}
};

QuantizedModel quantize_to_fixed_point(const QuantizeRequest& request) {
  const int fraction = fraction_of_number_type(request.number_type);
  if (request.weight_bits != 8 || request.activation_bits != 8) {
    throw Error(ErrorKind::kInvalidInput, "fixed point has 32 bits for weights and activations",
                "omit --weight-bits and --activation-bits");
  }
  if (request.weight_group != 0) {
    throw Error(ErrorKind::kInvalidInput, "fixed point has no groups of weights", "omit --weight-group");
  }
  if (!request.mixed.empty()) {
    throw Error(ErrorKind::kInvalidInput, "fixed point has 32 bits in every layer", "omit --mixed");
  }
  if (request.format != "qdq") {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("fixed point has no form in the format '{}'", request.format), "omit --format");
  }
  const Graph graph = optimize(load_model(request.model));
  FixedPointReport report;
  Graph fixed = to_fixed_point(graph, fraction, &report);
  if (!is_fixed_point(fixed)) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("'{}' holds nothing that has a fixed-point form", request.model.path.string()));
  }
  if (!request.output.empty()) write_onnx(request.output, fixed);
  nlohmann::json json{
      {"fraction", fraction}, {"fixed_mac_share", report.fixed_mac_share()}, {"warnings", report.warnings}};
  std::string text;
  if (!judged_samples(request).empty()) {
    const CalledNetwork called(graph, request);
    const InputSamples judged = read_judged(request, called.given);
    const std::vector<Tensor> samples =
        samples_with_states(graph, called.states, judged.stack(), request.threads);
    const AccuracyReport accuracy = compare_accuracy(
        graph, fixed, samples, read_labels(request, graph, samples[0].shape()[0]), request.threads);
    const FixedPointCheck check = check_fixed_point(fixed, samples, request.threads);
    json.update(accuracy_json(accuracy));
    json["saturated"] = check.saturated();
    json["may_wrap"] = check.may_wrap();
    text = judged.text() + to_string(accuracy) + to_string(check);
    if (!judged.text().empty()) json["preprocessing"] = nlohmann::json::parse(judged.json());
  }
  return {std::move(fixed), {to_string(report) + text, json_text(json, 2) + "\n"}};
}

constexpr int64_t kNoiseRuns = 16;  // what the ratios are measured on

// The samples of the first `runs` runs.
std::vector<Tensor> first_runs(const Graph& graph, const std::vector<Tensor>& samples, int64_t runs) {
  std::vector<Tensor> result;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Shape& input = graph.value(graph.inputs[i]).shape;
    Shape shape = samples[i].shape();
    if (input.rank() > 0 && input[0] > 0) shape[0] = std::min(shape[0], input[0] * runs);
    result.push_back(shape == samples[i].shape() ? samples[i] : elements_from(samples[i], 0, shape));
  }
  return result;
}

nlohmann::json layers_json(const QuantizeReport& report) {
  nlohmann::json layers = nlohmann::json::array();
  for (const QuantizeReport::Layer& layer : report.layers) {
    layers.push_back({{"node", layer.node},
                      {"output", layer.output},
                      {"signal", layer.errors.signal},
                      {"weights_error", layer.errors.weights},
                      {"clipping_error", layer.errors.clipping},
                      {"rounding_error", layer.errors.rounding}});
  }
  return layers;
}

nlohmann::json attempts_json(const QuantizeReport& report) {
  nlohmann::json attempts = nlohmann::json::array();
  for (const QuantizeReport::Attempt& attempt : report.attempts) {
    attempts.push_back({{"recipe", attempt.recipe},
                        {"median_db", attempt.median_db},
                        {"output_db", attempt.output_db},
                        {"taken", attempt.taken}});
  }
  return attempts;
}

nlohmann::json mixed_json(const MixedReport& report) {
  nlohmann::json json{{"mean_bits", report.mean_bits},
                      {"output_db", report.output_db},
                      {"uniform_db", report.uniform_db},
                      {"reached", report.reached}};
  json["layers"] = json["activations"] = nlohmann::json::array();
  for (const MixedReport::Layer& layer : report.layers) {
    json["layers"].push_back({{"node", layer.node},
                              {"weights", layer.weights},
                              {"bits", layer.bits},
                              {"alone_db", layer.alone_db}});
  }
  for (const MixedReport::Activation& activation : report.activations) {
    json["activations"].push_back(
        {{"value", activation.value}, {"bits", activation.wide ? 16 : 8}, {"alone_db", activation.alone_db}});
  }
  return json;
}

nlohmann::json values_json(const std::vector<ValueNoise>& noise) {
  nlohmann::json values = nlohmann::json::array();
  for (const ValueNoise& n : noise) {
    values.push_back({{"value", n.value},
                      {"sqnr_db", std::isfinite(n.sqnr_db) ? nlohmann::json(n.sqnr_db) : nlohmann::json()}});
  }
  return values;
}

struct GivenSamples {
  std::optional<InputSamples> calibration, judged;  // judged: none if the calibration's are judged
};

// Errors: those of all that is given, together.
GivenSamples read_given(QuantizeRequest request, const Graph& graph) {
  // Steps for pictures are no mistake where only one of the two holds pictures.
  if (holds_media(request.evaluation) && !holds_media(request.calibration))
    request.calibration.preprocess.clear();
  if (holds_media(request.calibration) && !holds_media(request.evaluation))
    request.evaluation.preprocess.clear();
  GivenSamples given;
  Diagnostics problems;
  std::set<std::string> told;
  const auto collect = [&](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      for (const Diagnostic& problem : error.diagnostics()) {
        if (told.insert(to_string(problem)).second) problems.add(problem);
      }
    }
  };
  collect([&] {
    given.calibration = InputSamples::read(request.calibration, graph, kCalibrationOption, request.threads);
  });
  if (!request.evaluation.empty()) collect([&] { given.judged = read_judged(request, graph); });
  if (request.labels) collect([&] { read_samples(*request.labels); });
  problems.raise_if_any();
  return given;
}

QuantizedModel quantize_to_integers(const QuantizeRequest& request) {
  const QuantizeOptions options = quantizer_options(request);
  const std::optional<MixedBits> bits = mixed_bits(request);
  const Graph graph = optimize(load_model(request.model));
  const CalledNetwork called(graph, request);
  if (request.integer_borders && !called.states.empty()) {
    throw Error(ErrorKind::kInvalidInput,
                "a network with states does not take and give integers: input and output of a state may have "
                "different scales",
                "leave out --integer-borders");
  }
  const GivenSamples given = read_given(request, called.given);
  const auto stacked = [&](const InputSamples& from) {
    return samples_with_states(graph, called.states, from.stack(), request.threads);
  };
  const std::vector<Tensor> calibration = stacked(*given.calibration);
  const std::vector<Tensor> samples = given.judged ? stacked(*given.judged) : calibration;
  const std::string preprocessing =
      given.calibration->text() + (given.judged ? given.judged->text() : std::string());
  const std::vector<int64_t> labels = read_labels(request, graph, samples[0].shape()[0]);

  QuantizeReport sensitivity;
  MixedReport mixed;
  Graph quantized = bits ? quantize_mixed(graph, calibration, options, *bits, &sensitivity, &mixed)
                         : quantize(graph, calibration, options, &sensitivity);
  check_quantized(request.model.path.string(), quantized);
  const NetworkNoise noise = NoiseMeter(graph, first_runs(graph, samples, kNoiseRuns), request.threads)
                                 .measure(quantized, sensitivity.factors);
  IntegerizeReport integer_report;
  const Graph integer = integerize(quantized, &integer_report);
  std::vector<IntegerBorder> borders;
  if (request.integer_borders) quantized = with_integer_borders(std::move(quantized), &borders);
  if (!request.output.empty()) write_quantized(request.output, quantized, request.format);
  const AccuracyReport accuracy = compare_accuracy(graph, integer, samples, labels, request.threads);
  nlohmann::json json = {{"samples", accuracy.samples},
                         {"float_accuracy", accuracy.float_accuracy()},
                         {"int8_accuracy", accuracy.quantized_accuracy()},
                         {"agreements", accuracy.agreements},
                         {"integer_mac_share", integer_report.integer_mac_share()},
                         {"weight_bits", sensitivity.weight_bits},
                         {"layers", layers_json(sensitivity)},
                         {"values", values_json(noise.values)},
                         {"outputs", values_json(noise.outputs)},
                         {"attempts", attempts_json(sensitivity)}};
  if (bits) json["mixed"] = mixed_json(mixed);
  std::string border_text;
  for (const IntegerBorder& border : borders) {
    border_text += to_string(border) + "\n";
    nlohmann::json row = {{"name", border.name}, {"scale", border.scale}, {"zero_point", border.zero_point}};
    if (border.axis >= 0) row.update({{"axis", border.axis}, {"begin", border.begin}, {"end", border.end}});
    json["borders"].push_back(std::move(row));
  }
  const InputSamples& told =
      given.calibration->text().empty() && given.judged ? *given.judged : *given.calibration;
  if (!told.text().empty()) json["preprocessing"] = nlohmann::json::parse(told.json());
  return {std::move(quantized),
          {preprocessing + to_string(accuracy) + "\n" + to_string(integer_report) + border_text + "\n" +
               sensitivity_text(graph, sensitivity, noise) + (bits ? "\n" + to_string(mixed) : ""),
           json_text(json, 2) + "\n"}};
}

}  // namespace

void write_quantized(const std::filesystem::path& path, const Graph& graph, const std::string& format) {
  Diagnostics problems;
  const QuantizedForm form = quantized_form(format, problems);
  problems.raise_if_any();
  write_onnx(path, form == QuantizedForm::kQonnx ? in_qonnx(graph) : graph);
}

QuantizedModel quantize_model(const QuantizeRequest& request) {
  return request.number_type == "int8" ? quantize_to_integers(request) : quantize_to_fixed_point(request);
}

}  // namespace tilewright
