// `generate`: a design for a model, in a folder, and its report.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "tilewright/base/json.h"
#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/page_files.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/design/constant_design.h"
#include "tilewright/flow/design/design_page.h"
#include "tilewright/flow/design/design_question.h"

namespace tilewright::cli {
namespace {

DesignQuestion design_question_of(const GenerateOptions& options, const Deadline& deadline) {
  std::optional<SampleSource> labels;
  if (!options.labels.empty()) labels = SampleSource{.input = "", .path = options.labels, .array = {}};
  return {.model = model_file(options.model),
          .device = options.device,
          .budget = options.budget,
          .clock_mhz = options.clock_mhz,
          .objective = options.objective,
          .form = options.form,
          .number_type = options.number_type,
          .weight_bits = options.weight_bits,
          .activation_bits = options.activation_bits,
          .calibration = sample_request(options.calibration, options.preprocess),
          .bits_for = options.bits_for,
          .widths = options.widths,
          .labels = labels,
          .fine_tune_seconds = options.fine_tune_seconds,
          .quantized = options.quantized,
          .quantized_format = options.format,
          .allocation = options.allocation,
          .memory = options.memory,
          .simulate = !options.no_simulate,
          .threads = options.threads,
          .output = options.output,
          .deadline = &deadline,
          .folders = shared_folders(),
          .origin = options.page.origin()};
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

// Weights as wires have no allocation, no memories and no cycles to simulate.
void generate_constant(const GenerateOptions& options, const CommandLimits& limits, std::ostream& out) {
  const ConstantDesign made = with_progress("generating wires of " + options.model.path, [&] {
    return generate_constant_folder(design_question_of(options, limits.deadline()));
  });
  if (options.json) {
    out << to_json(made) << "\n";
  } else {
    out << made.preprocessing.text << to_string(made) << "\nthe design is in " << options.output << "\n";
  }
}

}  // namespace

void generate(const GenerateOptions& options, std::ostream& out) {
  const CommandLimits limits(options.limits);
  if (options.output.empty()) {
    throw Error(ErrorKind::kInvalidInput, "no folder is given for the design", "-o FOLDER");
  }
  if (options.form == "constant") return generate_constant(options, limits, out);
  const GeneratedDesign made = with_progress("generating a design of " + options.model.path, [&] {
    return generate_folder(design_question_of(options, limits.deadline()));
  });
  write_page(options.page, [&] { return design_page(made.report); });
  if (options.json) {
    nlohmann::json json = nlohmann::json::parse(to_json(made.report));
    json["folder"] = options.output;
    json["allocations_estimated"] = made.allocated.evaluated;
    json["proven_optimal"] = made.allocated.proven_optimal;
    if (!made.preprocessing.text.empty())
      json["preprocessing"] = nlohmann::json::parse(made.preprocessing.json);
    if (made.precision) json["precision"] = nlohmann::json::parse(to_json(*made.precision));
    if (options.explain) json["explanation"] = made.allocated.explanation;
    out << json_text(json, 2) << "\n";
    return;
  }
  out << made.preprocessing.text << (made.precision ? to_string(*made.precision) + "\n" : "")
      << to_string(made.report) << unsimulated(made.ending, limits);
  if (options.explain) out << "\n" << made.allocated.explanation;
  out << "\n" << search_text(made.allocated, limits) << "the design is in " << options.output << "\n";
}

}  // namespace tilewright::cli
