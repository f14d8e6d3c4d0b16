// `run`: every sample through a bundle, a generated design or a model, on threads; outputs are stacked,
// compared with the integer reference and with labels on request. Mapped programs go to run_fabric.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/base/parallel.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/timed_engine.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/design/design_folder.h"
#include "tilewright/flow/design/design_run.h"
#include "tilewright/flow/model/container.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/place/fabric_run.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"
#include "tilewright/pipeline/simulate/design_values.h"
#include "tilewright/quantize/report.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/tensor/tensor_parts.h"

namespace tilewright::cli {
namespace {

// The outputs of all inputs, stacked along axis 0, and what was found on the way.
struct Results {
  std::vector<Tensor> outputs;
  std::vector<int64_t> classes;  // by sample of output 0; empty where it has no elements
  int64_t count = 0;
  int64_t mismatches = 0;  // outputs that differ from the integer reference
  double seconds = 0;
  overlay::CycleCounters cycles;  // of all inputs
  uint64_t design_cycles = 0;     // the same of a generated design
};

// Each thread gets a worker from `run_one()` and calls it with the indices of its inputs; the outputs are
// stacked. Thread-safe because the stacked tensors are allocated and unshared before.
template <typename RunOne>
Results run_all(const Graph& graph, int64_t count, int threads, RunOne run_one) {
  Results results;
  results.count = count;
  for (ValueId v : graph.outputs) {
    Shape shape = graph.value(v).shape;
    if (shape.rank() == 0) shape = Shape{1};
    shape[0] *= count;
    results.outputs.emplace_back(graph.value(v).type, shape);
  }
  const Shape& scores = graph.value(graph.outputs[0]).shape;
  const int64_t per_run = scores.rank() == 0 ? 1 : scores[0];
  if (scores.element_count() > 0) results.classes.resize(size_t(count * per_run));
  // Packed outputs of several inputs share bytes: they are put together when all threads are done.
  std::vector<std::vector<Tensor>> packed(results.outputs.size());
  for (size_t o = 0; o < packed.size(); ++o) {
    if (bit_width(results.outputs[o].type()) < 8) packed[o].resize(size_t(count));
  }
  const auto start = std::chrono::steady_clock::now();
  parallel_for(threads, count, [&](int64_t begin, int64_t end) {
    auto worker = run_one();
    for (int64_t i = begin; i < end; ++i) {
      const std::vector<Tensor> outputs = worker(i);
      for (size_t o = 0; o < outputs.size(); ++o) {
        if (packed[o].empty()) {
          set_elements(results.outputs[o], i * outputs[o].size(), outputs[o]);
        } else {
          packed[o][size_t(i)] = outputs[o];
        }
      }
      const std::vector<int64_t> classes = classes_in(outputs[0], per_run);
      std::copy(classes.begin(), classes.end(), results.classes.begin() + std::ptrdiff_t(i * per_run));
    }
  });
  for (size_t o = 0; o < packed.size(); ++o) {
    for (size_t i = 0; i < packed[o].size(); ++i)
      set_elements(results.outputs[o], int64_t(i) * packed[o][i].size(), packed[o][i]);
  }
  results.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return results;
}

Results run_bundle(const RunOptions& options, const Samples& samples) {
  Bundle bundle = read_bundle(options.model.path);
  if (!options.hardware.empty()) bundle = retarget(std::move(bundle), find_hardware(options.hardware));
  const int64_t count = count_inputs(bundle.graph, samples);
  const bool host = options.engine.engine == "host";
  const overlay::ProgramEngineOptions overlay_engine = program_engine_options(options.engine);
  const auto engine =
      std::make_shared<const Engine>(bundle, host ? EngineKind::kHost : EngineKind::kFunctional);
  std::optional<overlay::TraceWriter> trace;
  if (!options.engine.trace.empty()) trace.emplace(options.engine.trace, bundle.hardware);
  // A trace and waves show one run after the other.
  const int threads = trace || !options.engine.wave.empty() ? 1 : options.threads;
  std::shared_ptr<const Engine> reference;
  if (options.verify) reference = std::make_shared<const Engine>(bundle, EngineKind::kHost);
  std::atomic<int64_t> mismatches = 0;
  std::vector<std::shared_ptr<Session>> sessions;
  std::mutex sessions_mutex;
  Results results = run_all(bundle.graph, count, threads, [&] {
    auto session = std::make_shared<Session>(engine, overlay_engine);
    {
      const std::lock_guard lock(sessions_mutex);
      sessions.push_back(session);
    }
    if (trace) session->trace(*trace);
    auto check = reference ? std::make_shared<Session>(reference) : nullptr;
    return [&, session, check](int64_t index) {
      const std::vector<Tensor> inputs = cut_inputs(bundle.graph, samples, index);
      std::vector<Tensor> outputs = session->run(inputs);
      if (check) {
        const std::vector<Tensor> expected = check->run(inputs);
        for (size_t o = 0; o < outputs.size(); ++o) mismatches += !outputs[o].identical(expected[o]);
      }
      return outputs;
    };
  });
  results.mismatches = mismatches;
  for (const auto& session : sessions) overlay::add(results.cycles, session->cycles());
  if (trace) trace->finish();
  return results;
}

pipeline::RtlPortOptions rtl_port_options(const RunOptions& options, const Device& device) {
  const overlay::ProgramEngineOptions engine = program_engine_options(options.engine);
  pipeline::RtlPortOptions result;
  result.model.rtl_folder = engine.rtl_folder;
  result.model.cache_folder = engine.cache_folder;
  result.model.wave_file = engine.wave_file;
  result.memory = options.engine.memory.empty() ? design_memory(device) : engine.memory;
  return result;
}

void check_design_options(const RunOptions& options) {
  const auto refuse = [](bool given, const char* flag) {
    if (!given) return;
    throw Error(ErrorKind::kInvalidInput, fmt::format("{} means nothing to a generated design", flag),
                "leave it out");
  };
  refuse(!options.hardware.empty(), "--hardware");
  refuse(!options.engine.trace.empty(), "--trace");
  refuse(options.engine.counters, "--counters");
  program_engine_options(options.engine);
}

// rtl gives values and cycles, cycle the cycles alone: its values are those of the host. With --verify they
// are compared with what the netlist and the contents of its memories compute.
Results run_design_folder(const RunOptions& options, const Samples& samples) {
  check_design_options(options);
  const DesignFolder folder = read_design_folder(options.model.path);
  const int64_t count = count_inputs(folder.graph, samples);
  const Executor host(folder.graph);
  const HostBorder border(folder.network);
  const bool rtl = options.engine.engine == "rtl";
  const auto start = std::chrono::steady_clock::now();
  DesignOutputs hardware;
  if (rtl) {
    std::vector<std::vector<Tensor>> inputs;
    for (int64_t i = 0; i < count; ++i) inputs.push_back(cut_inputs(folder.graph, samples, i));
    pipeline::RtlDesignPort port(folder.design, rtl_port_options(options, folder.device));
    hardware = run_on_hardware(folder.network, folder.design, port, inputs);
  } else if (options.engine.engine == "cycle") {
    pipeline::SimulationOptions simulation;
    simulation.memory = rtl_port_options(options, folder.device).memory;
    simulation.images = count;
    hardware.cycles = pipeline::simulate(folder.design, simulation).cycles;
  }
  const auto netlist = [&](const std::vector<Tensor>& inputs) {
    return border.outputs(pipeline::evaluate_design(folder.design, border.image(inputs)));
  };
  std::atomic<int64_t> mismatches = 0;
  Results results = run_all(folder.graph, count, options.threads, [&] {
    return [&](int64_t index) {
      const std::vector<Tensor> inputs = cut_inputs(folder.graph, samples, index);
      if (rtl && !options.verify) return hardware.outputs[size_t(index)];
      std::vector<Tensor> expected = host.run(inputs);
      if (!options.verify) return expected;
      std::vector<Tensor> outputs = rtl ? hardware.outputs[size_t(index)] : netlist(inputs);
      for (size_t o = 0; o < outputs.size(); ++o) mismatches += !outputs[o].identical(expected[o]);
      return outputs;
    };
  });
  results.mismatches = mismatches;
  results.design_cycles = hardware.cycles;
  results.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return results;
}

// A float or QDQ model, on the host engine.
Results run_model(const RunOptions& options, const Samples& samples) {
  Graph model = read_model(options.model);
  if (options.verify) {
    throw Error(ErrorKind::kInvalidInput, "--verify compares a bundle or a design with the integer reference",
                "compile the model, or generate a design, first");
  }
  const Graph graph = host_form(std::move(model));
  const int64_t count = count_inputs(graph, samples);
  // One run at a time with all threads inside, or many runs side by side: whichever has enough to do.
  const int inner = count < options.threads ? options.threads : 1;
  const Executor executor(graph, HostOptions{inner});
  return run_all(graph, count, inner == 1 ? options.threads : 1, [&] {
    return [&](int64_t index) { return executor.run(cut_inputs(graph, samples, index)); };
  });
}

}  // namespace

void write_outputs(const RunOptions& options, const std::vector<Tensor>& outputs) {
  if (options.output.empty()) return;
  std::vector<NamedPath> files;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::filesystem::path path = options.output;
    if (i > 0) path.replace_extension(fmt::format(".{}.npy", i));
    files.push_back({"--output", path});
  }
  std::vector<NamedPath> inputs{{"model", options.model.path}};
  if (!options.input.path.empty()) inputs.push_back({"--input", options.input.path});
  if (!options.labels.empty()) inputs.push_back({"--labels", options.labels});
  refuse_overwriting(inputs, files);
  for (size_t i = 0; i < outputs.size(); ++i) write_npy(files[i].path, outputs[i]);
}

