// The kernel's inputs - one mapping, eight mappings side by side - and its functions for the instructions
// that the including file's target has.
#pragma once

#include "tilewright/spatial/cost/fast_evaluator_kernel.h"

namespace tilewright {
namespace {

struct OneInput {
  using Count = double;
  using Energy = double;
  using Mask = bool;
  using Bits = int64_t;
  static constexpr bool kOne = true;

  const FlatMapping& m;

  static Eight row(const std::array<uint16_t, kFlatDimensions>& from) {
    EightShort narrow;
    std::memcpy(&narrow, from.data(), sizeof narrow);
    return __builtin_convertvector(__builtin_convertvector(narrow, EightInt), Eight);
  }
  // The factors of a level's loops, innermost first and then ones; a byte per loop with the bit of its
  // dimension.
  static Eight loop_row(const FlatMapping& m, int l, uint64_t& bits) {
    const auto& order = m.order[size_t(l)];
    const int count = m.loops[size_t(l)];
#if defined(TILEWRIGHT_SHUFFLE_BYTES)
    // Shuffles: no branch on the number of loops, nothing written and read back in another width.
    const uint64_t there = count == 0 ? 0 : ~uint64_t{0} >> (64 - 8 * count);
    uint64_t dimensions;
    std::memcpy(&dimensions, order.data(), sizeof dimensions);
    const __m128i at = _mm_cvtsi64_si128(int64_t(dimensions & there));
    bits =
        uint64_t(_mm_cvtsi128_si64(_mm_shuffle_epi8(_mm_cvtsi64_si128(int64_t(0x8040201008040201u)), at))) &
        there;
    const __m128i twice = _mm_add_epi8(at, at);
    const __m128i pairs = _mm_add_epi8(_mm_unpacklo_epi8(twice, twice), _mm_set1_epi16(0x0100));
    const __m128i row = _mm_loadu_si128(reinterpret_cast<const __m128i*>(m.temporal[size_t(l)].data()));
    const __m128i kept =
        _mm_unpacklo_epi8(_mm_cvtsi64_si128(int64_t(there)), _mm_cvtsi64_si128(int64_t(there)));
    const __m128i picked = _mm_or_si128(_mm_and_si128(kept, _mm_shuffle_epi8(row, pairs)),
                                        _mm_andnot_si128(kept, _mm_set1_epi16(1)));
    EightShort narrow;
    std::memcpy(&narrow, &picked, sizeof narrow);
    return __builtin_convertvector(__builtin_convertvector(narrow, EightInt), Eight);
#else
    bits = 0;
    std::array<uint16_t, kFlatDimensions> factors{1, 1, 1, 1, 1, 1, 1, 1};
    for (int i = 0; i < count; ++i) {
      const unsigned d = order[size_t(i)];
      factors[size_t(i)] = m.temporal[size_t(l)][d];
      bits |= uint64_t{1} << (8 * i + int(d));
    }
    return row(factors);
#endif
  }
  static double count(const FastWhole& n) { return n.real; }
  static double real(double v) { return v; }
  static double quotient(const FastWhole& a, double b) { return a.real / b; }
  static int64_t bits(uint32_t b) { return b; }
  static bool none() { return false; }
  static bool all() { return true; }
  static bool without(bool a, bool b) { return a && !b; }

  int loop_count(int l) const { return m.loops[size_t(l)]; }
  double loop_factor(int l, int i) const { return m.temporal[size_t(l)][m.order[size_t(l)][size_t(i)]]; }
  int64_t loop_bit(int l, int i) const { return int64_t{1} << m.order[size_t(l)][size_t(i)]; }
  bool keeps(int l, int s) const { return (m.keeps[size_t(l)] >> s & 1u) != 0; }
  bool keeps_within(int l, uint32_t must, uint32_t may) const {
    return (m.keeps[size_t(l)] & must) == must && (m.keeps[size_t(l)] & 7u & ~may) == 0;
  }

  static size_t cell(const FastPlan& plan, const FastSliding& rank, size_t dx, const double* copies,
                     size_t dy) {
    return fast_cell(rank, dx, plan.divisor[size_t(rank.x)][size_t(copies[rank.x])], dy,
                     plan.divisor[size_t(rank.y)][size_t(copies[rank.y])]);
  }
  static double different(const FastPlan& plan, const FastSliding& rank, double x, double copies_x, double y,
                          double copies_y) {
    if (copies_x == 1 || copies_y == 1) return copies_x * copies_y;
    const auto& dx = plan.divisor[size_t(rank.x)];
    const auto& dy = plan.divisor[size_t(rank.y)];
    return rank.distinct_tiles[fast_cell(rank, dx[size_t(x)], dx[size_t(copies_x)], dy[size_t(y)],
                                         dy[size_t(copies_y)])];
  }
};

template <int kLevels, int kSpatial>
FastCost evaluate_one(const FastPlan& plan, const FlatMapping& mapping) {
  const OneInput in{mapping};
  FastKernel<kLevels, kSpatial, OneInput> kernel(plan, in);
  if (!kernel.valid()) return {};
  const double energy = kernel.energy();
  return {true, energy, int64_t(kernel.cycles())};
}

struct BlockInput {
  using Count = Eight;
  using Energy = Eight;
  using Mask = EightMask;
  using Bits = EightMask;
  static constexpr bool kOne = false;

