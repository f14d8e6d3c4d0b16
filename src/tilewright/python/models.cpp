// Models: read, shown, simplified, quantised.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/flow/model/graph_table.h"
#include "tilewright/flow/model/inspect_model.h"
#include "tilewright/flow/model/optimize_model.h"
#include "tilewright/flow/model/quantize_model.h"
#include "tilewright/flow/targets.h"
#include "tilewright/python/arrays.h"
#include "tilewright/python/bindings.h"

namespace tilewright::python {

namespace py = pybind11;

namespace {

// An array, or a path.
SampleSource source_of(const std::string& input, const py::object& given) {
  if (py::isinstance<py::array>(given)) return {input, {}, tensor_of(given)};
  return {input, given.cast<std::filesystem::path>(), {}};
}

// `sources`: [(name of an input, or "" where there is only one, array or path)].
SampleRequest samples_of(const std::vector<std::pair<std::string, py::object>>& sources, double scale,
                         const std::string& preprocess) {
  SampleRequest request{.sources = {}, .count = 0, .scale = scale, .preprocess = preprocess};
  for (const auto& [input, given] : sources) request.sources.push_back(source_of(input, given));
  return request;
}

void bind_quantize_request(py::module_& m) {
  py::class_<QuantizeRequest>(m, "QuantizeRequest")
      .def(py::init<>())
      .def_readwrite("model", &QuantizeRequest::model)
      .def_readwrite("number_type", &QuantizeRequest::number_type)
      .def_readwrite("calibration", &QuantizeRequest::calibration)
      .def_readwrite("evaluation", &QuantizeRequest::evaluation)
      .def_property(
          "labels", [](const QuantizeRequest&) { return py::none(); },
          [](QuantizeRequest& request, const py::object& labels) { request.labels = source_of("", labels); })
      .def_property(
          "states", [](const QuantizeRequest&) { return py::none(); },
          [](QuantizeRequest& request, const std::map<std::string, std::string>& states) {
            for (const auto& [input, output] : states) request.states.push_back({input, output});
          })
      .def_readwrite("output", &QuantizeRequest::output)
      .def_readwrite("format", &QuantizeRequest::format)
      .def_readwrite("scales", &QuantizeRequest::scales)
      .def_readwrite("method", &QuantizeRequest::method)
      .def_readwrite("corrections", &QuantizeRequest::corrections)
      .def_readwrite("per_tensor", &QuantizeRequest::per_tensor)
      .def_readwrite("symmetric", &QuantizeRequest::symmetric)
      .def_readwrite("integer_borders", &QuantizeRequest::integer_borders)
      .def_readwrite("weight_bits", &QuantizeRequest::weight_bits)
      .def_readwrite("activation_bits", &QuantizeRequest::activation_bits)
      .def_readwrite("weight_group", &QuantizeRequest::weight_group)
      .def_readwrite("mixed", &QuantizeRequest::mixed)
      .def_readwrite("target_db", &QuantizeRequest::target_db)
      .def_readwrite("mean_bits", &QuantizeRequest::mean_bits)
      .def_readwrite("keep_float", &QuantizeRequest::keep_float)
      .def_readwrite("threads", &QuantizeRequest::threads);
}

}  // namespace

// [(name, type, shape)] of a graph's inputs or outputs.
py::list values_of(const Graph& graph, const std::vector<ValueId>& values) {
  py::list list;
  for (const ValueId v : values) {
    const Value& value = graph.value(v);
    list.append(py::make_tuple(value.name, name(value.type), py::tuple(py::cast(value.shape.dims()))));
  }
  return list;
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
      .def_readwrite("tflite_kernels", &LoadOptions::tflite_kernels)
      .def_readwrite("signature", &LoadOptions::signature)
      .def_property(
          "feeds", [](const LoadOptions&) { return py::none(); },
          [](LoadOptions& options, const std::map<std::string, std::vector<int64_t>>& feeds) {
            for (const auto& [name, sizes] : feeds) options.feeds[name] = Shape(sizes);
          })
      .def_readwrite("output_nodes", &LoadOptions::output_nodes)
      .def_readwrite("keep_arg_max", &LoadOptions::keep_arg_max);
  py::class_<ModelFile>(m, "ModelFile")
      .def(py::init([](std::filesystem::path path, std::shared_ptr<Graph> graph) {
             return ModelFile{.path = std::move(path), .options = {}, .graph = std::move(graph), .warn = {}};
           }),
           py::arg("path"), py::arg("graph") = nullptr);
  py::class_<SampleRequest>(m, "SampleRequest").def(py::init<>());
  m.def("samples", samples_of);
  m.def("load", [](const std::filesystem::path& path, const LoadOptions& options) {
    Diagnostics warnings;
    auto graph = in_background([&] { return std::make_shared<Graph>(load_model(path, options, &warnings)); });
    std::vector<std::string> texts;
    for (const Diagnostic& warning : warnings.warnings()) texts.push_back(to_string(warning));
    return std::make_pair(graph, texts);
  });
  m.def("inspect", [](const Graph& graph) { return pair_of(inspect_model(graph)); });
  m.def("graph_text", &model_text);
  m.def("graph_table", [](const Graph& graph) {
    const GraphTable table = in_background([&] { return graph_table(graph); });
    return py::make_tuple(to_string(table), to_json(table));
  });
  m.def("optimize", [](const ModelFile& model, const std::filesystem::path& output,
                       const std::filesystem::path& dump_folder) {
    return pair_of(in_background([&] { return optimize_model({model, output, dump_folder}); }));
  });
  m.def("taken_by", [](const ModelFile& model, const std::string& machine, const std::string& prefix) {
    return pair_of(in_background([&] { return taken_by(model, machine, folders(prefix)); }));
  });
  bind_quantize_request(m);
  m.def("quantize", [](const QuantizeRequest& request, const py::object& progress) {
    QuantizedModel made = in_background([&] { return quantize_model(request); }, progress);
    return py::make_tuple(std::make_shared<Graph>(std::move(made.graph)), made.report.text, made.report.json);
  });
  m.def("write_quantized", &write_quantized, py::call_guard<py::gil_scoped_release>());
}

}  // namespace tilewright::python
