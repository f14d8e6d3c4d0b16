// A model with random weights is calibrated on random inputs: its numbers mean nothing anyway.
#include "tilewright/flow/design/design_question.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "tilewright/base/file.h"
#include "tilewright/base/folder_writer.h"
#include "tilewright/base/plain_text.h"
#include "tilewright/flow/design/design_folder.h"
#include "tilewright/flow/model/choice.h"
#include "tilewright/flow/model/hardware_form.h"
#include "tilewright/flow/model/quantize_model.h"
#include "tilewright/flow/model/single_image.h"
#include "tilewright/flow/samples/input_samples.h"
#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/report.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

constexpr int64_t kSeededInputs = 8;

NumberFormat number_format(const DesignQuestion& question) {
  NumberFormat format;
  format.weight_bits = question.weight_bits;
  format.activation_bits = question.activation_bits;
  if (question.number_type == "int8") return format;
  if (question.weight_bits != 8 || question.activation_bits != 8) {
    throw Error(ErrorKind::kInvalidInput, "fixed point has 32 bits for weights and activations",
                "omit --weight-bits and --activation-bits");
  }
  format.fixed = true;
  format.fraction = fraction_of_number_type(question.number_type);
  return format;
}

std::vector<Tensor> calibration_inputs(const DesignQuestion& question, const Graph& model, Answer& account) {
  if (!question.calibration.empty()) {
    const InputSamples read =
        InputSamples::read(question.calibration, model, "--calibration", question.threads);
    account = {read.text(), read.json()};
    return read.stack();
  }
  if (question.model.options.fill_gain == 0) return {};
  return random_inputs(model, kSeededInputs);
}

GenerateRequest generate_request(const DesignQuestion& question) {
  GenerateRequest request;
  request.device = find_device(question.device, question.folders.devices());
  request.budget = pipeline::device_budget(request.device);
  if (!question.budget.empty()) pipeline::apply_budget(request.budget, question.budget);
  if (question.clock_mhz > 0) request.budget.clock_mhz = question.clock_mhz;
  Diagnostics problems;
  request.objective = choose<pipeline::Objective>(
      "objective", question.objective,
      {{"latency", pipeline::Objective::kLatency}, {"throughput", pipeline::Objective::kThroughput}},
      problems);
  request.allocate.streaming = choose<bool>(
      "form", question.form, {{"auto", true}, {"streaming", true}, {"processors", false}}, problems);
  request.allocate.processors = question.form != "streaming";
  problems.raise_if_any();
  request.simulate = question.simulate;
  if (!question.memory.empty()) request.memory = find_memory_model(question.memory);
  if (!question.allocation.empty()) {
    request.allocation =
        pipeline::parse_allocation(read_text_file(question.allocation), question.allocation.string());
    if (question.clock_mhz > 0) request.allocation->clock_mhz = question.clock_mhz;
  }
  request.deadline = question.deadline;
  return request;
}

std::vector<int> chosen_from(const std::string& text) {
  if (text.empty()) return PrecisionSearchRequest{}.widths;
  std::vector<int> widths;
  Diagnostics problems;
  std::istringstream list(text);
  for (std::string item; std::getline(list, item, ',');) {
    int bits = 0;
    const auto [end, failure] = std::from_chars(item.data(), item.data() + item.size(), bits);
    if (failure != std::errc() || end != item.data() + item.size() || bits < 2 || bits > 8) {
      problems.error(ErrorKind::kInvalidInput, "widths", "", fmt::format("'{}' bits cannot be chosen", item),
                     "give numbers from 2 to 8, separated by commas (networks of 1 bit are trained as such)");
    } else {
      widths.push_back(bits);
    }
  }
  problems.raise_if_any();
  widths.push_back(8);
  std::sort(widths.begin(), widths.end());
  widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
  return widths;
}

PrecisionSearchResult choose_bits(const DesignQuestion& question, const Graph& model,
                                  const GenerateRequest& request, const std::vector<Tensor>& calibration) {
  if (is_quantized(model)) {
    throw Error(ErrorKind::kInvalidInput, "the model is quantised already, its bits are chosen",
                "give the float model, or omit --bits-for");
  }
  if (calibration.empty()) {
    throw Error(ErrorKind::kInvalidInput, "bits are chosen on calibration inputs",
                "give an array with --calibration");
  }
  PrecisionSearchRequest search;
  search.limits = question.bits_for;
  search.widths = chosen_from(question.widths);
  search.study.samples = calibration;
  search.study.budget = request.budget;
  search.study.objective = request.objective;
  search.study.sparing = spared_resource(question.bits_for);
  search.study.deadline = request.deadline;
  search.study.options.calibration = std::nullopt;
  search.study.options.weight_bits = search.study.options.activation_bits = 4;
  search.study.options.threads = question.threads;
  search.fine_tune.reset();
  if (question.fine_tune_seconds > 0) {
    search.fine_tune = FineTuneOptions{};
    search.fine_tune->seconds = question.fine_tune_seconds;
    search.fine_tune->threads = question.threads;
  }
  const Graph graph = optimize(Graph(model));
  if (question.labels) {
    const Value& output = graph.value(graph.outputs.at(0));
    const int64_t batch = output.shape.rank() == 0 ? 1 : std::max<int64_t>(output.shape[0], 1);
    search.study.labels = read_samples(*question.labels)
                              .labels(calibration.at(0).shape()[0],
                                      class_count(output.type, output.shape.element_count() / batch), true);
  }
  return search_precision(graph, search);
}

// A model for one image, with what it is calibrated on.
struct LoadedModel {
  Graph model;
  std::vector<Tensor> calibration;
  int64_t batch = 1;
  Answer preprocessing;
};

LoadedModel loaded_model(const DesignQuestion& question) {
  LoadedModel loaded;
  loaded.model = load_model(question.model);
  if (std::optional<SingleImage> single = single_image(loaded.model)) {
    loaded.model = std::move(single->graph);
    loaded.batch = single->batch;
  }
  loaded.calibration = calibration_inputs(question, loaded.model, loaded.preprocessing);
  return loaded;
}

DesignGraph in_hardware_numbers(const DesignQuestion& question, LoadedModel from) {
  DesignGraph result;
  result.batch = from.batch;
  result.preprocessing = std::move(from.preprocessing);
  result.graph =
      hardware_form(std::move(from.model), number_format(question), from.calibration, question.threads);
  if (result.graph.name.empty()) result.graph.name = plain_text(question.model.path.stem().string());
  return result;
}

}  // namespace

DesignGraph design_graph(const DesignQuestion& question) {
  return in_hardware_numbers(question, loaded_model(question));
}

GeneratedDesign generate_folder(const DesignQuestion& question) {
  check_folder_target(question.output, kDesignMaker);
  GenerateRequest request = generate_request(question);
  LoadedModel from = loaded_model(question);
  std::optional<PrecisionSearchResult> precision;
  if (!question.bits_for.empty()) {
    precision = choose_bits(question, from.model, request, from.calibration);
    request.allocation = precision->chosen.allocation;
    from.model = precision->quantized;
    if (!question.quantized.empty())
      write_quantized(question.quantized, precision->quantized, question.quantized_format);
  }
  const DesignGraph ready = in_hardware_numbers(question, std::move(from));
  GeneratedDesign made = generate(ready.graph, request);
  made.preprocessing = ready.preprocessing;
  made.report.batch = ready.batch;
  if (precision) made.report.precision = precision_points(*precision);
  made.precision = std::move(precision);
  write_design_folder(question.output, ready.graph, made, request.device, question.folders.rtl,
                      question.origin);
  return made;
}

}  // namespace tilewright
