// tilewright._native: the requests of the flow as they are, and the calls that take them. The package beside
// it (python/tilewright) gives them Python's form; nothing is computed there or here.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/flow/design/design_question.h"
#include "tilewright/flow/map/map_question.h"
#include "tilewright/flow/model/inspect_model.h"
#include "tilewright/flow/model/quantize_model.h"
#include "tilewright/flow/place/place_question.h"
#include "tilewright/flow/run/compile_model.h"
#include "tilewright/flow/run/layer_table.h"
#include "tilewright/flow/run/overlay_target.h"
#include "tilewright/flow/targets.h"
#include "tilewright/flow/time/roofline.h"
#include "tilewright/python/arrays.h"
#include "tilewright/python/background.h"

namespace tilewright::python {
namespace {

namespace py = pybind11;

SharedFolders folders(const std::filesystem::path& prefix) {
  return find_shared_folders(prefix, TILEWRIGHT_SOURCE_DIR);
}

// Work without a part result: Ctrl-C is raised when it is done.
template <typename Work>
auto in_background(const Work& work) {
  return Background(nullptr, py::none()).run(work);
}

// [(name, type, shape)] of a graph's inputs or outputs.
py::list values_of(const Graph& graph, const std::vector<ValueId>& values) {
  py::list list;
  for (const ValueId v : values) {
    const Value& value = graph.value(v);
    list.append(py::make_tuple(value.name, name(value.type), py::tuple(py::cast(value.shape.dims()))));
  }
  return list;
}

py::tuple pair_of(const Answer& answer) { return py::make_tuple(answer.text, answer.json); }

SampleFile samples_of(const py::array& array, double scale) {
  SampleFile file;
  file.samples = std::make_shared<const Samples>(tensor_of(array), 0, scale, "the array");
  return file;
}

// What a Python object of kind Error holds: KIND, TEXT, [(kind, where, op, message, hint)].
void raise_in_python(const Error& error) {
  py::list diagnostics;
  for (const Diagnostic& d : error.diagnostics())
    diagnostics.append(py::make_tuple(error_kind_name(d.kind), d.where, d.op, d.message, d.hint));
  const py::object type = py::module_::import("tilewright.errors").attr("error_class")(int(error.kind()));
  PyErr_SetObject(type.ptr(), py::make_tuple(error.what(), diagnostics).ptr());
}

void bind_models(py::module_& m) {
  py::class_<Graph, std::shared_ptr<Graph>>(m, "Graph")
      .def_property_readonly("name", [](const Graph& g) { return g.name; })
      .def_property_readonly("nodes", [](const Graph& g) { return g.nodes.size(); })
      .def_property_readonly("inputs", [](const Graph& g) { return values_of(g, g.inputs); })
      .def_property_readonly("outputs", [](const Graph& g) { return values_of(g, g.outputs); });
  py::class_<LoadOptions>(m, "LoadOptions")
      .def(py::init<>())
      .def_readwrite("dimensions", &LoadOptions::dimensions)
      .def_readwrite("fill_gain", &LoadOptions::fill_gain)
      .def_readwrite("allow_missing_weights", &LoadOptions::allow_missing_weights)
      .def_readwrite("output_nodes", &LoadOptions::output_nodes)
      .def_readwrite("keep_arg_max", &LoadOptions::keep_arg_max);
  py::class_<ModelFile>(m, "ModelFile")
      .def(py::init([](std::filesystem::path path, std::shared_ptr<Graph> graph) {
             return ModelFile{.path = std::move(path), .options = {}, .graph = std::move(graph), .warn = {}};
           }),
           py::arg("path"), py::arg("graph") = nullptr);
  py::class_<SampleFile>(m, "SampleFile").def(py::init<>());
  m.def("samples", samples_of, py::arg("array"), py::arg("scale") = 1.0);
  m.def("load", [](const std::filesystem::path& path, const LoadOptions& options) {
    Diagnostics warnings;
    auto graph = in_background([&] { return std::make_shared<Graph>(load_model(path, options, &warnings)); });
    std::vector<std::string> texts;
    for (const Diagnostic& warning : warnings.warnings()) texts.push_back(to_string(warning));
    return std::make_pair(graph, texts);
  });
  m.def("inspect", [](const Graph& graph) { return pair_of(inspect_model(graph)); });
  m.def("graph_text", &model_text);
  m.def("taken_by", [](const ModelFile& model, const std::string& machine, const std::string& prefix) {
    return pair_of(in_background([&] { return taken_by(model, machine, folders(prefix)); }));
  });
  py::class_<QuantizeRequest>(m, "QuantizeRequest")
      .def(py::init<>())
      .def_readwrite("model", &QuantizeRequest::model)
      .def_readwrite("number_type", &QuantizeRequest::number_type)
      .def_readwrite("calibration", &QuantizeRequest::calibration)
      .def_readwrite("evaluation", &QuantizeRequest::evaluation)
      .def_readwrite("labels", &QuantizeRequest::labels)
      .def_readwrite("output", &QuantizeRequest::output)
      .def_readwrite("scales", &QuantizeRequest::scales)
      .def_readwrite("method", &QuantizeRequest::method)
      .def_readwrite("per_tensor", &QuantizeRequest::per_tensor)
      .def_readwrite("weight_bits", &QuantizeRequest::weight_bits)
      .def_readwrite("activation_bits", &QuantizeRequest::activation_bits)
      .def_readwrite("threads", &QuantizeRequest::threads);
  m.def("quantize", [](const QuantizeRequest& request) {
    QuantizedModel made = in_background([&] { return quantize_model(request); });
    return py::make_tuple(std::make_shared<Graph>(std::move(made.graph)), made.report.text, made.report.json);
  });
}

struct CompiledBundle {
  std::shared_ptr<const PreparedBundle> prepared;
  Answer layers;  // empty for a bundle from a file
};

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

void bind_runs(py::module_& m) {
  py::class_<CompileRequest>(m, "CompileRequest")
      .def(py::init<>())
      .def_readwrite("hardware", &CompileRequest::hardware)
      .def_readwrite("records", &CompileRequest::records)
      .def_readwrite("no_records", &CompileRequest::no_records)
      .def_readwrite("memory", &CompileRequest::memory);
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
      .def_readwrite("threads", &RunRequest::threads);
  py::class_<RunReport>(m, "RunReport")
      .def_property_readonly("outputs", outputs_of)
      .def_readonly("classes", &RunReport::classes)
      .def_property_readonly("text", [](const RunReport& r) { return r.summary + r.verdict; })
      .def_readonly("json", &RunReport::facts)
      .def("raise_disagreement", [](const RunReport& r) {
        if (r.disagreement) throw Error(*r.disagreement);
      });
  py::class_<CompiledBundle>(m, "Bundle")
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
             return py::make_tuple(to_string(timing), to_json(timing), roofline_svg(timing));
           })
      .def("run", [](const CompiledBundle& b, const RunRequest& request, const std::string& prefix) {
        return in_background([&] { return run_bundle(*b.prepared, with_places(request, prefix)); });
      });
  m.def("compile", [](std::shared_ptr<Graph> graph, const std::string& path, CompileRequest request,
                      const std::string& prefix) {
    request.folders = folders(prefix);
    return in_background([&] {
      Compilation made =
          compile_model(load_quantized({.path = path, .options = {}, .graph = graph, .warn = {}}), request);
      const LayerTable table = layer_table(made);
      return CompiledBundle{std::make_shared<const PreparedBundle>(std::move(made.bundle)),
                            {to_string(table), to_json(table)}};
    });
  });
  m.def("read_bundle", [](const std::string& path, const std::string& hardware, const std::string& prefix) {
    return in_background([&] {
      return CompiledBundle{
          std::make_shared<const PreparedBundle>(read_bundle(path, hardware, folders(prefix))), {}};
    });
  });
  m.def("run", [](const RunRequest& request, const std::string& prefix) {
    return in_background([&] { return run(with_places(request, prefix)); });
  });
}

