// What python/tilewright/backend.py needs of the library: a model that answers arrays.
#include <pybind11/stl.h>

#include <utility>
#include <vector>

#include "tilewright/flow/run/onnx_session.h"
#include "tilewright/python/arrays.h"
#include "tilewright/python/bindings.h"

namespace tilewright::python {

namespace py = pybind11;

void bind_onnx(py::module_& m) {
  py::class_<OnnxSession>(m, "OnnxSession")
      .def(py::init([](const py::bytes& model, const std::string& overlay, int threads,
                       const std::string& prefix) {
             const std::string_view text = model;
             const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
             return in_background([&] {
               return std::make_unique<OnnxSession>(
                   bytes,
                   OnnxSessionOptions{.overlay = overlay, .threads = threads, .folders = folders(prefix)});
             });
           }),
           py::arg("model"), py::arg("overlay"), py::arg("threads"), py::arg("prefix"))
      .def("run", [](OnnxSession& session, const std::vector<py::array>& arrays) {
        std::vector<Tensor> inputs;
        for (const py::array& array : arrays) inputs.push_back(tensor_of(array));
        const std::vector<Tensor> outputs = in_background([&] { return session.run(std::move(inputs)); });
        py::list results;
        for (const Tensor& output : outputs) results.append(array_of(output));
        return results;
      });
}

}  // namespace tilewright::python
