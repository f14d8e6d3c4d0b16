// A bundle on any of its engines. A trace and waves show one run after the other.
#include "tilewright/flow/run/overlay_target.h"

#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "tilewright/base/json.h"
#include "tilewright/flow/model/container.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/run/overlay_engine.h"
#include "tilewright/flow/run/overlay_synthesis.h"
#include "tilewright/flow/run/state_file.h"
#include "tilewright/flow/target/sample_runs.h"
#include "tilewright/overlay/schedule/layer.h"

namespace tilewright {
namespace {

RunReport report_overlay_runs(const RunRequest& request, const Graph& graph, const InputSamples& samples,
                              SampleRuns runs, const overlay::CycleCounters& cycles, EnergyReport& energy) {
  SampleFacts more{.engine = request.engine.name};
  if (request.engine.is_timed()) {
    more.facts["counters"] = json_text(counters_json(cycles));
    // Those of an input that was not done to the end count, too.
    more.lines = runs.ending != Ending::kNone
                     ? fmt::format("{} cycles on the overlay by then\n", cycles.cycles)
                     : fmt::format("{} cycles on the overlay, {:.0f} per input\n", cycles.cycles,
                                   double(cycles.cycles) / double(runs.count));
    if (request.engine.counters) more.lines += counters_text(cycles);
    if (request.engine.energy) {
      energy.inputs = runs.count;
      more.lines += to_string(energy);
      more.facts["energy"] = to_json(energy);
    }
  }
  return sample_report(request, graph, samples, std::move(runs), more);
}

RunReport run_bundle_file(const RunRequest& request) {
  check_given(request.input, kInputOption);
  return run_bundle(PreparedBundle(read_bundle(request.model.path, request.hardware, request.folders)),
                    request);
}

}  // namespace

std::shared_ptr<const Engine> PreparedBundle::engine(Execution execution) const {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Engine>& engine = execution == Execution::kOnHost ? on_host_ : as_placed_;
  if (!engine) engine = std::make_shared<const Engine>(bundle_, execution);
  return engine;
}

RunReport run_bundle(const PreparedBundle& prepared, const RunRequest& request) {
  check_engine(overlay_target(), request.engine.name);
  const Bundle& bundle = prepared.bundle();
  if (!request.state.empty() && bundle.states.empty()) {
    throw Error(ErrorKind::kInvalidInput,
                "--state is for bundles that keep a state between runs, and this one has none",
                "compile it with --state INPUT=OUTPUT");
  }
  const bool has_states = !bundle.states.empty();
  const InputSamples samples = has_states
                                   ? input_samples(request, without_states(bundle.graph, bundle.states))
                                   : input_samples(request, bundle.graph);
  StateValues state = read_state(request.state, bundle);
  const int64_t count = samples.count();
  const bool host = request.engine.name == kHost;
  const overlay::ProgramEngineOptions overlay_engine =
      program_engine_options(request.engine, request.folders);
  const std::shared_ptr<const Engine> engine =
      prepared.engine(host ? Execution::kOnHost : Execution::kAsPlaced);
  std::optional<overlay::TraceWriter> trace;
  if (!request.engine.trace.empty()) trace.emplace(request.engine.trace, bundle.hardware);
  // With states, each input is the call after the one before.
  const bool one_by_one = trace || has_states || !request.engine.wave.empty() || request.engine.energy;
  const int threads = one_by_one ? 1 : request.threads;
  EnergyReport energy{.costs = request.engine.costs};
  std::shared_ptr<const Engine> reference;
  if (request.verify) reference = prepared.engine(Execution::kOnHost);
  std::atomic<int64_t> mismatches = 0;
  std::vector<std::shared_ptr<Session>> sessions;
  std::mutex sessions_mutex;
  SampleRuns runs = run_samples(
      bundle.graph, count, threads,
      [&] {
        auto session = std::make_shared<Session>(engine, overlay_engine);
        {
          const std::lock_guard lock(sessions_mutex);
          sessions.push_back(session);
        }
        if (trace) session->trace(*trace);
        if (request.engine.energy) session->measure_energy(energy);
        auto check = reference ? std::make_shared<Session>(reference) : nullptr;
        return [&, session, check](int64_t index) {
          const std::vector<Tensor> inputs = state.inputs(samples.cut(index));
          std::vector<Tensor> outputs = session->run(inputs);
          if (check) {
            const std::vector<Tensor> expected = check->run(inputs);
            for (size_t o = 0; o < outputs.size(); ++o) mismatches += !outputs[o].identical(expected[o]);
          }
          if (has_states) state.advance(outputs);
          return outputs;
        };
      },
      watch_of(request));
  runs.mismatches = mismatches;
  if (!request.state.empty()) write_state(request.state, bundle, state);
  overlay::CycleCounters cycles;
  for (const auto& session : sessions) overlay::add(cycles, session->cycles());
  if (trace) trace->finish();
  return report_overlay_runs(request, bundle.graph, samples, std::move(runs), cycles, energy);
}

namespace {

Diagnostics refused_nodes(const Graph& graph, const std::string& machine, const SharedFolders& folders) {
  const OverlayHardware hardware = find_overlay_hardware(machine, folders.hardware);
  Diagnostics refusals;
  for (const Node& node : graph.nodes) {
    std::string reason;
    if (overlay::supports(graph, node, hardware, &reason)) continue;
    refusals.error(ErrorKind::kUnsupported, where(node), node.op, reason);
  }
  return refusals;
}

}  // namespace

const Target& overlay_target() {
  static const Target target = {.name = kOverlay,
                                .artifact = "bundle",
                                .made_by = "`tilewright compile -o model.twb` writes one",
                                .engines = {"functional", kHost, "cycle", "rtl"},
                                .recognizes = is_container,
                                .run = run_bundle_file,
                                .synthesize = synthesize_overlay,
                                .refusals = refused_nodes};
  return target;
}

}  // namespace tilewright
