// NumPy arrays as tensors and back, without copies where the layouts are the same.
#pragma once

#include <pybind11/numpy.h>

#include "tilewright/tensor/tensor.h"

namespace tilewright::python {

// The tensor reads the array's memory and keeps it alive; an array that is not in C order, not aligned or not
// in the machine's byte order is copied first. Errors (invalid input): a type that has no element type here.
Tensor tensor_of(const pybind11::array& array);

// The array reads the tensor's memory and keeps it alive. Elements below 8 bits become int8 or uint8,
// bfloat16 becomes float32; both are copies.
pybind11::array array_of(const Tensor& tensor);

}  // namespace tilewright::python
