// One run at a time with all threads inside, or many runs side by side: whichever has enough to do.
#include "tilewright/flow/target/host_target.h"

#include "tilewright/flow/target/sample_runs.h"
#include "tilewright/flow/target/target_names.h"
#include "tilewright/host/executor.h"

namespace tilewright {
namespace {

RunReport run_model(const RunRequest& request) {
  const Samples samples = input_samples(request);
  Graph model = load_model(request.model);
  if (request.verify) {
    throw Error(ErrorKind::kInvalidInput, "--verify compares a bundle or a design with the integer reference",
                "compile the model, or generate a design, first");
  }
  const Graph graph = host_form(std::move(model));
  const int64_t count = count_inputs(graph, samples);
  const int inner = count < request.threads ? request.threads : 1;
  const Executor executor(graph, HostOptions{inner});
  SampleRuns runs = run_samples(graph, count, inner == 1 ? request.threads : 1, [&] {
    return [&](int64_t index) { return executor.run(cut_inputs(graph, samples, index)); };
  });
  return sample_report(request, graph, std::move(runs), {.engine = kHost});
}

}  // namespace

const Target& host_target() {
  // A model has no other engine: whatever is named, the host runs it.
  static const Target target = {.name = kHost,
                                .artifact = "model",
                                .engines = {"host", "functional", "cycle", "rtl"},
                                .recognizes = [](const std::filesystem::path&) { return true; },
                                .run = run_model};
  return target;
}

}  // namespace tilewright
