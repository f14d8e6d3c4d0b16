// An answer is the class in output 0.
#include "tilewright/quantize/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tilewright/base/parallel.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/calibrate/calibration.h"

namespace tilewright {

namespace {

bool gives_classes(ElementType type, int64_t elements_per_sample) {
  return elements_per_sample == 1 && !is_float(type);
}

}  // namespace

int64_t class_count(ElementType type, int64_t elements_per_sample) {
  return gives_classes(type, elements_per_sample) ? int64_t{1} << 31 : elements_per_sample;
}

std::vector<int64_t> classes_in(const Tensor& output, int64_t samples) {
  std::vector<int64_t> classes;
  if (output.size() == 0) return classes;
  const int64_t each = output.size() / samples;
  for (int64_t sample = 0; sample < samples; ++sample) {
    if (gives_classes(output.type(), each)) {
      classes.push_back(output.integer_at(sample));
      continue;
    }
    int64_t best = 0;
    for (int64_t k = 1; k < each; ++k) {
      if (output.number_at(sample * each + k) > output.number_at(sample * each + best)) best = k;
    }
    classes.push_back(best);
  }
  return classes;
}

std::vector<int64_t> classify(const Graph& graph, const std::vector<Tensor>& samples, int threads) {
  const SampleInputs inputs(graph, samples);
  const int outer = int(std::clamp<int64_t>(inputs.runs(), 1, std::max(threads, 1)));
  const Executor executor(graph, HostOptions{std::max(1, threads / outer)});
  if (graph.outputs.empty()) throw Error(ErrorKind::kInvalidInput, "the model has no outputs");
  const int64_t batch = inputs.batch();
  const int64_t size = graph.value(graph.outputs[0]).shape.element_count();
  if (size == 0 || size % batch != 0) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("output '{}' has no class scores per sample",
                                                      graph.value(graph.outputs[0]).name));
  }
  std::vector<int64_t> classes(size_t(inputs.runs() * batch), 0);
  parallel_for(outer, inputs.runs(), [&](int64_t begin, int64_t end) {
    for (int64_t run = begin; run < end; ++run) {
      const std::vector<int64_t> found = classes_in(executor.run(inputs.inputs(run))[0], batch);
      std::copy(found.begin(), found.end(), classes.begin() + std::ptrdiff_t(run * batch));
    }
  });
  return classes;
}

AccuracyReport compare_accuracy(const Graph& float_graph, const Graph& quantized,
                                const std::vector<Tensor>& samples, const std::vector<int64_t>& labels,
                                int threads) {
  const std::vector<int64_t> expected = classify(float_graph, samples, threads);
  const std::vector<int64_t> actual = classify(quantized, samples, threads);
  if (expected.size() != actual.size()) {
    throw Error(ErrorKind::kInvalidInput, "the two models run a different number of samples");
  }
  if (!labels.empty() && labels.size() != expected.size()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} labels were given for {} samples", labels.size(), expected.size()),
                "give one label per sample");
  }
  AccuracyReport report;
  report.samples = int64_t(expected.size());
  report.labelled = int64_t(labels.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    report.agreements += expected[i] == actual[i];
    if (labels.empty()) continue;
    report.float_correct += expected[i] == labels[i];
    report.quantized_correct += actual[i] == labels[i];
  }
  return report;
}

std::string to_string(const AccuracyReport& report) {
  std::string text = fmt::format(
      "{} samples, {} ({:.2f}%) with the same answer in float and quantised\n", report.samples,
      report.agreements, 100.0 * double(report.agreements) / double(std::max<int64_t>(report.samples, 1)));
  if (report.labelled == 0) return text;
  text += fmt::format("accuracy: float {:.2f}%, quantised {:.2f}% ({:+.2f} points)\n",
                      100 * report.float_accuracy(), 100 * report.quantized_accuracy(),
                      100 * (report.quantized_accuracy() - report.float_accuracy()));
  return text;
}

std::string to_string(const std::vector<ValueNoise>& noise) {
  size_t width = 5;
  for (const ValueNoise& n : noise) width = std::max(width, n.value.size());
  std::string text = fmt::format("{:{}}  SQNR dB  largest error  largest magnitude\n", "value", width);
  for (const ValueNoise& n : noise) {
    text += fmt::format("{:{}}  {:7.2f}  {:13.6g}  {:17.6g}\n", n.value, width, n.sqnr_db, n.largest_error,
                        n.largest_magnitude);
  }
  return text;
}

