// All operators the host engine runs.
#pragma once

#include <span>
#include <string_view>

#include "tilewright/host/kernel.h"

namespace tilewright {

// The entry of an operator, or nullptr when the host engine has none.
const KernelEntry* find_kernel(std::string_view domain, std::string_view op);

// The families, each in the .cpp file of its name.
std::span<const KernelEntry> binary_kernels();
std::span<const KernelEntry> cast_kernels();
std::span<const KernelEntry> constant_kernels();
std::span<const KernelEntry> convolution_kernels();
std::span<const KernelEntry> fixed_point_kernels();
std::span<const KernelEntry> image_kernels();
std::span<const KernelEntry> indexing_kernels();
std::span<const KernelEntry> integer_kernels();
std::span<const KernelEntry> integer_onnx_kernels();
std::span<const KernelEntry> integer_row_kernels();
std::span<const KernelEntry> matrix_kernels();
std::span<const KernelEntry> normalization_kernels();
std::span<const KernelEntry> pooling_kernels();
std::span<const KernelEntry> quantize_kernels();
std::span<const KernelEntry> rearrange_kernels();
std::span<const KernelEntry> reduction_kernels();
std::span<const KernelEntry> resize_kernels();
std::span<const KernelEntry> rotary_kernels();
std::span<const KernelEntry> sampling_kernels();
std::span<const KernelEntry> scatter_kernels();
std::span<const KernelEntry> shape_kernels();
std::span<const KernelEntry> unary_kernels();

}  // namespace tilewright
