// All operators the host engine runs.
#pragma once

#include <span>
#include <string_view>

#include "tilewright/host/kernel.h"

namespace tilewright {

// The entry of an operator, or nullptr when the host engine has none.
const KernelEntry* find_kernel(std::string_view domain, std::string_view op);

// The families, each in the .cpp file of its name.
std::span<const KernelEntry> constant_kernels();
std::span<const KernelEntry> shape_kernels();

}  // namespace tilewright