// Of numbers spread evenly over the range, in dB. A value that is closer, such as pixels of 8 bits, happens
// to lie on the steps, and nothing computed from it could be as close.
constexpr double kBestOfEightBits = 48;

std::optional<NoiseLoss> largest_loss(const Graph& float_graph, const std::vector<ValueNoise>& noise) {
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < noise.size(); ++i) known[noise[i].value] = i;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // By value: its own ratio where it is known, else the least of what it is made from.
  std::vector<double> ratio(float_graph.values.size(), kInfinity);
  std::optional<NoiseLoss> result;
  const auto visit = [&](ValueId v, double before) {
    if (v == kNoValue) return;
    const auto found = known.find(float_graph.value(v).name);
    if (found == known.end()) {
      ratio[size_t(v)] = before;
      return;
    }
    const double own = noise[found->second].sqnr_db, loss = before - own;
    ratio[size_t(v)] = std::min(own, kBestOfEightBits);
    if (std::isfinite(loss) && loss > (result ? result->loss_db : 0)) result = {found->second, loss};
  };
  for (ValueId v : float_graph.inputs) visit(v, kInfinity);
  for (const Node& node : float_graph.nodes) {
    double before = kInfinity;
    for (ValueId v : node.inputs) {
      if (v != kNoValue) before = std::min(before, ratio[size_t(v)]);
    }
    for (ValueId v : node.outputs) visit(v, before);
  }
  return result;
}

namespace {

double decibels(double signal, double error) {
  if (error <= 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(std::max(signal, 1e-300) / error);
}

std::string cause_of(const LayerErrors& errors) {
  const double total = errors.total();
  if (total <= 0) return "-";
  if (errors.clipping >= errors.weights && errors.clipping >= errors.rounding)
    return fmt::format("{:.0f} % from clipping its input", 100 * errors.clipping / total);
  if (errors.weights >= errors.rounding)
    return fmt::format("{:.0f} % from rounding its weights", 100 * errors.weights / total);
  return fmt::format("{:.0f} % from rounding its input", 100 * errors.rounding / total);
}

std::string attempts_text(const QuantizeReport& report) {
  if (report.attempts.empty()) return "";
  std::string text =
      fmt::format("\n{:<45} {:>9} {:>9}\n", "tried, on samples held out", "median dB", "output dB");
  for (const QuantizeReport::Attempt& attempt : report.attempts) {
    text += fmt::format("{:<45} {:>9.1f} {:>9.1f}{}\n", attempt.recipe, attempt.median_db, attempt.output_db,
                        attempt.taken ? "  taken" : "");
  }
  return text;
}

}  // namespace

std::string sensitivity_text(const Graph& float_graph, const QuantizeReport& report,
                             const NetworkNoise& measured) {
  const std::vector<ValueNoise>& noise = measured.values;
  std::map<std::string, const ValueNoise*> outputs;
  for (const ValueNoise& n : noise) outputs[n.value] = &n;
  std::string text = fmt::format("{:<32} {:>10} {:>9}  {}\n", "layer", "output dB", "own dB", "own error");
  for (const QuantizeReport::Layer& layer : report.layers) {
    const auto output = outputs.find(layer.output);
    text += fmt::format("{:<32} {:>10} {:>9.1f}  {}\n", layer.node,
                        output == outputs.end() ? "-" : fmt::format("{:.1f}", output->second->sqnr_db),
                        decibels(layer.errors.signal, layer.errors.total()), cause_of(layer.errors));
  }
  for (const ValueNoise& output : measured.outputs)
    text += fmt::format("output '{}': {:.1f} dB\n", output.value, output.sqnr_db);
  if (report.recipe.weight_group > 0) {
    text += fmt::format("{:.2f} bits a weight on average, with the factors of groups of {}\n",
                        report.weight_bits, report.recipe.weight_group);
  }
  if (!noise.empty()) {
    text += fmt::format("signal to noise of {} values: median {:.1f} dB, least {:.1f} dB\n", noise.size(),
                        median_db(noise), least_db(noise));
  }
  if (const auto loss = largest_loss(float_graph, noise)) {
    const ValueNoise& value = noise[loss->value];
    text += fmt::format("largest loss: {:.1f} dB at '{}'", loss->loss_db, value.value);
    const auto layer = std::find_if(report.layers.begin(), report.layers.end(),
                                    [&](const QuantizeReport::Layer& l) { return l.output == value.value; });
    if (layer != report.layers.end()) text += ", of its layer's own error " + cause_of(layer->errors);
    text += "\n";
  }
  return text + attempts_text(report);
}

}  // namespace tilewright
