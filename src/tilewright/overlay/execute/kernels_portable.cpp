// Kernels in plain C++: what runs where the CPU has no vector unit we know, and what the vector kernels are
// compared with.
#include <algorithm>

#include "tilewright/overlay/execute/alu_loops.h"
#include "tilewright/overlay/execute/gemm_loops.h"
#include "tilewright/overlay/execute/kernel_set.h"

namespace tilewright::overlay {
namespace {

struct ScalarVector {
  static constexpr size_t kLanes = 1;
  using Type = int32_t;
  static int32_t load(const int32_t* p) { return *p; }
  static void store(int32_t* p, int32_t v) { *p = v; }
  static int32_t set(int32_t v) { return v; }
  static int32_t min(int32_t a, int32_t b) { return std::min(a, b); }
  static int32_t max(int32_t a, int32_t b) { return std::max(a, b); }
  static int32_t add(int32_t a, int32_t b) { return int32_t(uint32_t(a) + uint32_t(b)); }
  static int32_t mul(int32_t a, int32_t b) { return int32_t(uint32_t(a) * uint32_t(b)); }
  static int32_t shift(int32_t x, int32_t y) {
    if (y >= 0) return x >> std::min(y, 31);
    return y <= -32 ? 0 : int32_t(uint32_t(x) << -y);
  }
  static int32_t extend(int32_t x, int up) { return int32_t(uint32_t(x) << up) >> up; }
  static int32_t requantize(int32_t sum, int32_t multiplier, int32_t shift, int32_t imm, int32_t low,
                            int32_t high) {
    int amount = shift & 63;
    int64_t value = int64_t{sum} * multiplier;
    if ((shift & kRoundTwice) == kRoundTwice) {
      value = (value + (int64_t{1} << 30)) >> 31;
      value -= value < 0;
      amount -= 31;
    }
    const uint64_t half = amount == 0 ? 0 : uint64_t{1} << (amount - 1);
    const int64_t rounded = int64_t(uint64_t(value) + half) >> amount;
    return int32_t(std::min(std::max(rounded + imm, int64_t{low}), int64_t{high}));
  }
};

void load_inputs(Scratchpads& pads, uint32_t index, const std::byte* source, size_t count) {
  unpack_lanes(source, pads.input_bits, pads.input_reading, count * pads.input_element,
               reinterpret_cast<int8_t*>(pads.input.data()) + index * pads.input_element);
}

void fill_inputs(Scratchpads& pads, uint32_t index, size_t count, int8_t value) {
  std::memset(pads.input.data() + index * pads.input_element, value, count * pads.input_element);
}

void pack_weight(Scratchpads& pads, uint32_t index, const int8_t* lanes) {
  std::memcpy(pads.weight.data() + index * pads.weight_element, lanes, pads.weight_element);
}

void store_outputs(const Scratchpads& pads, uint32_t index, std::byte* target, size_t count) {
  pack_lanes(pads.accumulator.data() + index * pads.accumulator_lanes, pads.output_bits,
             count * pads.accumulator_lanes, target);
}

// Chunks of constant length, because only those are vectorised at -O2.
inline int32_t dot_product(const int8_t* a, const int8_t* b, int count) {
  constexpr int kChunk = 16;
  int32_t sum = 0;
  int k = 0;
  for (; k + kChunk <= count; k += kChunk) {
    int32_t part = 0;
    for (int j = 0; j < kChunk; ++j) part += int32_t{a[k + j]} * b[k + j];
    sum += part;
  }
  for (; k < count; ++k) sum += int32_t{a[k]} * b[k];
  return sum;
}

void gemm_one(Scratchpads& pads, uint32_t dst, uint32_t src, uint32_t wgt, bool overwrite) {
  const int8_t* input = reinterpret_cast<const int8_t*>(pads.input.data()) + src * pads.input_element;
  const int8_t* const weights =
      reinterpret_cast<const int8_t*>(pads.weight.data()) + wgt * pads.weight_element;
  int32_t* accumulator = pads.accumulator.data() + dst * pads.accumulator_lanes;
  for (int row = 0; row < pads.batch; ++row, input += pads.block_in) {
    const int8_t* weight = weights;
    for (int o = 0; o < pads.block_out; ++o, weight += pads.block_in, ++accumulator) {
      *accumulator =
          ScalarVector::add(overwrite ? 0 : *accumulator, dot_product(input, weight, pads.block_in));
    }
  }
}

void gemm(Scratchpads& pads, const UopPlan& plan, const LoopNest& loop) {
  for (uint32_t y = 0; y < loop.iter_out; ++y) {
    for (uint32_t x = 0; x < loop.iter_in; ++x) {
      const uint32_t dst = y * loop.dst_factor_out + x * loop.dst_factor_in;
      const uint32_t src = y * loop.src_factor_out + x * loop.src_factor_in;
      const uint32_t wgt = y * loop.wgt_factor_out + x * loop.wgt_factor_in;
      for (const GemmGroup& group : plan.groups) {
        for (uint32_t i = 0; i < group.count; ++i) {
          const GemmStep& step = plan.steps[group.first + i];
          gemm_one(pads, group.dst + dst, step.src + src, step.wgt + wgt, group.overwrite && i == 0);
        }
      }
    }
  }
}

}  // namespace

const KernelSet kPortableKernels{{1, 1, 1, 1}, load_inputs,    fill_inputs,
                                 pack_weight,  store_outputs,  gemm,
                                 gemm_one,     run_gemm_reset, run_alu<ScalarVector>};

}  // namespace tilewright::overlay