  const FlatBlock& block;

  static EightInt wide(const FlatBlock::Lanes<uint16_t>& lanes) {
    EightShort narrow;
    std::memcpy(&narrow, lanes.data(), sizeof narrow);
    return __builtin_convertvector(narrow, EightInt);
  }
  static Eight numbers(const FlatBlock::Lanes<uint16_t>& lanes) {
    return __builtin_convertvector(wide(lanes), Eight);
  }
  static EightMask whole(const FlatBlock::Lanes<uint16_t>& lanes) {
    return __builtin_convertvector(wide(lanes), EightMask);
  }

  static Eight count(const FastWhole& n) { return Eight{} + n.real; }
  static Eight real(double v) { return Eight{} + v; }
  static Eight real(Eight v) { return v; }
  static Eight quotient(const FastWhole& a, Eight b) { return a.real / b; }
  static EightMask bits(uint32_t b) { return EightMask{} + int64_t(b); }
  static EightMask none() { return EightMask{}; }
  static EightMask all() { return ~EightMask{}; }
  static EightMask without(EightMask a, EightMask b) { return a & ~b; }

  Eight temporal(int l, int d) const { return numbers(block.temporal[size_t(l)][size_t(d)]); }
  Eight spatial_x(int d) const { return numbers(block.spatial_x[size_t(d)]); }
  Eight spatial_y(int d) const { return numbers(block.spatial_y[size_t(d)]); }
  int loop_count(int l) const { return block.loops[size_t(l)]; }
  Eight loop_factor(int l, int i) const { return numbers(block.loop_factor[size_t(l)][size_t(i)]); }
  EightMask loop_bit(int l, int i) const { return whole(block.loop_bit[size_t(l)][size_t(i)]); }
  EightMask keeps(int l, int s) const { return (whole(block.keeps[size_t(l)]) & bits(1u << s)) != 0; }
  EightMask keeps_within(int l, uint32_t must, uint32_t may) const {
    const EightMask keeps = whole(block.keeps[size_t(l)]);
    return ((keeps & bits(must)) == bits(must)) & ((keeps & bits(7u & ~may)) == 0);
  }

  static Eight different(const FastPlan& plan, const FastSliding& rank, Eight x, Eight copies_x, Eight y,
                         Eight copies_y) {
    Eight tiles = copies_x * copies_y;
    const EightMask both = (copies_x > 1.0) & (copies_y > 1.0);
    int64_t any = 0;
    for (int i = 0; i < kBlockMappings; ++i) any |= both[i];
    if (any == 0) return tiles;
    for (int i = 0; i < kBlockMappings; ++i) {
      // Lanes of invalid mappings may hold anything.
      if (both[i] == 0 || x[i] * copies_x[i] > plan.size[size_t(rank.x)].real ||
          y[i] * copies_y[i] > plan.size[size_t(rank.y)].real) {
        continue;
      }
      const auto& dx = plan.divisor[size_t(rank.x)];
      const auto& dy = plan.divisor[size_t(rank.y)];
      const size_t cell = fast_cell(rank, dx[size_t(x[i])], dx[size_t(copies_x[i])], dy[size_t(y[i])],
                                    dy[size_t(copies_y[i])]);
      tiles[i] = rank.distinct_tiles[cell];
    }
    return tiles;
  }
};

template <int kLevels, int kSpatial>
void evaluate_blocks_of(const FastPlan& plan, std::span<const FlatBlock> blocks,
                        std::span<FastBlockCost> costs) {
  for (size_t b = 0; b < blocks.size(); ++b) {
    const BlockInput in{blocks[b]};
    FastKernel<kLevels, kSpatial, BlockInput> kernel(plan, in);
    const EightMask valid = kernel.valid();
    const Eight energy = kernel.energy(), cycles = kernel.cycles();
    FastBlockCost& cost = costs[b];
    std::memcpy(cost.energy.data(), &energy, sizeof energy);
    std::memcpy(cost.cycles.data(), &cycles, sizeof cycles);
    cost.valid = 0;
    for (int i = 0; i < kBlockMappings; ++i) cost.valid |= uint8_t((valid[i] & 1) << i);
  }
}

// The fan-out is most often at the level above the innermost one: a kernel of its own, if kUsual.
template <int kLevels, bool kUsual>
FastFunctions functions_of(int spatial_level) {
  if constexpr (kUsual) {
    if (spatial_level == kLevels - 2) {
      return {evaluate_blocks_of<kLevels, kLevels - 2>, evaluate_one<kLevels, kLevels - 2>};
    }
  }
  return {evaluate_blocks_of<kLevels, -1>, evaluate_one<kLevels, -1>};
}

template <bool kUsual>
FastFunctions fast_functions(int levels, int spatial_level) {
  switch (levels) {
    case 2:
      return functions_of<2, kUsual>(spatial_level);
    case 3:
      return functions_of<3, kUsual>(spatial_level);
    case 4:
      return functions_of<4, kUsual>(spatial_level);
    default:
      return functions_of<5, kUsual>(spatial_level);
  }
}

}  // namespace
}  // namespace tilewright
