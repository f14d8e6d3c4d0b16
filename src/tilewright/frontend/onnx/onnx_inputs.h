// Inputs of an ONNX model whose values a Graph must know when it is built: sizes of dynamic dimensions, and
// inputs that decide shapes (the shape of Reshape, the axes of ReduceSum, ..).
#pragma once

#include <optional>
#include <vector>

#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/proto/onnx_model.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

struct OnnxBinding {
  OnnxOptions options;         // to read the model with
  std::vector<Tensor> inputs;  // that are left for the graph, in its order
};

// Whether no input needs a value before the graph is built, or the reader refuses an input with any value.
bool has_fixed_shapes(const OnnxModel& model);

// Arrays in NumPy have no bfloat16; ONNX's library gives its bits as uint16: of a value declared so, these
// become bfloat16.
Tensor from_bits(Tensor tensor, std::optional<ElementType> declared);

// `given`: values for the inputs without initializer, in file order; bfloat16 as in from_bits.
// Inputs that decide shapes, and inputs that no node reads, become constants. Errors (invalid input): more
// values than inputs.
OnnxBinding bind_inputs(const OnnxModel& model, std::vector<Tensor> given);

}  // namespace tilewright
