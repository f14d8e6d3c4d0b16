// The shared models as the tests of this folder use them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/host/executor.h"

namespace tilewright {

std::filesystem::path models_folder();

// A .npy file or a TensorProto (.pb).
Tensor read_tensor(const std::filesystem::path& path);

// max|a - b| / max|b| over all elements (shapes must agree in element count); infinity when a holds a NaN.
double relative_error(const Tensor& a, const Tensor& b);

}  // namespace tilewright
