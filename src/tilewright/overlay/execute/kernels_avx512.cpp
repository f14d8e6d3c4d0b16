// AVX-512 VNNI kernels. vpdpbusd multiplies unsigned by signed bytes, so inputs are kept with 128 added (the
// sign bit flipped) and every micro-op adds the correction -128 * sum(weights of an output), computed once
// per weight load and once per group of micro-ops here. Weights are transposed to [inputs / 4][outputs][4]:
// one register holds the same four inputs of 16 outputs.
#include "tilewright/overlay/execute/kernel_set.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <utility>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"))), \
                             apply_to = function)
#else
// gcc 12 takes the undefined vectors inside its own AVX-512 intrinsics for uninitialised uses.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")
#endif

#include "tilewright/overlay/execute/alu_loops.h"
#include "tilewright/overlay/execute/gemm_loops.h"

namespace tilewright::overlay {
namespace {

struct Vnni {
  using Start = __m512i;
  static constexpr uint32_t kMaxPixels = 14;
  static constexpr size_t kSliceBytesPerOutput = 4;
  static constexpr int kInputsPerSlice = 4;

  static __m512i start(const Scratchpads& pads, const Block& block, size_t wgt, int o) {
    __m512i sum = _mm512_setzero_si512();
    const int32_t* base = pads.correction.data() + wgt * pads.accumulator_row + o;
    for (uint32_t i = 0; i < block.count; ++i) {
      sum =
          _mm512_add_epi32(sum, _mm512_loadu_si512(base + size_t{block.steps[i].wgt} * pads.accumulator_row));
    }
    return sum;
  }

  static __m512i broadcast(const std::byte* p) {
    int32_t word;
    std::memcpy(&word, p, 4);
    return _mm512_set1_epi32(word);
  }

  template <int kPixels, int kSlices>
  static inline __attribute__((always_inline)) void steps(const Block& block, __m512i (&sum)[kPixels]) {
    const int slices = kSlices > 0 ? kSlices : block.slices;
    for (uint32_t i = 0; i < block.count; ++i) {
      const std::byte* const input = block.input + block.steps[i].src * block.input_element;
      const std::byte* const weight = block.weight + block.steps[i].wgt * block.weight_element;
#pragma GCC unroll 4
      for (int k = 0; k < slices; ++k) {
        const __m512i w = _mm512_loadu_si512(weight + size_t(k) * block.weight_slice);
#pragma GCC unroll 16
        for (int p = 0; p < kPixels; ++p) {
          sum[p] = _mm512_dpbusd_epi32(sum[p], broadcast(input + size_t(p) * block.pixel_input + 4 * k), w);
        }
      }
    }
  }

  // One pixel: four chains instead of one, or the latency of the dot product shows.
  static inline __m512i single(const Block& block, __m512i first) {
    __m512i sum[4] = {first, _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
    for (uint32_t i = 0; i < block.count; ++i) {
      const std::byte* const input = block.input + block.steps[i].src * block.input_element;
      const std::byte* const weight = block.weight + block.steps[i].wgt * block.weight_element;
      int k = 0;
      for (; k + 4 <= block.slices; k += 4) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
          const __m512i w = _mm512_loadu_si512(weight + size_t(k + j) * block.weight_slice);
          sum[j] = _mm512_dpbusd_epi32(sum[j], broadcast(input + 4 * (k + j)), w);
        }
      }
      for (; k < block.slices; ++k) {
        const __m512i w = _mm512_loadu_si512(weight + size_t(k) * block.weight_slice);
        sum[0] = _mm512_dpbusd_epi32(sum[0], broadcast(input + 4 * k), w);
      }
    }
    return _mm512_add_epi32(_mm512_add_epi32(sum[0], sum[1]), _mm512_add_epi32(sum[2], sum[3]));
  }

