// `run` of a mapped program on its fabric.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "tilewright/base/json.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/place/fabric_run.h"
#include "tilewright/tensor/npy.h"

namespace tilewright::cli {
namespace {

void check_fabric_options(const RunOptions& options) {
  const auto refuse = [](bool given, const char* flag) {
    if (given)
      throw Error(ErrorKind::kInvalidInput, fmt::format("{} means nothing to a mapped program", flag),
                  "leave it out");
  };
  refuse(!options.hardware.empty(), "--hardware");
  refuse(!options.labels.empty(), "--labels");
  refuse(!options.engine.memory.empty(), "--memory");
  refuse(!options.engine.trace.empty(), "--trace");
  refuse(!options.engine.wave.empty(), "--wave");
  refuse(options.engine.counters, "--counters");
  refuse(options.input.scale != 1.0, "--input-scale");
  if (options.engine.engine != "fabric")
    throw Error(ErrorKind::kInvalidInput, "a mapped program runs on the fabric only", "--engine fabric");
}

}  // namespace

void run_mapped(const RunOptions& options, std::ostream& out) {
  check_fabric_options(options);
  std::optional<Tensor> input;
  if (!options.input.path.empty()) input = read_npy(options.input.path);
  const FabricRun run =
      run_on_fabric(cgra::read_mapped_program(options.model.path), input, options.input.count);
  std::vector<Tensor> outputs;
  for (const auto& output : run.outputs) outputs.push_back(output.second);
  write_outputs(options, outputs);
  const cgra::SimulationResult& result = run.check.result;
  std::vector<std::string> names;
  for (const auto& output : run.outputs) names.push_back(output.first);
  const nlohmann::json json = {{"iterations", run.iterations},
                               {"cycles", result.cycles},
                               {"iterations_per_cycle", result.threads_per_cycle},
                               {"utilisation", result.utilisation},
                               {"values", run.check.values},
                               {"mismatches", run.check.wrong},
                               {"outputs", names},
                               {"left_out", run.left_out}};
  std::string text = fmt::format(
      "{} iterations in {} cycles on the fabric, one every {:.2f}; {:.1f} % of the "
      "tiles' slots busy\n",
      run.iterations, result.cycles, 1.0 / result.threads_per_cycle, 100.0 * result.utilisation);
  for (const auto& [name, tensor] : run.outputs) text += fmt::format("{}: {} values\n", name, tensor.size());
  if (run.left_out > 0)
    text += fmt::format("{} elements were stored outside 0..2^24 and are not in the outputs\n", run.left_out);
  text += run.check.wrong == 0
              ? fmt::format("all {} values are equal to the graph's own evaluation\n", run.check.values)
              : fmt::format("{} of {} values differ from the graph's own evaluation; {}\n", run.check.wrong,
                            run.check.values, run.check.first);
  out << (options.json ? json_text(json, 2) + "\n" : text);
  if (run.check.wrong > 0)
    throw Error(ErrorKind::kInternal, "the fabric and the graph's evaluation disagree", run.check.first);
}

}  // namespace tilewright::cli
