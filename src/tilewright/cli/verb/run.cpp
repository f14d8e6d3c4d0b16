// `run`: runs what a target has compiled, or a model, on input data. Writes the outputs, then shows what ran
// and how it compares with the reference and with labels.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tilewright/base/json.h"
#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/samples/npz.h"
#include "tilewright/flow/target/output_preview.h"
#include "tilewright/flow/targets.h"
#include "tilewright/tensor/npy.h"

namespace tilewright::cli {
namespace {

RunRequest run_request_of(const RunOptions& options) {
  RunRequest request;
  request.model = model_file(options.model);
  request.input = sample_request(options.input, options.preprocess);
  request.labels = options.labels;
  request.state = options.state;
  request.engine = engine_request(options.engine);
  request.hardware = options.hardware;
  request.verify = options.verify;
  request.threads = options.threads;
  request.folders = shared_folders();
  return request;
}

void write_outputs(const RunOptions& options, const RunReport& report) {
  if (options.output.empty()) return;
  const bool archive = std::filesystem::path(options.output).extension() == ".npz";
  std::vector<NamedPath> files;
  for (size_t i = 0; i < (archive ? 1 : report.outputs.size()); ++i) {
    std::filesystem::path path = options.output;
    if (i > 0) path.replace_extension(fmt::format(".{}.npy", i));
    files.push_back({"--output", path});
  }
  std::vector<NamedPath> inputs{{"model", options.model.path}};
  for (const std::string& file : options.input.files) inputs.push_back({"--input", sample_source(file).path});
  if (!options.labels.empty()) inputs.push_back({"--labels", options.labels});
  refuse_overwriting(inputs, files);
  if (archive) return write_npz(options.output, report.outputs);
  for (size_t i = 0; i < report.outputs.size(); ++i) write_npy(files[i].path, report.outputs[i].second);
}

}  // namespace

void run(const RunOptions& options, std::ostream& out) {
  Deadline deadline;
  const Interruptible interruptible(deadline);
  RunRequest request = run_request_of(options);
  request.engine.deadline = &deadline;
  const std::string compiles = options.engine.engine == "rtl" ? " (its first run compiles the RTL)" : "";
  const RunReport report = with_progress(
      fmt::format("running {} on the {} engine{}", options.model.path, options.engine.engine, compiles),
      [&](ProgressLine& line) {
        request.progress = [&line](int64_t done, int64_t count) {
          line.update([&] { return count_text(done, count, "inputs"); });
        };
        return tilewright::run(request);
      });
  write_outputs(options, report);
  nlohmann::json json = nlohmann::json::parse(report.facts);
  std::string text = report.summary;
  RunAccuracy accuracy;
  if (!options.labels.empty()) {
    accuracy = run_accuracy(report, request);
    json["top1"] = accuracy.share();
    text += to_string(accuracy);
  }
  const Answer preview = output_preview(report, accuracy.labels);
  json.update(nlohmann::json::parse(preview.json));
  if (report.ending != Ending::kNone)
    text += "note: the run was interrupted; these are the inputs done by then\n";
  out << (options.json ? json_text(json, 2) + "\n" : text + preview.text + report.verdict);
  if (report.disagreement) throw Error(*report.disagreement);
}

}  // namespace tilewright::cli
