// Requantises eight accumulators at a time in 64-bit lanes where AVX-512 is available, else one by one; both
// give the same bits. The float form is a plain loop that compilers vectorise.
#include "tilewright/host/integer/integer_finish.h"

#include <algorithm>
#include <limits>

#include "tilewright/host/integer/integer_matrix.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
// gcc 12 takes the deliberately undefined operands inside its own AVX-512 header for mistakes.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif

namespace tilewright {
namespace {

#if defined(__x86_64__)

// Eight accumulators in 64-bit lanes, as requantize() computes them.
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) void requantize_avx512(
    const int32_t* acc, uint32_t base, int64_t count, Requantization scale, const OutputStage& output,
    int8_t* out) {
  const __m256i base8 = _mm256_set1_epi32(int32_t(base));
  const __m512i multiplier = _mm512_set1_epi64(scale.multiplier);
  const bool twice = scale.shift >= kTwice;
  const int last = twice ? scale.shift - kTwice - 31 : scale.shift;  // what is still to be shifted
  const __m512i half = _mm512_set1_epi64(last == 0 ? 0 : int64_t{1} << (last - 1));
  const __m128i shift = _mm_cvtsi64_si128(last);
  const __m512i zero_point = _mm512_set1_epi64(output.y_zero_point);
  const __m512i low = _mm512_set1_epi64(output.clip_low), high = _mm512_set1_epi64(output.clip_high);
  for (int64_t i = 0; i < count; i += 8) {
    const __mmask8 mask = count - i >= 8 ? __mmask8(0xFF) : __mmask8((1u << (count - i)) - 1);
    const __m256i sums = _mm256_add_epi32(_mm256_maskz_loadu_epi32(mask, acc + i), base8);
    __m512i product = _mm512_mul_epi32(_mm512_cvtepi32_epi64(sums), multiplier);
    if (twice) {  // one less where it is negative: the halves that follow go away from zero
      product = _mm512_srai_epi64(_mm512_add_epi64(product, _mm512_set1_epi64(int64_t{1} << 30)), 31);
      product = _mm512_add_epi64(product, _mm512_srai_epi64(product, 63));
    }
    const __m512i rounded = _mm512_sra_epi64(_mm512_add_epi64(product, half), shift);
    const __m512i clipped =
        _mm512_min_epi64(_mm512_max_epi64(_mm512_add_epi64(rounded, zero_point), low), high);
    _mm512_mask_cvtepi64_storeu_epi8(out + i, mask, clipped);
  }
}

#endif

// {0, 1} to {-1, +1}.
template <typename T>
void make_bipolar(int64_t count, T* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = T(2 * out[i] - 1);
}

template <typename T>
void requantize_each(const int32_t* acc, uint32_t base, int64_t count, Requantization scale,
                     const OutputStage& output, T* out) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = T(requantize(int32_t(uint32_t(acc[i]) + base), scale, output.y_zero_point, output.clip_low,
                          output.clip_high));
  }
  if (output.bipolar) make_bipolar(count, out);
}

}  // namespace

void requantize_lanes_portable(const int32_t* acc, uint32_t base, int64_t count, Requantization scale,
                               const OutputStage& output, int8_t* out) {
  requantize_each(acc, base, count, scale, output, out);
}

void requantize_lanes(const int32_t* acc, uint32_t base, int64_t count, Requantization scale,
                      const OutputStage& output, int16_t* out) {
  requantize_each(acc, base, count, scale, output, out);
}

void requantize_lanes(const int32_t* acc, uint32_t base, int64_t count, Requantization scale,
                      const OutputStage& output, int8_t* out) {
#if defined(__x86_64__)
  if (is_available(IntegerIsa::kAvx512Vnni)) {
    requantize_avx512(acc, base, count, scale, output, out);
    if (output.bipolar) make_bipolar(count, out);
    return;
  }
#endif
  requantize_lanes_portable(acc, base, count, scale, output, out);
}

template <typename T>
void scale_lanes(const int32_t* acc, uint32_t base, int64_t count, float scale, int32_t zero_point, T* out) {
  // Bounds are integers, so clamping before rounding gives the same result; then adding and subtracting
  // 1.5 * 2^23 rounds half to even in a form that compilers vectorise.
  constexpr float kRound = 0x1.8p23f;
  const float low = float(int32_t(std::numeric_limits<T>::min()) - zero_point);
  const float high = float(int32_t(std::numeric_limits<T>::max()) - zero_point);
  for (int64_t i = 0; i < count; ++i) {
    float value = float(int32_t(uint32_t(acc[i]) + base)) * scale;
    value = value > low ? value : low;  // a NaN ends here too
    value = value < high ? value : high;
    out[i] = T(int32_t((value + kRound) - kRound) + zero_point);
  }
}

template void scale_lanes(const int32_t*, uint32_t, int64_t, float, int32_t, int8_t*);
template void scale_lanes(const int32_t*, uint32_t, int64_t, float, int32_t, uint8_t*);

}  // namespace tilewright
