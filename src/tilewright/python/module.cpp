// tilewright._native: the requests of the flow as they are, and the calls that take them. The package beside
// it (python/tilewright) gives them Python's form; nothing is computed there or here.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <exception>

#include "tilewright/base/error.h"
#include "tilewright/python/bindings.h"

namespace tilewright::python {
namespace {

namespace py = pybind11;

// What a Python object of kind Error holds: KIND, TEXT, [(kind, where, op, message, hint)].
void raise_in_python(const Error& error) {
  py::list diagnostics;
  for (const Diagnostic& d : error.diagnostics())
    diagnostics.append(py::make_tuple(error_kind_name(d.kind), d.where, d.op, d.message, d.hint));
  const py::object type = py::module_::import("tilewright.errors").attr("error_class")(int(error.kind()));
  PyErr_SetObject(type.ptr(), py::make_tuple(error.what(), diagnostics).ptr());
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
  py::class_<Page>(m, "Page").def_property_readonly("html", &page_html);
  bind_models(m);
  bind_runs(m);
  bind_searches(m);
  bind_tuning(m);
  bind_onnx(m);
}

}  // namespace tilewright::python