void run(const RunOptions& options, std::ostream& out) {
  if (is_mapped_program_file(options.model.path)) return run_mapped(options, out);
  if (options.engine.engine == "fabric") {
    throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' is not a mapped program", options.model.path),
                "the fabric runs what `tilewright place -o mapped.json` writes");
  }
  if (options.input.path.empty()) {
    throw Error(ErrorKind::kInvalidInput, "no input data", "give an array with --input");
  }
  const Samples samples = read_samples(options.input);
  const bool bundle = is_container(options.model.path);
  const bool design = !bundle && is_design_folder(options.model.path);
  const Results results = bundle   ? run_bundle(options, samples)
                          : design ? run_design_folder(options, samples)
                                   : run_model(options, samples);
  write_outputs(options, results.outputs);
  nlohmann::json json = {{"inputs", results.count}, {"seconds", results.seconds}};
  std::string text =
      fmt::format("{} inputs in {:.2f} s on the {} engine\n", results.count, results.seconds,
                  bundle || (design && is_timed(options.engine)) ? options.engine.engine : "host");
  if (bundle && is_timed(options.engine)) {
    json["counters"] = counters_json(results.cycles);
    text += fmt::format("{} cycles on the overlay, {:.0f} per input\n", results.cycles.cycles,
                        double(results.cycles.cycles) / double(results.count));
    if (options.engine.counters) text += counters_text(results.cycles);
  }
  if (design && is_timed(options.engine)) {
    json["cycles"] = results.design_cycles;
    text += fmt::format("{} cycles of the design, {:.0f} per input\n", results.design_cycles,
                        double(results.design_cycles) / double(results.count));
  }
  if (!options.labels.empty()) {
    const int64_t count = int64_t(results.classes.size());
    if (count == 0) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("--labels: the first output has shape {}, which has no elements",
                              to_string(results.outputs[0].shape())),
                  "leave it out");
    }
    const int64_t classes = class_count(results.outputs[0].type(), results.outputs[0].size() / count);
    const std::vector<int64_t> labels =
        Samples::read(options.labels).labels(count, classes, options.input.count > 0);
    int64_t right = 0;
    for (size_t i = 0; i < labels.size(); ++i) right += labels[i] == results.classes[i];
    json["top1"] = double(right) / double(labels.size());
    text += fmt::format("top-1 accuracy {:.2f} % ({} of {})\n", 100.0 * double(right) / double(labels.size()),
                        right, labels.size());
  }
  if (options.verify) {
    const int64_t outputs = results.count * int64_t(results.outputs.size());
    json["mismatches"] = results.mismatches;
    text += results.mismatches == 0
                ? fmt::format("all {} outputs are bit-identical to the integer reference\n", outputs)
                : fmt::format("{} of {} outputs differ from the integer reference\n", results.mismatches,
                              outputs);
  }
  out << (options.json ? json_text(json, 2) + "\n" : text);
  if (results.mismatches != 0)
    throw Error(ErrorKind::kInternal, "the engine and the integer reference disagree");
}

}  // namespace tilewright::cli
