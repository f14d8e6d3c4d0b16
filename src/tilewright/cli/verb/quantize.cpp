// `quantize`: calibrates on samples and writes the QDQ model, or the fixed-point form, which needs no
// samples. Accuracy is measured on the integer arithmetic, not on its simulation in floats.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "tilewright/base/json.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/quantize/fixed_point/fixed_point_check.h"
#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/quantize/report.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright::cli {
namespace {

tilewright::QuantizeOptions library_options(const QuantizeOptions& options) {
  tilewright::QuantizeOptions result;
  result.weight_bits = options.weight_bits;
  result.activation_bits = options.activation_bits;
  result.per_channel = !options.per_tensor;
  result.scales = options.scales == "real" ? ScaleKind::kReal : ScaleKind::kPowerOfTwo;
  const std::optional<CalibrationMethod> method =
      parse_calibration_method(options.method == "kl" ? "entropy" : options.method);
  TILEWRIGHT_CHECK(method.has_value(), "the command line lets an unknown calibration method through");
  result.calibration = *method;
  result.threads = options.threads;
  return result;
}

std::vector<Tensor> stack(const Graph& graph, const Samples& samples) {
  count_inputs(graph, samples);  // a model with several inputs is an error
  const Value& input = graph.value(graph.inputs[0]);
  return {samples.stack(input.type, input.shape)};
}

// One class number per sample of the accuracy report; empty without --labels.
std::vector<int64_t> read_labels(const QuantizeOptions& options, const Graph& graph, int64_t samples) {
  if (options.labels.empty()) return {};
  const DataOptions& data = options.evaluation.path.empty() ? options.calibration : options.evaluation;
  const Value& output = graph.value(graph.outputs[0]);
  const int64_t batch = output.shape.rank() == 0 ? 1 : std::max<int64_t>(output.shape[0], 1);
  const int64_t classes = class_count(output.type, output.shape.element_count() / batch);
  return Samples::read(options.labels).labels(samples, classes, data.count > 0);
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

nlohmann::json to_json(const AccuracyReport& accuracy) {
  return {{"samples", accuracy.samples},
          {"float_accuracy", accuracy.float_accuracy()},
          {"quantized_accuracy", accuracy.quantized_accuracy()},
          {"agreements", accuracy.agreements}};
}

// Fixed point needs no samples to be written, only to be judged.
void quantize_to_fixed_point(const QuantizeOptions& options, std::ostream& out) {
  const int fraction = fraction_of_number_type(options.number_type);
  if (options.weight_bits != 8 || options.activation_bits != 8) {
    throw Error(ErrorKind::kInvalidInput, "fixed point has 32 bits for weights and activations",
                "omit --weight-bits and --activation-bits");
  }
  const Graph graph = tilewright::optimize(read_model(options.model));
  FixedPointReport report;
  const Graph fixed = to_fixed_point(graph, fraction, &report);
  if (!is_fixed_point(fixed)) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("'{}' holds nothing that has a fixed-point form", options.model.path));
  }
  write_onnx(options.output, fixed);
  const DataOptions& data = options.evaluation.path.empty() ? options.calibration : options.evaluation;
  nlohmann::json json{
      {"fraction", fraction}, {"fixed_mac_share", report.fixed_mac_share()}, {"warnings", report.warnings}};
  std::string text;
  if (!data.path.empty()) {
    const std::vector<Tensor> samples = stack(graph, read_samples(data));
    const AccuracyReport accuracy = compare_accuracy(
        graph, fixed, samples, read_labels(options, graph, samples[0].shape()[0]), options.threads);
    const FixedPointCheck check = check_fixed_point(fixed, samples, options.threads);
    json.update(to_json(accuracy));
    json["saturated"] = check.saturated();
    json["may_wrap"] = check.may_wrap();
    text = to_string(accuracy) + to_string(check);
  }
  out << (options.json ? json_text(json, 2) + "\n" : to_string(report) + text);
}

}  // namespace

void quantize(const QuantizeOptions& options, std::ostream& out) {
  if (options.number_type != "int8") return quantize_to_fixed_point(options, out);
  const Graph graph = tilewright::optimize(read_model(options.model));
  if (options.calibration.path.empty()) {
    throw Error(ErrorKind::kInvalidInput, "no calibration inputs", "give an array with --calibration");
  }
  const std::vector<Tensor> calibration = stack(graph, read_samples(options.calibration));
  const bool evaluates = !options.evaluation.path.empty();
  const std::vector<Tensor> samples =
      evaluates ? stack(graph, read_samples(options.evaluation)) : calibration;
  const std::vector<int64_t> labels = read_labels(options, graph, samples[0].shape()[0]);

  const Graph quantized = tilewright::quantize(graph, calibration, library_options(options));
  check_quantized(options.model.path, quantized);
  write_onnx(options.output, quantized);

  // The accuracy that counts is the one of the integer arithmetic, not of its float simulation.
  IntegerizeReport integer_report;
  const Graph integer = integerize(quantized, &integer_report);
  const AccuracyReport accuracy = compare_accuracy(graph, integer, samples, labels, options.threads);
  if (options.json) {
    out << json_text(nlohmann::json{{"samples", accuracy.samples},
                                    {"float_accuracy", accuracy.float_accuracy()},
                                    {"int8_accuracy", accuracy.quantized_accuracy()},
                                    {"agreements", accuracy.agreements},
                                    {"integer_mac_share", integer_report.integer_mac_share()}},
                     2)
        << "\n";
    return;
  }
  out << to_string(accuracy) << "\n" << to_string(integer_report);
}

}  // namespace tilewright::cli
