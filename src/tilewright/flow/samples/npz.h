// .npz archives, as numpy.savez and numpy.savez_compressed write them: a zip of .npy files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

using NamedArrays = std::vector<std::pair<std::string, Tensor>>;

// The arrays in the archive's order; a member's name is the array's with ".npy". Errors (invalid input): no
// zip archive, or a damaged one; every member that is encrypted, no array, or there twice.
NamedArrays parse_npz(std::span<const std::byte> bytes);

// Not compressed, without a date: equal arrays give equal bytes.
std::vector<std::byte> format_npz(const NamedArrays& arrays);
void write_npz(const std::filesystem::path& path, const NamedArrays& arrays);

}  // namespace tilewright
