// A model with random weights is calibrated on random inputs: its numbers mean nothing anyway.
#include "tilewright/flow/design/design_question.h"

#include "tilewright/base/file.h"
#include "tilewright/base/folder_writer.h"
#include "tilewright/base/plain_text.h"
#include "tilewright/flow/design/design_folder.h"
#include "tilewright/flow/model/choice.h"
#include "tilewright/flow/model/hardware_form.h"
#include "tilewright/flow/model/single_image.h"
#include "tilewright/flow/samples/input_samples.h"
#include "tilewright/quantize/fixed_point/fixed_point_lowering.h"

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

}  // namespace

GeneratedDesign generate_folder(const DesignQuestion& question) {
  check_folder_target(question.output, kDesignMaker);
  const GenerateRequest request = generate_request(question);
  const NumberFormat format = number_format(question);
  Graph model = load_model(question.model);
  std::optional<SingleImage> single = single_image(model);
  if (single) model = std::move(single->graph);
  Answer account;
  const std::vector<Tensor> calibration = calibration_inputs(question, model, account);
  Graph graph = hardware_form(std::move(model), format, calibration, question.threads);
  if (graph.name.empty()) graph.name = plain_text(question.model.path.stem().string());
  GeneratedDesign made = generate(graph, request);
  made.preprocessing = std::move(account);
  if (single) made.report.batch = single->batch;
  write_design_folder(question.output, graph, made, request.device, question.folders.rtl, question.origin);
  return made;
}

}  // namespace tilewright
