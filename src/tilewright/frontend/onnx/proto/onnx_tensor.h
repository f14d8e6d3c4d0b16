// Tensors in the TensorProto form: inside models, and as the .pb files of the ONNX test data.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

// Reads a serialised TensorProto; `name` receives the name it carries, if not null. Errors (invalid input):
// not a TensorProto, more elements announced than there are bytes; (unsupported): strings, complex numbers,
// float8, external data.
Tensor parse_onnx_tensor(std::span<const std::byte> bytes, std::string* name = nullptr);

// The inverse. Types without a number in ONNX (onnx_types.h) are stored widened to 8 bits.
std::vector<std::byte> format_onnx_tensor(const Tensor& tensor, const std::string& name = {});

}  // namespace tilewright