  template <int kPixels>
  static void run(const Block& block, __m512i start) {
    __m512i sum[kPixels];
#pragma GCC unroll 16
    for (int p = 0; p < kPixels; ++p) {
      sum[p] =
          block.overwrite
              ? start
              : _mm512_add_epi32(start, _mm512_loadu_si512(block.accumulator + p * block.pixel_accumulator));
    }
    if constexpr (kPixels == 1) {
      sum[0] = single(block, sum[0]);
    } else if (block.slices == 4) {
      steps<kPixels, 4>(block, sum);
    } else {
      steps<kPixels, 0>(block, sum);
    }
#pragma GCC unroll 16
    for (int p = 0; p < kPixels; ++p) {
      _mm512_storeu_si512(block.accumulator + p * block.pixel_accumulator, sum[p]);
    }
  }
};

// The default overlay's micro-op, without the loops of the general one: small instructions are bound by this.
void gemm_one(Scratchpads& pads, uint32_t dst, uint32_t src, uint32_t wgt, bool overwrite) {
  if (pads.accumulator_lanes != 16 || pads.input_row != 16) {
    return run_gemm_one<Vnni>(pads, dst, src, wgt, overwrite);
  }
  const std::byte* const input = pads.input.data() + size_t{src} * 16;
  const std::byte* const weight = pads.weight.data() + size_t{wgt} * 256;
  int32_t* const accumulator = pads.accumulator.data() + size_t{dst} * 16;
  // The accumulator enters last: a run of micro-ops on one dst then waits for one addition, not for the
  // products.
  __m512i sum = _mm512_loadu_si512(pads.correction.data() + size_t{wgt} * 16), other = _mm512_setzero_si512();
  sum = _mm512_dpbusd_epi32(sum, Vnni::broadcast(input), _mm512_loadu_si512(weight));
  other = _mm512_dpbusd_epi32(other, Vnni::broadcast(input + 4), _mm512_loadu_si512(weight + 64));
  sum = _mm512_dpbusd_epi32(sum, Vnni::broadcast(input + 8), _mm512_loadu_si512(weight + 128));
  other = _mm512_dpbusd_epi32(other, Vnni::broadcast(input + 12), _mm512_loadu_si512(weight + 192));
  sum = _mm512_add_epi32(sum, other);
  if (!overwrite) sum = _mm512_add_epi32(sum, _mm512_loadu_si512(accumulator));
  _mm512_storeu_si512(accumulator, sum);
}

struct Vector512 {
  static constexpr size_t kLanes = 16;
  using Type = __m512i;
  static __m512i load(const int32_t* p) { return _mm512_loadu_si512(p); }
  static void store(int32_t* p, __m512i v) { _mm512_storeu_si512(p, v); }
  static __m512i set(int32_t v) { return _mm512_set1_epi32(v); }
  static __m512i min(__m512i a, __m512i b) { return _mm512_min_epi32(a, b); }
  static __m512i max(__m512i a, __m512i b) { return _mm512_max_epi32(a, b); }
  static __m512i add(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }
  static __m512i mul(__m512i a, __m512i b) { return _mm512_mullo_epi32(a, b); }
  // Variable shifts take any count: from 32 on they give the sign, or zero.
  static __m512i shift(__m512i x, __m512i y) {
    const __m512i left = _mm512_sllv_epi32(x, _mm512_sub_epi32(_mm512_setzero_si512(), y));
    return _mm512_mask_blend_epi32(_mm512_movepi32_mask(y), _mm512_srav_epi32(x, y), left);
  }
  static __m512i extend(__m512i x, int up) {
    const __m128i count = _mm_cvtsi32_si128(up);
    return _mm512_sra_epi32(_mm512_sll_epi32(x, count), count);
  }
  static __m512i requantize_half(__m256i sum, __m256i multiplier, __m256i shift, int32_t imm, __m512i low,
                                 __m512i high) {
    __m512i product = _mm512_mul_epi32(_mm512_cvtepi32_epi64(sum), _mm512_cvtepi32_epi64(multiplier));
    const __m512i shifts = _mm512_cvtepi32_epi64(shift), twice = _mm512_set1_epi64(kRoundTwice);
    __m512i amount = _mm512_and_si512(shifts, _mm512_set1_epi64(63));
    const __mmask8 again = _mm512_cmpeq_epi64_mask(_mm512_and_si512(shifts, twice), twice);
    if (again != 0) {  // one less where it is negative: the halves that follow go away from zero
      const __m512i half_first = _mm512_set1_epi64(int64_t{1} << 30);
      const __m512i first = _mm512_srai_epi64(_mm512_add_epi64(product, half_first), 31);
      product = _mm512_mask_add_epi64(product, again, first, _mm512_srai_epi64(first, 63));
      amount = _mm512_mask_sub_epi64(amount, again, amount, _mm512_set1_epi64(31));
    }
    // 2^amount / 2, and zero for amount 0.
    const __m512i half = _mm512_srli_epi64(_mm512_sllv_epi64(_mm512_set1_epi64(1), amount), 1);
    const __m512i rounded = _mm512_srav_epi64(_mm512_add_epi64(product, half), amount);
    const __m512i moved = _mm512_add_epi64(rounded, _mm512_set1_epi64(imm));
    return _mm512_min_epi64(_mm512_max_epi64(moved, low), high);
  }
  static __m512i requantize(__m512i sum, __m512i multiplier, __m512i shift, int32_t imm, __m512i low,
                            __m512i high) {
    const __m512i low64 = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(low));
    const __m512i high64 = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(high));
    const __m512i first = requantize_half(_mm512_castsi512_si256(sum), _mm512_castsi512_si256(multiplier),
                                          _mm512_castsi512_si256(shift), imm, low64, high64);
    const __m512i second =
        requantize_half(_mm512_extracti64x4_epi64(sum, 1), _mm512_extracti64x4_epi64(multiplier, 1),
                        _mm512_extracti64x4_epi64(shift, 1), imm, low64, high64);
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(first)),
                              _mm512_cvtepi64_epi32(second), 1);
  }
};

