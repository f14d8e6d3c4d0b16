// AVX2 kernels. vpmaddwd multiplies pairs of 16-bit lanes exactly, so inputs and weights are kept widened to
// 16 bits (the 8-bit vpmaddubsw would saturate). Weights are transposed to [inputs / 2][outputs][2]: one
// register holds the same two inputs of 8 outputs.
#include "tilewright/overlay/execute/kernel_set.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <utility>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#include "tilewright/overlay/execute/alu_loops.h"
#include "tilewright/overlay/execute/gemm_loops.h"

namespace tilewright::overlay {
namespace {

inline __m256i load256(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline void store256(void* p, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }

struct Pairs {
  struct Start {};
  static constexpr uint32_t kMaxPixels = 4;
  static constexpr size_t kSliceBytesPerOutput = 4;
  static constexpr int kInputsPerSlice = 2;

  static Start start(const Scratchpads&, const Block&, size_t, int) { return {}; }

  static __m256i broadcast(const std::byte* p) {
    int32_t word;
    std::memcpy(&word, p, 4);
    return _mm256_set1_epi32(word);
  }

  template <int kPixels, int kSlices>
  static inline __attribute__((always_inline)) void steps(const Block& block, __m256i (&sum)[kPixels][2]) {
    const int slices = kSlices > 0 ? kSlices : block.slices;
    for (uint32_t i = 0; i < block.count; ++i) {
      const std::byte* const input = block.input + block.steps[i].src * block.input_element;
      const std::byte* const weight = block.weight + block.steps[i].wgt * block.weight_element;
#pragma GCC unroll 8
      for (int k = 0; k < slices; ++k) {
        const __m256i low = load256(weight + size_t(k) * block.weight_slice);
        const __m256i high = load256(weight + size_t(k) * block.weight_slice + 32);
#pragma GCC unroll 8
        for (int p = 0; p < kPixels; ++p) {
          const __m256i x = broadcast(input + size_t(p) * block.pixel_input + 4 * k);
          sum[p][0] = _mm256_add_epi32(sum[p][0], _mm256_madd_epi16(x, low));
          sum[p][1] = _mm256_add_epi32(sum[p][1], _mm256_madd_epi16(x, high));
        }
      }
    }
  }

  template <int kPixels>
  static void run(const Block& block, Start) {
    __m256i sum[kPixels][2];
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) {
      const int32_t* const lanes = block.accumulator + p * block.pixel_accumulator;
      sum[p][0] = block.overwrite ? _mm256_setzero_si256() : load256(lanes);
      sum[p][1] = block.overwrite ? _mm256_setzero_si256() : load256(lanes + 8);
    }
    if (block.slices == 8) {
      steps<kPixels, 8>(block, sum);
    } else {
      steps<kPixels, 0>(block, sum);
    }
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) {
      int32_t* const lanes = block.accumulator + p * block.pixel_accumulator;
      store256(lanes, sum[p][0]);
      store256(lanes + 8, sum[p][1]);
    }
  }
};

struct Vector256 {
  static constexpr size_t kLanes = 8;
  using Type = __m256i;
  static __m256i load(const int32_t* p) { return load256(p); }
  static void store(int32_t* p, __m256i v) { store256(p, v); }
  static __m256i set(int32_t v) { return _mm256_set1_epi32(v); }
  static __m256i min(__m256i a, __m256i b) { return _mm256_min_epi32(a, b); }
  static __m256i max(__m256i a, __m256i b) { return _mm256_max_epi32(a, b); }
  static __m256i add(__m256i a, __m256i b) { return _mm256_add_epi32(a, b); }
  static __m256i mul(__m256i a, __m256i b) { return _mm256_mullo_epi32(a, b); }
  // Variable shifts take any count: from 32 on they give the sign, or zero.
  static __m256i shift(__m256i x, __m256i y) {
    const __m256i left = _mm256_sllv_epi32(x, _mm256_sub_epi32(_mm256_setzero_si256(), y));
    return _mm256_blendv_epi8(_mm256_srav_epi32(x, y), left, _mm256_srai_epi32(y, 31));
  }
  static __m256i extend(__m256i x, int up) {
    const __m128i count = _mm_cvtsi32_si128(up);
    return _mm256_sra_epi32(_mm256_sll_epi32(x, count), count);
  }
  static __m256i select_greater(__m256i a, __m256i b, __m256i if_greater, __m256i otherwise) {
    return _mm256_blendv_epi8(otherwise, if_greater, _mm256_cmpgt_epi64(a, b));
  }
  static __m256i requantize_half(__m128i sum, __m128i multiplier, __m128i shift, int32_t imm, __m256i low,
                                 __m256i high) {
    const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
    __m256i product = _mm256_mul_epi32(_mm256_cvtepi32_epi64(sum), _mm256_cvtepi32_epi64(multiplier));
    const __m256i shifts = _mm256_cvtepi32_epi64(shift), twice = _mm256_set1_epi64x(kRoundTwice);
    __m256i amount = _mm256_and_si256(shifts, _mm256_set1_epi64x(63));
    const __m256i again = _mm256_cmpeq_epi64(_mm256_and_si256(shifts, twice), twice);
    if (!_mm256_testz_si256(again,
                            again)) {  // one less where negative: the halves that follow go away from zero
      const __m256i raised =
          _mm256_xor_si256(_mm256_add_epi64(product, _mm256_set1_epi64x(int64_t{1} << 30)), sign);
      const __m256i first = _mm256_sub_epi64(_mm256_srli_epi64(raised, 31), _mm256_srli_epi64(sign, 31));
      const __m256i lowered = _mm256_add_epi64(first, _mm256_cmpgt_epi64(_mm256_setzero_si256(), first));
      product = _mm256_blendv_epi8(product, lowered, again);
      amount = _mm256_sub_epi64(amount, _mm256_and_si256(again, _mm256_set1_epi64x(31)));
    }
    // 2^amount / 2, and zero for amount 0.
    const __m256i half = _mm256_srli_epi64(_mm256_sllv_epi64(_mm256_set1_epi64x(1), amount), 1);
    // There is no 64-bit arithmetic shift: shift value + 2^63 logically, then take 2^63 >> amount off again.
    const __m256i raised = _mm256_xor_si256(_mm256_add_epi64(product, half), sign);
    const __m256i rounded =
        _mm256_sub_epi64(_mm256_srlv_epi64(raised, amount), _mm256_srlv_epi64(sign, amount));
    const __m256i moved = _mm256_add_epi64(rounded, _mm256_set1_epi64x(imm));
    const __m256i raised_low = select_greater(low, moved, low, moved);
    return select_greater(raised_low, high, high, raised_low);
  }
  static __m256i requantize(__m256i sum, __m256i multiplier, __m256i shift, int32_t imm, __m256i low,
                            __m256i high) {
    const __m256i low64 = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(low));
    const __m256i high64 = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(high));
    const __m256i first = requantize_half(_mm256_castsi256_si128(sum), _mm256_castsi256_si128(multiplier),
                                          _mm256_castsi256_si128(shift), imm, low64, high64);
    const __m256i second =
        requantize_half(_mm256_extracti128_si256(sum, 1), _mm256_extracti128_si256(multiplier, 1),
                        _mm256_extracti128_si256(shift, 1), imm, low64, high64);
    // The low words of four 64-bit lanes.
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    return _mm256_blend_epi32(_mm256_permutevar8x32_epi32(first, even),
                              _mm256_permutevar8x32_epi32(second, even), 0xF0);
  }
};

