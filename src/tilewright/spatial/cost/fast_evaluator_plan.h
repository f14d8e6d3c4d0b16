// What FastEvaluator compiles a workload, a machine and rules into: plain numbers and tables.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tilewright/spatial/cost/fast_evaluator.h"

namespace tilewright {

inline constexpr int kFastSpaces = 3;
inline constexpr int kFastSliding = 2;

// A whole number in both forms that kernels count in.
struct FastWhole {
  int64_t whole = 1;
  double real = 1;
  FastWhole() = default;
  explicit FastWhole(int64_t n) : whole(n), real(double(n)) {}
};

// A list of dimensions.
struct FastDimensions {
  int count = 0;
  std::array<uint8_t, kFlatDimensions> list{};
  void add(int dimension) { list[size_t(count++)] = uint8_t(dimension); }
  const uint8_t* begin() const { return list.data(); }
  const uint8_t* end() const { return list.data() + count; }
};

// A rank of two terms x, y whose tiles overlap.
struct FastSliding {
  int x = 0, y = 0;                                    // dimensions
  FastWhole x_coefficient, y_coefficient;              // magnitudes
  std::array<double, kFlatDimensions> coefficients{};  // the same by dimension
  FastWhole x_reduced, y_reduced;                      // divided by what they have in common
  // Of the tile (x, y) and of its spatial copies, by divisors; offsets into `values`, or counts.
  std::vector<int32_t> overlap;    // [x][y]: elements shared with the tile shifted by 0, 1, ...; 0 at the end
  std::vector<int32_t> unfetched;  // [x][spatial x][y][spatial y]: union less what any copy lacks, likewise
  std::vector<int32_t> distinct_tiles;  // [x][spatial x][y][spatial y]
  std::vector<int32_t> values;
  int x_divisors = 0, y_divisors = 0, x_spatial = 0, y_spatial = 0;  // extents of the indices
};

inline size_t fast_cell(const FastSliding& rank, size_t x, size_t copies_x, size_t y, size_t copies_y) {
  return ((x * size_t(rank.x_spatial) + copies_x) * size_t(rank.y_divisors) + y) * size_t(rank.y_spatial) +
         copies_y;
}

struct FastSpace {
  uint32_t relevant = 0;                              // a bit per dimension that it depends on
  uint32_t plain = 0;                                 // those in ranks that do not slide
  FastDimensions plain_dimensions, other_dimensions;  // the same as a list; those that it does not depend on
  uint32_t sliding_dimensions = 0;                    // those in ranks that slide
  int slides = 0;
  std::array<FastSliding, kFastSliding> sliding;
  bool is_output = false;
  int role = 0;
  FastWhole elements;  // that operations touch; of outputs
};

struct FastLevel {
  bool unlimited = false;
  FastWhole shared_words;                               // capacity of one copy
  std::array<FastWhole, kFastSpaces> reserved_words{};  // by space; negative: in the shared capacity
  uint32_t may_keep = 7, must_keep = 0;                 // by space
  double read_energy = 0, fill_energy = 0, update_energy = 0, drain_energy = 0, delivery_energy = 0;
};

struct FastPlan;
using BlockFunction = void (*)(const FastPlan&, std::span<const FlatBlock>, std::span<FastBlockCost>);
using SingleFunction = FastCost (*)(const FastPlan&, const FlatMapping&);
struct FastFunctions {
  BlockFunction blocks = nullptr;
  SingleFunction single = nullptr;
};

struct FastPlan {
  bool timeloop = false, multicast = true, reduction = true;
  bool blocks = false;  // whether the block kernels apply
  int levels = 0, dimensions = 0, spatial_level = 0;
  FastDimensions used;  // of more than one iteration
  std::array<FastWhole, kFlatDimensions> size;
  std::array<FastSpace, kFastSpaces> space;
  std::array<FastLevel, kFlatLevels> level;
  FastWhole fanout_x, fanout_y, operations;
  double mac_energy = 0;
  // By dimension, in lanes: sizes; all bits set for the dimensions of FastSpace::plain_dimensions of each
  // space and FastSpace::other_dimensions of the output.
  alignas(64) std::array<double, kFlatDimensions> size_lanes;
  alignas(64) std::array<std::array<int64_t, kFlatDimensions>, kFastSpaces> plain_lanes;
  alignas(64) std::array<int64_t, kFlatDimensions> other_lanes;
  FastFunctions functions;  // the fastest
  // Position of n among the divisors of a dimension: divisor[dimension][n], dimension sizes included.
  std::array<std::vector<uint8_t>, kFlatDimensions> divisor;
};

// Null where the evaluator does not apply.
std::unique_ptr<FastPlan> compile_fast_plan(const Workload& workload, const ArrayHardware& hardware,
                                            const CostRules& rules);

// The kernels by instruction set; null where this CPU lacks it.
FastFunctions avx512_functions(int levels, int spatial_level);
FastFunctions avx2_functions(int levels, int spatial_level);
FastFunctions portable_functions(int levels, int spatial_level);

}  // namespace tilewright