void bind_mapping(py::module_& m) {
  py::class_<MapQuestion>(m, "MapQuestion")
      .def(py::init<>())
      .def_readwrite("model", &MapQuestion::model)
      .def_readwrite("workload", &MapQuestion::workload)
      .def_readwrite("hardware", &MapQuestion::hardware)
      .def_readwrite("mapping", &MapQuestion::mapping)
      .def_readwrite("dataflow", &MapQuestion::dataflow)
      .def_readwrite("timeloop", &MapQuestion::timeloop)
      .def_readwrite("batch", &MapQuestion::batch)
      .def_readwrite("equal_area", &MapQuestion::equal_area)
      .def_readwrite("imperfect", &MapQuestion::imperfect)
      .def_readwrite("objective", &MapQuestion::objective)
      .def_readwrite("rules", &MapQuestion::rules)
      .def_readwrite("max_cycles", &MapQuestion::max_cycles)
      .def_readwrite("time_s", &MapQuestion::time_s)
      .def_readwrite("threads", &MapQuestion::threads)
      .def_readwrite("pareto_buffer", &MapQuestion::pareto_buffer)
      .def_readwrite("pareto", &MapQuestion::pareto)
      .def_readwrite("unions", &MapQuestion::unions)
      .def_readwrite("fuse", &MapQuestion::fuse)
      .def_readwrite("simulate", &MapQuestion::simulate)
      .def_readwrite("cache", &MapQuestion::cache);
  py::class_<MapAnswer>(m, "MapAnswer")
      .def_property_readonly("text", [](const MapAnswer& a) { return map_text(a, false); })
      .def_property_readonly("json", &map_json)
      .def_property_readonly("csv", &map_csv)
      .def_property_readonly("svg", &map_svg)
      .def_property_readonly("mappings", &map_mappings)
      .def("raise_missing", [](const MapAnswer& a) {
        if (const auto missing = missing_layers(a)) throw Error(*missing);
      });
  m.def("map", [](MapQuestion question, const std::string& prefix, const py::object& progress) {
    const Deadline deadline(question.time_s > 0 ? question.time_s : Deadline::kNoLimit);
    Background background(&deadline, progress);
    question.deadline = &deadline;
    question.folders = folders(prefix);
    question.tool_version = TILEWRIGHT_VERSION;
    question.progress = [&](const NetworkProgress& at) {
      background.report(std::to_string(at.number) + " of " + std::to_string(at.count) + ": " + at.layer);
    };
    MapAnswer answer = background.run([&] { return answer_map(question); });
    deadline.over();  // the mapper keeps to time_s by itself and does not say so
    return py::make_tuple(std::move(answer), ending_name(deadline.ending()));
  });
}

