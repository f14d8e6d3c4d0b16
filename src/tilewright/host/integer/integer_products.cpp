// Portable products, and those of x86: AVX2 multiplies pairs of 16-bit values (vpmaddwd), AVX-512 VNNI those
// and quadruples of bytes (vpdpwssd and vpdpbusd, the forms that do not saturate). Each is compiled for its
// own target and reached only after a check of the processor.
#include "tilewright/host/integer/integer_products.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tilewright {
namespace {

template <int kRows, int kVectors>
void portable_words(const std::byte* rows, const std::byte* panel, int64_t steps, int32_t* acc) {
  constexpr int kLanes = kVectors * 16;
  uint32_t sums[kRows][kLanes] = {};
  for (int64_t step = 0; step < steps; ++step) {
    int16_t w[kRows][2], x[kLanes][2];
    std::memcpy(w, rows + step * kRows * 4, sizeof w);
    std::memcpy(x, panel + step * kLanes * 4, sizeof x);
    for (int r = 0; r < kRows; ++r) {
      for (int l = 0; l < kLanes; ++l) {
        sums[r][l] += uint32_t(w[r][0] * x[l][0]) + uint32_t(w[r][1] * x[l][1]);
      }
    }
  }
  std::memcpy(acc, sums, sizeof sums);
}

int32_t load_step(const std::byte* bytes) {
  int32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

#if defined(__x86_64__)

// Sub-tiles of up to 4 rows x 16 lanes fit the 16 vector registers.
template <int kRows, int kVectors>
__attribute__((target("avx2"))) void avx2_words(const std::byte* rows, const std::byte* panel, int64_t steps,
                                                int32_t* acc) {
  constexpr int kTile = kRows < 4 ? kRows : 4, kLanes = kVectors * 16;
  for (int row = 0; row < kRows; row += kTile) {
    for (int lane = 0; lane < kLanes; lane += 16) {
      __m256i sums[kTile][2];
#pragma GCC unroll 4
      for (int r = 0; r < kTile; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
      const std::byte* x = panel + lane * 4;
      const std::byte* w = rows + row * 4;
      for (int64_t step = 0; step < steps; ++step, x += kLanes * 4, w += kRows * 4) {
        const __m256i x0 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
        const __m256i x1 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + 32));
#pragma GCC unroll 4
        for (int r = 0; r < kTile; ++r) {
          const __m256i pair = _mm256_set1_epi32(load_step(w + r * 4));
          sums[r][0] = _mm256_add_epi32(sums[r][0], _mm256_madd_epi16(x0, pair));
          sums[r][1] = _mm256_add_epi32(sums[r][1], _mm256_madd_epi16(x1, pair));
        }
      }
#pragma GCC unroll 4
      for (int r = 0; r < kTile; ++r) {
        auto* out = reinterpret_cast<__m256i*>(acc + (row + r) * kLanes + lane);
        _mm256_storeu_si256(out, sums[r][0]);
        _mm256_storeu_si256(out + 1, sums[r][1]);
      }
    }
  }
}

// kBytes: quadruples of unsigned times signed bytes, else pairs of words; neither form saturates.
template <bool kBytes, int kRows, int kVectors>
__attribute__((target("avx512f,avx512bw,avx512vnni"))) void avx512_product(const std::byte* rows,
                                                                           const std::byte* panel,
                                                                           int64_t steps, int32_t* acc) {
  __m512i sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_setzero_si512();
  }
  for (int64_t step = 0; step < steps; ++step, rows += kRows * 4, panel += kVectors * 64) {
    __m512i x[kVectors];
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) x[v] = _mm512_loadu_si512(panel + v * 64);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const __m512i step_of_row = _mm512_set1_epi32(load_step(rows + r * 4));
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = kBytes ? _mm512_dpbusd_epi32(sums[r][v], x[v], step_of_row)
                            : _mm512_dpwssd_epi32(sums[r][v], x[v], step_of_row);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      _mm512_storeu_si512(acc + (r * kVectors + v) * 16, sums[r][v]);
    }
  }
}

#endif

}  // namespace

const IntegerProducts& portable_word_products() {
  static constexpr IntegerProducts kProducts{
      {portable_words<kRowBlock, 1>, portable_words<kRowBlock, 2>, portable_words<kRowBlock, 3>},
      {portable_words<1, 1>, portable_words<1, 2>, portable_words<1, 3>}};
  return kProducts;
}

#if defined(__x86_64__)

const IntegerProducts& avx2_word_products() {
  static constexpr IntegerProducts kProducts{
      {avx2_words<kRowBlock, 1>, avx2_words<kRowBlock, 2>, avx2_words<kRowBlock, 3>},
      {avx2_words<1, 1>, avx2_words<1, 2>, avx2_words<1, 3>}};
  return kProducts;
}

template <bool kBytes>
constexpr IntegerProducts kAvx512Products{
    {avx512_product<kBytes, kRowBlock, 1>, avx512_product<kBytes, kRowBlock, 2>,
     avx512_product<kBytes, kRowBlock, 3>},
    {avx512_product<kBytes, 1, 1>, avx512_product<kBytes, 1, 2>, avx512_product<kBytes, 1, 3>}};

const IntegerProducts& avx512_byte_products() { return kAvx512Products<true>; }
const IntegerProducts& avx512_word_products() { return kAvx512Products<false>; }

#endif

}  // namespace tilewright
