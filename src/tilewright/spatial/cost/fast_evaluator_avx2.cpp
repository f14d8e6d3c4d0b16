// The kernels for AVX2.
#include <cstring>
#include <limits>

#include "tilewright/spatial/cost/fast_evaluator_plan.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TILEWRIGHT_SHUFFLE_BYTES
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#include "tilewright/spatial/cost/fast_evaluator_blocks.h"
#include "tilewright/spatial/cost/fast_evaluator_kernel.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace tilewright {

FastFunctions avx2_functions(int levels, int spatial_level) {
  const bool supported = __builtin_cpu_supports("avx2");
  return supported ? fast_functions<true>(levels, spatial_level) : FastFunctions{};
}

}  // namespace tilewright
#else
namespace tilewright {
FastFunctions avx2_functions(int, int) { return {}; }
}  // namespace tilewright
#endif
