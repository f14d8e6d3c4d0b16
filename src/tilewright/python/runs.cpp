// Bundles and what runs them; what explains their time and their errors; raw programs; synthesis.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/flow/run/compare.h"
#include "tilewright/flow/run/compile_model.h"
#include "tilewright/flow/run/decode.h"
#include "tilewright/flow/run/layer_table.h"
#include "tilewright/flow/run/raw_run.h"
#include "tilewright/flow/targets.h"
#include "tilewright/flow/time/explain.h"
#include "tilewright/flow/time/roofline.h"
#include "tilewright/flow/time/timing_page.h"
#include "tilewright/python/arrays.h"
#include "tilewright/python/bindings.h"

namespace tilewright::python {

namespace py = pybind11;

namespace {

py::dict outputs_of(const RunReport& report) {
  py::dict outputs;
  for (const auto& [name, tensor] : report.outputs) outputs[py::str(name)] = array_of(tensor);
  return outputs;
}

RunRequest with_places(RunRequest request, const std::string& prefix) {
  request.folders = folders(prefix);
  if (request.engine.name == "rtl" && request.engine.cache_folder.empty())
    request.engine.cache_folder = user_cache();
  return request;
}

void bind_requests(py::module_& m) {
  py::class_<CompileRequest>(m, "CompileRequest")
      .def(py::init<>())
      .def_readwrite("hardware", &CompileRequest::hardware)
      .def_readwrite("records", &CompileRequest::records)
      .def_readwrite("no_records", &CompileRequest::no_records)
      .def_property(
          "states", [](const CompileRequest&) { return py::none(); },
          [](CompileRequest& request, const std::map<std::string, std::string>& states) {
            for (const auto& [input, output] : states) request.states.push_back({input, output});
          })
      .def_readwrite("memory", &CompileRequest::memory)
      .def_readwrite("decode", &CompileRequest::decode);
  py::class_<DecodeRequest>(m, "DecodeRequest")
      .def(py::init<>())
      .def_readwrite("prompt", &DecodeRequest::prompt)
      .def_readwrite("prompt_tokens", &DecodeRequest::prompt_tokens)
      .def_readwrite("tokens", &DecodeRequest::tokens)
      .def_readwrite("temperature", &DecodeRequest::temperature)
      .def_readwrite("top", &DecodeRequest::top)
      .def_readwrite("seed", &DecodeRequest::seed)
      .def_readwrite("engine", &DecodeRequest::engine)
      .def_readwrite("verify", &DecodeRequest::verify);
  py::class_<EngineRequest>(m, "EngineRequest")
      .def(py::init<>())
      .def_readwrite("name", &EngineRequest::name)
      .def_readwrite("memory", &EngineRequest::memory)
      .def_readwrite("trace", &EngineRequest::trace)
      .def_readwrite("wave", &EngineRequest::wave)
      .def_readwrite("cache_folder", &EngineRequest::cache_folder);
  py::class_<RunRequest>(m, "RunRequest")
      .def(py::init<>())
      .def_readwrite("model", &RunRequest::model)
      .def_readwrite("input", &RunRequest::input)
      .def_readwrite("engine", &RunRequest::engine)
      .def_readwrite("verify", &RunRequest::verify)
      .def_readwrite("state", &RunRequest::state)
      .def_readwrite("threads", &RunRequest::threads);
  py::class_<RunReport>(m, "RunReport")
      .def_property_readonly("outputs", outputs_of)
      .def_readonly("classes", &RunReport::classes)
      .def_property_readonly("text", [](const RunReport& r) { return r.summary + r.verdict; })
      .def_readonly("json", &RunReport::facts)
      .def("raise_disagreement", [](const RunReport& r) {
        if (r.disagreement) throw Error(*r.disagreement);
      });
  m.def("run", [](const RunRequest& request, const std::string& prefix, const py::object& progress) {
    return in_background([&] { return run(with_places(request, prefix)); }, progress);
  });
}

void bind_bundles(py::module_& m) {
  py::class_<CompiledBundle>(m, "Bundle")
      .def_property_readonly("name", [](const CompiledBundle& b) { return b.prepared->bundle().graph.name; })
      .def_property_readonly("hardware",
                             [](const CompiledBundle& b) { return b.prepared->bundle().hardware.name; })
      .def_property_readonly("inputs",
                             [](const CompiledBundle& b) {
                               const Graph& graph = b.prepared->bundle().graph;
                               return values_of(graph, graph.inputs);
                             })
      .def_property_readonly("outputs",
                             [](const CompiledBundle& b) {
                               const Graph& graph = b.prepared->bundle().graph;
                               return values_of(graph, graph.outputs);
                             })
      .def_property_readonly("layers", [](const CompiledBundle& b) { return pair_of(b.layers); })
      .def("write", [](const CompiledBundle& b,
                       const std::filesystem::path& path) { write_bundle(path, b.prepared->bundle()); })
      .def("timing",
           [](const CompiledBundle& b, const std::string& memory) {
             const NetworkTiming timing =
                 in_background([&] { return time_network(b.prepared->bundle(), find_memory_model(memory)); });
             return py::make_tuple(to_string(timing), to_json(timing), roofline_svg(timing),
                                   page_of(timing_page(timing)));
           })
      .def("decode",
           [](const CompiledBundle& b, DecodeRequest request, const std::string& prefix,
              const py::object& progress) {
             request.folders = folders(prefix);
             if (request.engine.name == "rtl" && request.engine.cache_folder.empty())
               request.engine.cache_folder = user_cache();
             const DecodeReport report =
                 in_background([&] { return decode(*b.prepared, request); }, progress);
             if (report.disagreement) throw Error(*report.disagreement);
             return pair_of(report.answer);
           })
      .def("run", [](const CompiledBundle& b, const RunRequest& request, const std::string& prefix,
                     const py::object& progress) {
        return in_background([&] { return run_bundle(*b.prepared, with_places(request, prefix)); }, progress);
      });
  m.def("compile", [](std::shared_ptr<Graph> graph, const std::string& path, CompileRequest request,
                      const std::string& prefix, const py::object& progress) {
    request.folders = folders(prefix);
    const auto work = [&] {
      Compilation made =
          compile_model(load_quantized({.path = path, .options = {}, .graph = graph, .warn = {}}), request);
      const LayerTable table = layer_table(made);
      return CompiledBundle{std::make_shared<const PreparedBundle>(std::move(made.bundle)),
                            {to_string(table), to_json(table)}};
    };
    return in_background(work, progress);
  });
  m.def("read_bundle", [](const std::string& path, const std::string& hardware, const std::string& prefix) {
    return in_background([&] {
      return CompiledBundle{
          std::make_shared<const PreparedBundle>(read_bundle(path, hardware, folders(prefix))), {}};
    });
  });
}

void bind_tools(py::module_& m) {
  m.def("compare", [](const Graph& float_model, const CompiledBundle& bundle, const SampleRequest& input,
                      double threshold_db) {
    const ModelComparison found = in_background(
        [&] { return compare_samples(float_model, bundle.prepared->bundle(), input, threshold_db); });
    return py::make_tuple(to_string(found), to_json(found));
  });
  m.def("explain", [](const CompiledBundle& bundle, const std::string& memory, bool trials, int threads,
                      const py::object& progress) {
    const auto work = [&] {
      return explain(bundle.prepared->bundle(), find_memory_model(memory), {trials, trials, threads});
    };
    const Explanation found = in_background(work, progress);
    return py::make_tuple(to_string(found), to_json(found), roofline_svg(found.base),
                          page_of(explanation_page(found)));
  });
  py::class_<RawRunRequest>(m, "RawRunRequest")
      .def(py::init<>())
      .def_readwrite("program", &RawRunRequest::program)
      .def_readwrite("engine", &RawRunRequest::engine)
      .def_readwrite("check", &RawRunRequest::check)
      .def_readwrite("allow_outside", &RawRunRequest::allow_outside);
  m.def("exec", [](RawRunRequest request, const Limits& limits, const std::string& prefix) {
    CallDeadline deadline(limits);
    request.folders = folders(prefix);
    request.engine.deadline = deadline.get();
    if (request.engine.name == "rtl" && request.engine.cache_folder.empty())
      request.engine.cache_folder = user_cache();
    return pair_of(Background(deadline.get(), py::none()).run([&] { return run_raw_program(request); }));
  });
  py::class_<SynthesisRequest>(m, "SynthesisRequest")
      .def(py::init<>())
      .def_readwrite("hardware", &SynthesisRequest::hardware)
      .def_readwrite("device", &SynthesisRequest::device)
      .def_readwrite("output", &SynthesisRequest::output)
      .def_readwrite("temporary", &SynthesisRequest::temporary)
      .def_readwrite("clock_mhz", &SynthesisRequest::clock_mhz)
      .def_readwrite("seed", &SynthesisRequest::seed)
      .def_readwrite("timeout_s", &SynthesisRequest::timeout_s)
      .def_readwrite("rtl_only", &SynthesisRequest::rtl_only)
      .def_readwrite("no_dsp", &SynthesisRequest::no_dsp)
      .def_readwrite("allow_misfit", &SynthesisRequest::allow_misfit);
  m.def("synth", [](SynthesisRequest request, const std::string& prefix, const py::object& progress) {
    request.folders = folders(prefix);
    const SynthesisAnswer answer = in_background([&] { return synthesize(request); }, progress);
    answer.misfits.raise_if_any();
    return pair_of(answer.page);
  });
}

}  // namespace

void bind_runs(py::module_& m) {
  bind_requests(m);
  bind_bundles(m);
  bind_tools(m);
}

}  // namespace tilewright::python
