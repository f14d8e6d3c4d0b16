// One run at a time with all threads inside, or many runs side by side: whichever has enough to do.
#include "tilewright/flow/target/host_target.h"

#include "tilewright/flow/model/network_state.h"
#include "tilewright/flow/target/sample_runs.h"
#include "tilewright/flow/target/target_names.h"
#include "tilewright/host/executor.h"

namespace tilewright {
namespace {

// A model is no program: what overlays and designs have does not apply.
void check_model_request(const RunRequest& request) {
  const EngineRequest& engine = request.engine;
  Diagnostics problems;
  const auto refuse = [&](bool given, const std::string& flag) {
    if (given)
      problems.error(ErrorKind::kInvalidInput, "", "",
                     flag + " does not apply to a model, which the host runs",
                     "leave it out, or compile the model for an overlay first");
  };
  refuse(engine.is_timed(), "--engine " + engine.name);
  refuse(!request.hardware.empty(), "--hardware");
  refuse(!request.state.empty(), "--state");
  refuse(!engine.memory.empty(), "--memory");
  refuse(!engine.trace.empty(), "--trace");
  refuse(!engine.wave.empty(), "--wave");
  refuse(engine.counters, "--counters");
  refuse(engine.energy, "--energy");
  refuse(!engine.cache_folder.empty() && !engine.is_timed(), "--rtl-cache");
  problems.raise_if_any();
}

RunReport run_model(const RunRequest& request) {
  check_model_request(request);
  check_given(request.input, kInputOption);
  Graph model = load_model(request.model);
  if (request.verify) {
    throw Error(ErrorKind::kInvalidInput, "--verify compares a bundle or a design with the integer reference",
                "compile the model, or generate a design, first");
  }
  const Graph graph = host_form(std::move(model));
  const std::vector<StatePair> states = find_states(graph, {});
  const InputSamples samples =
      states.empty() ? input_samples(request, graph) : input_samples(request, without_states(graph, states));
  const int64_t count = samples.count();
  StateValues state(graph, states);
  const int inner = count < request.threads ? request.threads : 1;
  const Executor executor(graph, HostOptions{inner});
  // With states, each input is the call after the one before.
  SampleRuns runs = run_samples(
      graph, count, inner == 1 && states.empty() ? request.threads : 1,
      [&] {
        return [&](int64_t index) {
          std::vector<Tensor> outputs = executor.run(state.inputs(samples.cut(index)));
          if (!states.empty()) state.advance(outputs);
          return outputs;
        };
      },
      watch_of(request));
  return sample_report(request, graph, samples, std::move(runs), {.engine = kHost});
}

}  // namespace

const Target& host_target() {
  static const Target target = {.name = kHost,
                                .artifact = "model",
                                .engines = {"host", "functional", "cycle", "rtl"},
                                .recognizes = [](const std::filesystem::path&) { return true; },
                                .run = run_model};
  return target;
}

}  // namespace tilewright
