// Searches: mappings on arrays, placements on fabrics, designs for devices. Each ends with its limits or with
// Ctrl-C, and gives the best that it has.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <string>
#include <utility>
#include <vector>

#include "tilewright/flow/design/design_question.h"
#include "tilewright/flow/map/map_question.h"
#include "tilewright/flow/place/fabric_run.h"
#include "tilewright/flow/place/place_question.h"
#include "tilewright/python/arrays.h"
#include "tilewright/python/bindings.h"

namespace tilewright::python {

namespace py = pybind11;

namespace {

using namespace pybind11::literals;

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
      .def_readwrite("baseline", &MapQuestion::baseline)
      .def_readwrite("cache", &MapQuestion::cache);
  py::class_<MapAnswer>(m, "MapAnswer")
      .def_property_readonly("text", [](const MapAnswer& a) { return map_text(a, false); })
      .def_property_readonly("json", &map_json)
      .def_property_readonly("csv", &map_csv)
      .def_property_readonly("svg", &map_svg)
      .def_property_readonly("page", [](const MapAnswer& a) { return page_of(map_page(a)); })
      .def_property_readonly("mappings", &map_mappings)
      .def("raise_missing", [](const MapAnswer& a) {
        if (const auto missing = missing_layers(a)) throw Error(*missing);
      });
  m.def("map", [](MapQuestion question, const Limits& limits, const std::string& prefix,
                  const py::object& progress) {
    CallDeadline deadline(limits);
    Background background(deadline.get(), progress);
    if (deadline.get()->limited()) question.time_s = deadline.get()->limit();
    question.deadline = deadline.get();
    question.folders = folders(prefix);
    question.tool_version = TILEWRIGHT_VERSION;
    std::vector<std::string> notes;
    question.note = [&](const Diagnostic& note) { notes.push_back(to_string(note)); };
    question.progress = [&](const NetworkProgress& at) {
      background.report(std::to_string(at.number) + " of " + std::to_string(at.count) + ": " + at.layer,
                        double(at.number - 1) / double(at.count));
    };
    MapAnswer answer = background.run([&] { return answer_map(question); });
    deadline.get()->over();  // the mapper keeps to time_s by itself and does not say so
    for (const std::string& warning : answer.cache_warnings) notes.push_back(warning);
    return py::make_tuple(std::move(answer), ending_name(deadline.get()->ending()), notes);
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
      .def_readwrite("proof_folder", &PlaceQuestion::proof_folder)
      .def_readwrite("threads", &PlaceQuestion::threads);
  m.def("place", [](PlaceQuestion question, const Limits& limits, const std::string& prefix,
                    const py::object& progress) {
    CallDeadline deadline(limits);
    question.folders = folders(prefix);
    Background background(deadline.get(), progress);
    background.report("");
    return background.run([&] {
      PlaceRequest request = place_request(question);
      request.options.limits.deadline = deadline.get();
      const PlaceReport report = place(request);
      if (report.best < 0) throw missing_mapping(report);
      const cgra::MappedProgram program = mapped_program(request, report.points[size_t(report.best)]);
      return std::tuple(place_text(request, report), place_json(request, report), place_picture(program),
                        page_of(place_page(request, report)), print_mapped_program(program),
                        std::string(ending_name(report.ending)));
    });
  });
  m.def("configuration", [](const std::string& mapping) {
    return print_configuration(device_configuration(cgra::parse_mapped_program(mapping, "the mapping")));
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
  m.def("generate", [](DesignQuestion question, const Limits& limits, const std::string& prefix,
                       const py::object& progress) {
    CallDeadline deadline(limits);
    question.deadline = deadline.get();
    question.folders = folders(prefix);
    question.origin = page_origin();
    Background background(deadline.get(), progress);
    background.report("");
    const GeneratedDesign made = background.run([&] { return generate_folder(question); });
    const pipeline::AllocationResult& search = made.allocated;
    const Ending ending = search.ending != Ending::kNone ? search.ending : made.ending;
    return py::dict("text"_a = to_string(made.report), "json"_a = to_json(made.report),
                    "ending"_a = ending_name(ending), "evaluated"_a = search.evaluated,
                    "proven"_a = search.proven_optimal, "explanation"_a = search.explanation);
  });
}

}  // namespace

void bind_searches(py::module_& m) {
  py::class_<Limits>(m, "Limits")
      .def(py::init([](std::string time, std::string memory) {
             return Limits{std::move(time), std::move(memory)};
           }),
           py::arg("time"), py::arg("memory"));
  bind_mapping(m);
  bind_placement(m);
  bind_designs(m);
}

}  // namespace tilewright::python
