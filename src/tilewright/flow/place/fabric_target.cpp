// An input is an array of iterations; other options of a run of samples do not apply.
#include "tilewright/flow/place/fabric_target.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/flow/place/fabric_run.h"
#include "tilewright/flow/samples/input_samples.h"

namespace tilewright {
namespace {

void check_fabric_request(const RunRequest& request) {
  const auto refuse = [](bool given, const char* flag) {
    if (given)
      throw Error(ErrorKind::kInvalidInput, fmt::format("{} does not apply to a mapped program", flag),
                  "leave it out");
  };
  refuse(!request.hardware.empty(), "--hardware");
  refuse(!request.state.empty(), "--state");
  refuse(!request.labels.empty(), "--labels");
  refuse(!request.engine.memory.empty(), "--memory");
  refuse(!request.engine.trace.empty(), "--trace");
  refuse(!request.engine.wave.empty(), "--wave");
  refuse(request.engine.counters, "--counters");
  refuse(request.engine.energy, "--energy");
  refuse(request.input.scale != 1.0, "--input-scale");
  refuse(!request.input.preprocess.empty(), "--preprocess");
  if (request.input.sources.size() > 1 ||
      (!request.input.empty() && !request.input.sources[0].input.empty())) {
    throw Error(ErrorKind::kInvalidInput, "a mapped program takes one array, a column for each of its inputs",
                "--input FILE, once and without a name");
  }
  if (request.engine.name != "fabric")
    throw Error(ErrorKind::kInvalidInput, "a mapped program runs on the fabric only", "--engine fabric");
}

RunReport run_mapped_program(const RunRequest& request) {
  check_fabric_request(request);
  std::optional<Tensor> input;
  if (!request.input.empty()) input = read_array(request.input.sources[0]);
  FabricRun run = run_on_fabric(cgra::read_mapped_program(request.model.path), input, request.input.count);
  const cgra::FabricSimulationResult& result = run.check.result;
  std::vector<std::string> names;
  for (const auto& output : run.outputs) names.push_back(output.first);
  RunReport report;
  report.facts = json_text(nlohmann::json{{"iterations", run.iterations},
                                          {"cycles", result.cycles},
                                          {"iterations_per_cycle", result.threads_per_cycle},
                                          {"utilisation", result.utilisation},
                                          {"values", run.check.values},
                                          {"mismatches", run.check.wrong},
                                          {"outputs", names},
                                          {"left_out", run.left_out}});
  report.summary = fmt::format(
      "{} iterations in {} cycles on the fabric, one every {:.2f}; {:.1f} % of the "
      "tiles' slots busy\n",
      run.iterations, result.cycles, 1.0 / result.threads_per_cycle, 100.0 * result.utilisation);
  for (const auto& [name, tensor] : run.outputs)
    report.summary += fmt::format("{}: {} values\n", name, tensor.size());
  if (run.left_out > 0) {
    report.summary +=
        fmt::format("{} elements were stored outside 0..2^24 and are not in the outputs\n", run.left_out);
  }
  report.verdict =
      run.check.wrong == 0
          ? fmt::format("all {} values are equal to the graph's own evaluation\n", run.check.values)
          : fmt::format("{} of {} values differ from the graph's own evaluation; {}\n", run.check.wrong,
                        run.check.values, run.check.first);
  if (run.check.wrong > 0) {
    report.disagreement =
        Error(ErrorKind::kInternal, "the fabric and the graph's evaluation disagree", run.check.first);
  }
  report.outputs = std::move(run.outputs);
  return report;
}

}  // namespace

const Target& fabric_target() {
  static const Target target = {.name = "fabric",
                                .artifact = "mapped program",
                                .made_by = "the fabric runs what `tilewright place -o mapped.json` writes",
                                .engines = {"fabric"},
                                .recognizes = is_mapped_program_file,
                                .run = run_mapped_program};
  return target;
}

}  // namespace tilewright