void load_inputs(Scratchpads& pads, uint32_t index, const std::byte* source, size_t count) {
  std::byte* target = pads.input.data() + index * pads.input_element;
  if (pads.input_bits == 8 && pads.input_row == pads.block_in) {
    size_t bytes = count * pads.input_element;
    if (bytes == 16) {  // one element of the default overlay
      const __m128i lanes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(target), _mm_xor_si128(lanes, _mm_set1_epi8(-128)));
      return;
    }
    const __m512i flip = _mm512_set1_epi8(-128);
    for (; bytes >= 64; bytes -= 64, source += 64, target += 64) {
      _mm512_storeu_si512(target, _mm512_xor_si512(_mm512_loadu_si512(source), flip));
    }
    const __mmask64 rest = (__mmask64{1} << bytes) - 1;
    _mm512_mask_storeu_epi8(target, rest, _mm512_xor_si512(_mm512_maskz_loadu_epi8(rest, source), flip));
    return;
  }
  const size_t lanes = size_t(pads.batch) * pads.block_in, packed = lanes * size_t(pads.input_bits) / 8;
  std::vector<int8_t> unpacked(lanes);
  for (size_t e = 0; e < count; ++e, source += packed) {
    unpack_lanes(source, pads.input_bits, pads.input_reading, lanes, unpacked.data());
    const int8_t* lane = unpacked.data();
    for (int row = 0; row < pads.batch; ++row, target += pads.input_row) {
      for (int k = 0; k < pads.block_in; ++k) target[k] = std::byte(uint8_t(*lane++) ^ 0x80);
    }
  }
}

void fill_inputs(Scratchpads& pads, uint32_t index, size_t count, int8_t value) {
  std::memset(pads.input.data() + index * pads.input_element, uint8_t(value) ^ 0x80,
              count * pads.input_element);
}

