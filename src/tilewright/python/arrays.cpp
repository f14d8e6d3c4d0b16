// Types by their NumPy letter and size, as in the files that NumPy writes.
#include "tilewright/python/arrays.h"

#include <string>
#include <vector>

namespace tilewright::python {

namespace py = pybind11;

namespace {

struct NumpyType {
  ElementType type;
  const char* name;
};
constexpr NumpyType kNumpyTypes[] = {
    {ElementType::kF32, "float32"}, {ElementType::kF64, "float64"}, {ElementType::kF16, "float16"},
    {ElementType::kI64, "int64"},   {ElementType::kI32, "int32"},   {ElementType::kI16, "int16"},
    {ElementType::kI8, "int8"},     {ElementType::kU64, "uint64"},  {ElementType::kU32, "uint32"},
    {ElementType::kU16, "uint16"},  {ElementType::kU8, "uint8"},    {ElementType::kBool, "bool"},
};

const char* numpy_name(ElementType type) {
  for (const NumpyType& known : kNumpyTypes) {
    if (known.type == type) return known.name;
  }
  return nullptr;
}

// Drops the array with Python's lock, from whatever thread lets go of the tensor last.
void release(PyObject* array) {
  const py::gil_scoped_acquire lock;
  Py_DECREF(array);
}

}  // namespace

Tensor tensor_of(const py::array& array) {
  const py::module_ numpy = py::module_::import("numpy");
  const py::dtype own = array.dtype();
  py::object type = own;
  if (!own.attr("isnative").cast<bool>()) type = own.attr("newbyteorder")("=");
  const py::array plain = numpy.attr("require")(array, type, py::make_tuple("C", "A"));
  const std::string name = py::str(plain.dtype().attr("name"));
  for (const NumpyType& known : kNumpyTypes) {
    if (name != known.name) continue;
    std::vector<int64_t> sizes(plain.shape(), plain.shape() + plain.ndim());
    PyObject* const owner = plain.inc_ref().ptr();
    const auto* const bytes = static_cast<const std::byte*>(plain.data());
    return Tensor::over(known.type, Shape(sizes), {bytes, [owner](const std::byte*) { release(owner); }});
  }
  throw Error(ErrorKind::kInvalidInput, "an array of " + name + " cannot be read",
              "convert it, for example with array.astype('float32')");
}

py::array array_of(const Tensor& tensor) {
  const char* const name = numpy_name(tensor.type());
  if (name == nullptr) {
    const bool fraction = is_float(tensor.type());
    return array_of(tensor.cast(fraction                   ? ElementType::kF32
                                : is_signed(tensor.type()) ? ElementType::kI8
                                                           : ElementType::kU8));
  }
  auto* const kept = new Tensor(tensor);
  const py::capsule owner(kept, [](void* p) { delete static_cast<Tensor*>(p); });
  std::vector<py::ssize_t> sizes;
  for (int64_t axis = 0; axis < tensor.shape().rank(); ++axis) sizes.push_back(tensor.shape()[axis]);
  return py::array(py::dtype(name), sizes, kept->bytes().data(), owner);
}

}  // namespace tilewright::python
