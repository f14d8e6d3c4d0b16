// Portable products, and those of x86 with AVX2, whose vpmuldq multiplies four pairs of signed 32-bit numbers
// into 64 bits. It is compiled for its own target and reached only after a check of the processor.
#include "tilewright/host/integer/fixed_products.h"

#include <algorithm>

#include "tilewright/tensor/fixed_point.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tilewright {
namespace {

void portable(const int32_t* weights, const int32_t* values, int64_t steps, uint64_t* sums) {
  std::fill(sums, sums + kFixedRows * kFixedPositions, uint64_t{0});
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t r = 0; r < kFixedRows; ++r) {
      for (int64_t p = 0; p < kFixedPositions; ++p) {
        sums[r * kFixedPositions + p] +=
            fixed_product(weights[step * kFixedRows + r], values[step * kFixedPositions + p]);
      }
    }
  }
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) void avx2(const int32_t* weights, const int32_t* values, int64_t steps,
                                          uint64_t* sums) {
  __m256i acc[kFixedRows][2];
#pragma GCC unroll 4
  for (int r = 0; r < kFixedRows; ++r) acc[r][0] = acc[r][1] = _mm256_setzero_si256();
  for (int64_t step = 0; step < steps; ++step) {
    // vpmuldq reads the even 32-bit lanes: positions 0, 2, 4, 6, and after a shift 1, 3, 5, 7.
    const __m256i even =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + step * kFixedPositions));
    const __m256i odd = _mm256_srli_epi64(even, 32);
#pragma GCC unroll 4
    for (int r = 0; r < kFixedRows; ++r) {
      const __m256i w = _mm256_set1_epi32(weights[step * kFixedRows + r]);
      acc[r][0] = _mm256_add_epi64(acc[r][0], _mm256_mul_epi32(even, w));
      acc[r][1] = _mm256_add_epi64(acc[r][1], _mm256_mul_epi32(odd, w));
    }
  }
  for (int r = 0; r < kFixedRows; ++r) {
    alignas(32) uint64_t lanes[2][4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes[0]), acc[r][0]);
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes[1]), acc[r][1]);
    for (int p = 0; p < kFixedPositions; ++p) sums[r * kFixedPositions + p] = lanes[p % 2][p / 2];
  }
}

#endif

}  // namespace

FixedProducts portable_fixed_products() { return portable; }

FixedProducts best_fixed_products() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return avx2;
#endif
  return portable;
}

}  // namespace tilewright
