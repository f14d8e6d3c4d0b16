// Of the engines, rtl gives values and cycles, cycle the cycles alone: its values are those of the host. With
// verification they are compared with what the netlist and the contents of its memories compute.
#include "tilewright/flow/design/design_target.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>

#include "tilewright/flow/design/design_energy.h"
#include "tilewright/flow/design/design_folder.h"
#include "tilewright/flow/design/design_run.h"
#include "tilewright/flow/design/folder_synthesis.h"
#include "tilewright/flow/run/overlay_engine.h"
#include "tilewright/flow/target/sample_runs.h"
#include "tilewright/flow/target/target_names.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"
#include "tilewright/pipeline/simulate/design_values.h"

namespace tilewright {
namespace {

pipeline::RtlPortOptions rtl_port_options(const RunRequest& request, const Device& device) {
  const overlay::ProgramEngineOptions engine = program_engine_options(request.engine, request.folders);
  pipeline::RtlPortOptions result;
  result.model.rtl_folder = engine.rtl_folder;
  result.model.cache_folder = engine.cache_folder;
  result.model.wave_file = engine.wave_file;
  result.model.activity = engine.activity;
  result.model.stop = [deadline = engine.deadline] { return deadline != nullptr && deadline->expired(); };
  result.deadline = engine.deadline;
  result.memory = request.engine.memory.empty() ? design_memory(device) : engine.memory;
  return result;
}

void check_run_request(const RunRequest& request) {
  const auto refuse = [](bool given, const char* flag) {
    if (!given) return;
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} does not apply to a generated design", flag),
                "leave it out");
  };
  refuse(!request.hardware.empty(), "--hardware");
  refuse(!request.state.empty(), "--state");
  refuse(!request.engine.trace.empty(), "--trace");
  refuse(request.engine.counters, "--counters");
  program_engine_options(request.engine, request.folders);
}

RunReport report_design_runs(const RunRequest& request, const Graph& graph, const InputSamples& samples,
                             SampleRuns runs, uint64_t cycles, EnergyReport energy) {
  SampleFacts more{.engine = kHost};
  if (request.engine.is_timed()) {
    more.engine = request.engine.name;
    more.facts["cycles"] = std::to_string(cycles);
    more.lines = fmt::format("{} cycles of the design, {:.0f} per input\n", cycles,
                             double(cycles) / double(runs.count));
    if (request.engine.energy) {
      energy.inputs = runs.count;
      more.lines += to_string(energy);
      more.facts["energy"] = to_json(energy);
    }
  }
  return sample_report(request, graph, samples, std::move(runs), more);
}

RunReport run_folder(const RunRequest& request) {
  check_given(request.input, kInputOption);
  check_run_request(request);
  const DesignFolder folder = read_design_folder(request.model.path);
  const InputSamples samples = input_samples(request, folder.graph);
  int64_t count = samples.count();
  const Executor host(folder.graph);
  const HostBorder border(folder.network);
  const bool rtl = request.engine.name == "rtl";
  const auto start = std::chrono::steady_clock::now();
  DesignOutputs hardware;
  EnergyReport energy{.costs = request.engine.costs};
  if (rtl) {
    std::vector<std::vector<Tensor>> inputs;
    for (int64_t i = 0; i < count; ++i) inputs.push_back(samples.cut(i));
    const pipeline::RtlPortOptions options = rtl_port_options(request, folder.device);
    pipeline::RtlDesignPort port(folder.design, options);
    hardware = request.engine.energy ? run_with_energy(folder, port, options.memory, inputs, energy)
                                     : run_on_hardware(folder.network, folder.design, port, inputs);
    count = int64_t(hardware.outputs.size());
  } else if (request.engine.is_timed()) {
    pipeline::SimulationOptions simulation;
    simulation.memory = rtl_port_options(request, folder.device).memory;
    simulation.images = count;
    hardware.cycles = pipeline::simulate(folder.design, simulation).cycles;
  }
  const auto netlist = [&](const std::vector<Tensor>& inputs) {
    return border.outputs(pipeline::evaluate_design(folder.design, border.image(inputs)), inputs);
  };
  std::atomic<int64_t> mismatches = 0;
  SampleRuns runs = run_samples(
      folder.graph, count, request.threads,
      [&] {
        return [&](int64_t index) {
          const std::vector<Tensor> inputs = samples.cut(index);
          if (rtl && !request.verify) return hardware.outputs[size_t(index)];
          std::vector<Tensor> expected = host.run(inputs);
          if (!request.verify) return expected;
          std::vector<Tensor> outputs = rtl ? hardware.outputs[size_t(index)] : netlist(inputs);
          for (size_t o = 0; o < outputs.size(); ++o) mismatches += !outputs[o].identical(expected[o]);
          return outputs;
        };
      },
      watch_of(request));
  runs.mismatches = mismatches;
  runs.ending = hardware.ending;
  runs.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report_design_runs(request, folder.graph, samples, std::move(runs), hardware.cycles,
                            std::move(energy));
}

// A device takes what fits into it, which takes a search to know; what the components lack is known at once.
Diagnostics refused_layers(const Graph& graph, const std::string& machine, const SharedFolders& folders) {
  find_device(machine, folders.devices());
  Diagnostics refusals;
  try {
    for (const Diagnostic& reason : pipeline::extract_network(graph).left_out) refusals.add(reason);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    for (const Diagnostic& diagnostic : error.diagnostics()) refusals.add(diagnostic);
  }
  return refusals;
}

}  // namespace

const Target& design_target() {
  static const Target target = {.name = "design",
                                .artifact = "generated design",
                                .made_by = "`tilewright generate -o FOLDER` writes one",
                                .engines = {"functional", kHost, "cycle", "rtl"},
                                .recognizes = is_design_folder,
                                .run = run_folder,
                                .synthesize = synthesize_design_folder,
                                .refusals = refused_layers};
  return target;
}

}  // namespace tilewright