void bind_placement(py::module_& m) {
  py::class_<PlaceQuestion>(m, "PlaceQuestion")
      .def(py::init<>())
      .def_readwrite("graph", &PlaceQuestion::graph)
      .def_readwrite("expression", &PlaceQuestion::expression)
      .def_readwrite("fabric", &PlaceQuestion::fabric)
      .def_readwrite("ii", &PlaceQuestion::ii)
      .def_readwrite("method", &PlaceQuestion::method)
      .def_readwrite("objective", &PlaceQuestion::objective)
      .def_readwrite("policy", &PlaceQuestion::policy)
      .def_readwrite("samples", &PlaceQuestion::samples)
      .def_readwrite("beam", &PlaceQuestion::beam)
      .def_readwrite("delay", &PlaceQuestion::delay)
      .def_readwrite("starters", &PlaceQuestion::starters)
      .def_readwrite("fixed", &PlaceQuestion::fixed)
      .def_readwrite("routed", &PlaceQuestion::routed)
      .def_readwrite("places_only", &PlaceQuestion::places_only)
      .def_readwrite("evaluations", &PlaceQuestion::evaluations)
      .def_readwrite("seed", &PlaceQuestion::seed)
      .def_readwrite("threads", &PlaceQuestion::threads);
  m.def("place", [](PlaceQuestion question, double time_s, const std::string& prefix) {
    const Deadline deadline(time_s > 0 ? time_s : Deadline::kNoLimit);
    question.folders = folders(prefix);
    const auto answer = Background(&deadline, py::none()).run([&] {
      PlaceRequest request = place_request(question);
      request.options.limits.deadline = &deadline;
      const PlaceReport report = place(request);
      if (report.best < 0) throw missing_mapping(report);
      const cgra::MappedProgram program = mapped_program(request, report.points[size_t(report.best)]);
      return std::vector<std::string>{place_text(request, report), place_json(request, report),
                                      place_picture(program), print_mapped_program(program),
                                      ending_name(report.ending)};
    });
    return answer;
  });
}

void bind_designs(py::module_& m) {
  py::class_<DesignQuestion>(m, "DesignQuestion")
      .def(py::init<>())
      .def_readwrite("model", &DesignQuestion::model)
      .def_readwrite("device", &DesignQuestion::device)
      .def_readwrite("budget", &DesignQuestion::budget)
      .def_readwrite("clock_mhz", &DesignQuestion::clock_mhz)
      .def_readwrite("objective", &DesignQuestion::objective)
      .def_readwrite("form", &DesignQuestion::form)
      .def_readwrite("number_type", &DesignQuestion::number_type)
      .def_readwrite("weight_bits", &DesignQuestion::weight_bits)
      .def_readwrite("activation_bits", &DesignQuestion::activation_bits)
      .def_readwrite("calibration", &DesignQuestion::calibration)
      .def_readwrite("allocation", &DesignQuestion::allocation)
      .def_readwrite("memory", &DesignQuestion::memory)
      .def_readwrite("simulate", &DesignQuestion::simulate)
      .def_readwrite("threads", &DesignQuestion::threads)
      .def_readwrite("output", &DesignQuestion::output);
  m.def("generate", [](DesignQuestion question, double time_s, const std::string& prefix) {
    const Deadline deadline(time_s > 0 ? time_s : Deadline::kNoLimit);
    question.deadline = &deadline;
    question.folders = folders(prefix);
    return Background(&deadline, py::none()).run([&] {
      const GeneratedDesign made = generate_folder(question);
      const Ending search = made.allocated.ending;
      return std::vector<std::string>{to_string(made.report), to_json(made.report),
                                      ending_name(search != Ending::kNone ? search : made.ending)};
    });
  });
}

}  // namespace

PYBIND11_MODULE(_native, m) {
  m.doc() = "Tilewright's flow; use the package tilewright, which gives it Python's form.";
  m.attr("__version__") = TILEWRIGHT_VERSION;
  py::register_exception_translator([](std::exception_ptr raised) {
    try {
      if (raised) std::rethrow_exception(raised);
    } catch (const Error& error) {
      raise_in_python(error);
    } catch (const Expired&) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
  bind_models(m);
  bind_runs(m);
  bind_mapping(m);
  bind_placement(m);
  bind_designs(m);
}

}  // namespace tilewright::python