inline __m128i sixteen(const int8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

// Four rows of 16 bytes in one register.
inline __m512i four_rows(const int8_t* p, size_t row) {
  const __m512i one = _mm512_castsi128_si512(sixteen(p));
  const __m512i two = _mm512_inserti32x4(one, sixteen(p + row), 1);
  return _mm512_inserti32x4(_mm512_inserti32x4(two, sixteen(p + 2 * row), 2), sixteen(p + 3 * row), 3);
}

// 16 outputs x 16 inputs, a 16 x 4 matrix of 32-bit words, transposed. Returns the sums of the outputs.
inline __m512i pack_tile(const int8_t* lanes, size_t row, std::byte* target, size_t slice) {
  const __m512i a = four_rows(lanes, row), b = four_rows(lanes + 4 * row, row);
  const __m512i c = four_rows(lanes + 8 * row, row), d = four_rows(lanes + 12 * row, row);
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i sum = _mm512_setzero_si512();
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) {
    // Word k of rows 0..7: positions k, k + 4, ... of a (0..15) and b (16..31).
    const __m512i pick = _mm512_add_epi32(
        _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 28, 24, 20, 16, 12, 8, 4, 0), _mm512_set1_epi32(k));
    const __m512i low = _mm512_permutex2var_epi32(a, pick, b), high = _mm512_permutex2var_epi32(c, pick, d);
    const __m512i w = _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1);
    _mm512_storeu_si512(target + size_t(k) * slice, w);
    sum = _mm512_dpbusd_epi32(sum, ones, w);
  }
  return sum;
}

void pack_weight(Scratchpads& pads, uint32_t index, const int8_t* lanes) {
  std::byte* const target = pads.weight.data() + index * pads.weight_element;
  int32_t* const correction = pads.correction.data() + size_t{index} * pads.accumulator_row;
  const size_t slice = size_t(pads.accumulator_row) * 4, row = size_t(pads.block_in);
  if (pads.block_in % 16 == 0 && pads.block_out % 16 == 0) {
    for (int o = 0; o < pads.block_out; o += 16) {
      __m512i sum = _mm512_setzero_si512();
      for (int k = 0; k < pads.block_in; k += 16) {
        sum = _mm512_add_epi32(sum, pack_tile(lanes + size_t(o) * row + k, row,
                                              target + size_t(k / 4) * slice + size_t(o) * 4, slice));
      }
      const __m512i negated = _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_slli_epi32(sum, 7));
      _mm512_storeu_si512(correction + o, negated);
    }
    return;
  }
  for (int o = 0; o < pads.block_out; ++o) {
    int32_t sum = 0;
    for (int k = 0; k < pads.block_in; ++k) {
      const int8_t value = lanes[size_t(o) * row + k];
      target[size_t(k / 4) * slice + size_t(o) * 4 + k % 4] = std::byte(value);
      sum += value;
    }
    correction[o] = -128 * sum;
  }
}

void store_outputs(const Scratchpads& pads, uint32_t index, std::byte* target, size_t count) {
  const int32_t* lanes = pads.accumulator.data() + index * pads.accumulator_lanes;
  if (pads.accumulator_row == pads.block_out) {
    if (pads.output_bits != 8)
      return pack_lanes(lanes, pads.output_bits, count * pads.accumulator_lanes, target);
    for (size_t i = 0; i < count * pads.accumulator_lanes; i += 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(target + i),
                       _mm512_cvtepi32_epi8(_mm512_loadu_si512(lanes + i)));
    }
    return;
  }
  pack_padded_lanes(pads, lanes, count, target);
}

const KernelSet kVnniKernels{{4, 16, 1, 1},  load_inputs, fill_inputs,    pack_weight,       store_outputs,
                             run_gemm<Vnni>, gemm_one,    run_gemm_reset, run_alu<Vector512>};

}  // namespace
}  // namespace tilewright::overlay

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace tilewright::overlay {

const KernelSet* avx512_vnni_kernels() {
  const bool supported = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                         __builtin_cpu_supports("avx512vnni");
  return supported ? &kVnniKernels : nullptr;
}

}  // namespace tilewright::overlay
#else
namespace tilewright::overlay {
const KernelSet* avx512_vnni_kernels() { return nullptr; }
}  // namespace tilewright::overlay
#endif