// Signed bytes to 16-bit lanes.
void widen(const int8_t* lanes, size_t count, int16_t* target) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(lanes + i));
    store256(target + i, _mm256_cvtepi8_epi16(bytes));
  }
  for (; i < count; ++i) target[i] = lanes[i];
}

void load_inputs(Scratchpads& pads, uint32_t index, const std::byte* source, size_t count) {
  int16_t* target = reinterpret_cast<int16_t*>(pads.input.data() + index * pads.input_element);
  if (pads.input_bits == 8 && pads.input_row == pads.block_in) {
    return widen(reinterpret_cast<const int8_t*>(source), count * pads.input_element / 2, target);
  }
  const size_t lanes = size_t(pads.batch) * pads.block_in, packed = lanes * size_t(pads.input_bits) / 8;
  std::vector<int8_t> unpacked(lanes);
  for (size_t e = 0; e < count; ++e, source += packed) {
    unpack_lanes(source, pads.input_bits, pads.input_reading, lanes, unpacked.data());
    for (int row = 0; row < pads.batch; ++row, target += pads.input_row) {
      widen(unpacked.data() + size_t(row) * pads.block_in, size_t(pads.block_in), target);
    }
  }
}

void fill_inputs(Scratchpads& pads, uint32_t index, size_t count, int8_t value) {
  int16_t* target = reinterpret_cast<int16_t*>(pads.input.data() + index * pads.input_element);
  std::fill_n(target, count * pads.input_element / 2, int16_t(value));
}

