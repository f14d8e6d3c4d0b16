// `generate`: brings the model to fixed point or to int8 (calibrated on data, or on random inputs where the
// weights are drawn), generates the design within the budget, and writes its folder and its report.
#include "tilewright/flow/design/generate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "tilewright/base/file.h"
#include "tilewright/base/folder_writer.h"
#include "tilewright/base/json.h"
#include "tilewright/base/plain_text.h"
#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/design/design_folder.h"
#include "tilewright/flow/model/hardware_form.h"
#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"

namespace tilewright::cli {
namespace {

// Random inputs to calibrate a model whose weights are drawn.
constexpr int64_t kSeededInputs = 8;

NumberFormat number_format(const GenerateOptions& options) {
  NumberFormat format;
  format.weight_bits = options.weight_bits;
  format.activation_bits = options.activation_bits;
  if (options.number_type == "int8") return format;
  if (options.weight_bits != 8 || options.activation_bits != 8) {
    throw Error(ErrorKind::kInvalidInput, "fixed point has 32 bits for weights and activations",
                "omit --weight-bits and --activation-bits");
  }
  format.fixed = true;
  format.fraction = fraction_of_number_type(options.number_type);
  return format;
}

std::vector<Tensor> calibration_inputs(const GenerateOptions& options, const Graph& model) {
  if (!options.calibration.path.empty()) {
    const Samples samples = read_samples(options.calibration);
    count_inputs(model, samples);
    const Value& input = model.value(model.inputs[0]);
    return {samples.stack(input.type, input.shape)};
  }
  if (options.model.fill_gain == 0) return {};
  return random_inputs(model, kSeededInputs);
}

GenerateRequest request_of(const GenerateOptions& options) {
  GenerateRequest request;
  request.device = find_device(options.device, shared_folder("hardware") / "devices");
  request.budget = pipeline::device_budget(request.device);
  if (!options.budget.empty()) pipeline::apply_budget(request.budget, options.budget);
  if (options.clock_mhz > 0) request.budget.clock_mhz = options.clock_mhz;
  request.objective =
      options.objective == "latency" ? pipeline::Objective::kLatency : pipeline::Objective::kThroughput;
  request.allocate.streaming = options.form != "processors";
  request.allocate.processors = options.form != "streaming";
  request.simulate = !options.no_simulate;
  if (!options.memory.empty()) request.memory = find_memory_model(options.memory);
  if (!options.allocation.empty()) {
    request.allocation = pipeline::parse_allocation(read_text_file(options.allocation), options.allocation);
    if (options.clock_mhz > 0) request.allocation->clock_mhz = options.clock_mhz;
  }
  return request;
}

std::string search_text(const pipeline::AllocationResult& result, const CommandLimits& limits) {
  if (result.evaluated == 0) return "";
  const std::string note = result.ending == Ending::kNone
                               ? ""
                               : "note: " + limits.reason(result.ending) + " before the search was done\n";
  return note + fmt::format("{} allocations estimated; the one chosen is {}\n", result.evaluated,
                            result.proven_optimal ? "proven the best of them all" : "the best found");
}

std::string unsimulated(Ending ending, const CommandLimits& limits) {
  if (ending == Ending::kNone) return "";
  return "note: " + limits.reason(ending) +
         " before the design had been simulated; its cycles are estimates\n";
}

}  // namespace

void generate(const GenerateOptions& options, std::ostream& out) {
  const CommandLimits limits(options.limits);
  if (options.output.empty()) {
    throw Error(ErrorKind::kInvalidInput, "no folder is given for the design", "-o FOLDER");
  }
  check_folder_target(options.output, kDesignMaker);
  GenerateRequest request = request_of(options);
  request.deadline = &limits.deadline();
  const NumberFormat format = number_format(options);
  Graph model = read_model(options.model);
  const std::vector<Tensor> calibration = calibration_inputs(options, model);
  Graph graph = hardware_form(std::move(model), format, calibration, options.threads);
  if (graph.name.empty()) graph.name = plain_text(std::filesystem::path(options.model.path).stem().string());
  const GeneratedDesign made = tilewright::generate(graph, request);

  write_design_folder(options.output, graph, made, request.device, shared_folder("rtl"));
  if (options.json) {
    nlohmann::json json = nlohmann::json::parse(to_json(made.report));
    json["folder"] = options.output;
    json["allocations_estimated"] = made.allocated.evaluated;
    json["proven_optimal"] = made.allocated.proven_optimal;
    if (options.explain) json["explanation"] = made.allocated.explanation;
    out << json_text(json, 2) << "\n";
    return;
  }
  out << to_string(made.report) << unsimulated(made.ending, limits);
  if (options.explain) out << "\n" << made.allocated.explanation;
  out << "\n" << search_text(made.allocated, limits) << "the design is in " << options.output << "\n";
}

}  // namespace tilewright::cli
