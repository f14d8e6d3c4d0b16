// The block kernel for AVX2.
#include <cstring>
#include <limits>

#include "tilewright/spatial/fast_evaluator_plan.h"

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#include "tilewright/spatial/fast_evaluator_kernel.h"
// The blocks need the kernel.
#include "tilewright/spatial/fast_evaluator_blocks.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace tilewright {

BlockFunction avx2_block_function(int levels, int spatial_level) {
  const bool supported = __builtin_cpu_supports("avx2");
  return supported ? block_function(levels, spatial_level) : nullptr;
}

}  // namespace tilewright
#else
namespace tilewright {
BlockFunction avx2_block_function(int, int) { return nullptr; }
}  // namespace tilewright
#endif