// 8 outputs x 16 inputs: an 8 x 8 matrix of 32-bit pairs, transposed.
void pack_tile(const int8_t* lanes, size_t row, std::byte* target, size_t slice) {
  __m256i r[8], t[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    r[i] = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(lanes + size_t(i) * row)));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_epi32(r[i], r[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm256_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm256_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm256_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    store256(target + size_t(i) * slice, _mm256_permute2x128_si256(r[i], r[i + 4], 0x20));
    store256(target + size_t(i + 4) * slice, _mm256_permute2x128_si256(r[i], r[i + 4], 0x31));
  }
}

void pack_weight(Scratchpads& pads, uint32_t index, const int8_t* lanes) {
  std::byte* const target = pads.weight.data() + index * pads.weight_element;
  const size_t slice = size_t(pads.accumulator_row) * 4, row = size_t(pads.block_in);
  if (pads.block_in % 16 == 0 && pads.block_out % 8 == 0) {
    for (int o = 0; o < pads.block_out; o += 8) {
      for (int k = 0; k < pads.block_in; k += 16) {
        pack_tile(lanes + size_t(o) * row + k, row, target + size_t(k / 2) * slice + size_t(o) * 4, slice);
      }
    }
    return;
  }
  for (int o = 0; o < pads.block_out; ++o) {
    for (int k = 0; k < pads.block_in; ++k) {
      const int16_t value = lanes[size_t(o) * row + k];
      std::memcpy(target + size_t(k / 2) * slice + size_t(o) * 4 + size_t(k % 2) * 2, &value, 2);
    }
  }
}

// The low bytes of eight words.
void store_bytes(const int32_t* lanes, std::byte* target) {
  const __m256i pick = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,  //
                                        0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i bytes = _mm256_shuffle_epi8(load256(lanes), pick);
  const __m128i joined =
      _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(target), joined);
}

void store_outputs(const Scratchpads& pads, uint32_t index, std::byte* target, size_t count) {
  const int32_t* lanes = pads.accumulator.data() + index * pads.accumulator_lanes;
  if (pads.accumulator_row == pads.block_out) {
    const size_t all = count * pads.accumulator_lanes;
    if (pads.output_bits != 8) return pack_lanes(lanes, pads.output_bits, all, target);
    for (size_t i = 0; i < all; i += 8) store_bytes(lanes + i, target + i);
    return;
  }
  pack_padded_lanes(pads, lanes, count, target);
}

const KernelSet kAvx2Kernels{{2, 16, 2, 2},       load_inputs,    fill_inputs,
                             pack_weight,         store_outputs,  run_gemm<Pairs>,
                             run_gemm_one<Pairs>, run_gemm_reset, run_alu<Vector256>};

}  // namespace

}  // namespace tilewright::overlay

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace tilewright::overlay {

const KernelSet* avx2_kernels() { return __builtin_cpu_supports("avx2") ? &kAvx2Kernels : nullptr; }

}  // namespace tilewright::overlay
#else
namespace tilewright::overlay {
const KernelSet* avx2_kernels() { return nullptr; }
}  // namespace tilewright::overlay
#endif
