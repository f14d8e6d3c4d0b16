// NumPy .npy files, versions 1 to 3, little-endian, C order (Fortran order is read and transposed).
#pragma once

#include <filesystem>
#include <span>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

// Errors (invalid input): not an .npy file, truncated, big-endian, structured or object element type.
Tensor read_npy(const std::filesystem::path& path);
Tensor parse_npy(std::span<const std::byte> bytes);

// Types below 8 bits have no NumPy form: they are written as i8 or u8.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);
std::vector<std::byte> format_npy(const Tensor& tensor);

}  // namespace tilewright
