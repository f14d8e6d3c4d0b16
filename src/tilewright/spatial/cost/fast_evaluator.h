// The evaluator for search loops: compiled once for a workload, a machine and rules, then tens of millions of
// mappings per second. It says whether a flat mapping is valid (check_array_mapping) and what it costs
// (evaluate_mapping), exact to the last bit, without allocating. For perfect factors only; make() says where
// it applies.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tilewright/spatial/cost/cost.h"

namespace tilewright {

inline constexpr int kFlatLevels = 5;
inline constexpr int kFlatDimensions = 8;

// A mapping as plain numbers. Only one level, FastEvaluator::spatial_level(), has spatial loops (y outside
// x; one per dimension and axis).
struct FlatMapping {
  // By level and dimension; 1 where there is no loop. Dimensions of one iteration are ignored.
  std::array<std::array<uint16_t, kFlatDimensions>, kFlatLevels> temporal;
  std::array<uint16_t, kFlatDimensions> spatial_x, spatial_y;
  // The dimensions of each level's temporal loops of more than one iteration, innermost first.
  std::array<std::array<uint8_t, kFlatDimensions>, kFlatLevels> order;
  std::array<uint8_t, kFlatLevels> loops;  // how many there are
  std::array<uint8_t, kFlatLevels> keeps;  // a bit per data space
  bool operator==(const FlatMapping&) const = default;
};

struct FastCost {
  bool valid = false;  // the numbers below hold only if it is
  double energy = 0;
  int64_t cycles = 0;
};

// Eight mappings side by side, each array's last index being the mapping.
inline constexpr int kBlockMappings = 8;
struct alignas(64) FlatBlock {
  template <typename T>
  using Lanes = std::array<T, kBlockMappings>;
  std::array<std::array<Lanes<uint16_t>, kFlatDimensions>, kFlatLevels> temporal;
  std::array<Lanes<uint16_t>, kFlatDimensions> spatial_x, spatial_y;
  // The temporal loops of each level, innermost first: factor, and dimension as a bit (0: no loop).
  std::array<std::array<Lanes<uint16_t>, kFlatDimensions>, kFlatLevels> loop_factor, loop_bit;
  std::array<Lanes<uint16_t>, kFlatLevels> keeps;
  std::array<uint8_t, kFlatLevels> loops;  // of the mapping that has most
};
struct FastBlockCost {
  std::array<double, kBlockMappings> energy;
  std::array<double, kBlockMappings> cycles;
  uint8_t valid = 0;  // a bit per mapping
};

struct FastPlan;

enum class FastKernelSet : uint8_t { kFastest, kAvx512, kAvx2, kPortable };

class FastEvaluator {
 public:
  // Nothing if the evaluator does not apply: it needs up to 5 levels, one of them with a fan-out (with
  // exact accounting one of the two innermost), no limits of bandwidth and no energy per hop; up to 8
  // dimensions of at most 65535 iterations, three data spaces, an output whose ranks do not slide, operands
  // with up to two ranks that do (of two terms, coefficients of one sign), and counts below 2^53.
  static std::optional<FastEvaluator> make(const Workload& workload, const ArrayHardware& hardware,
                                           const CostRules& rules);
  FastEvaluator(FastEvaluator&&) noexcept;
  FastEvaluator& operator=(FastEvaluator&&) noexcept;
  ~FastEvaluator();

  int spatial_level() const;
  // The flat form; nothing if the mapping has none (two loops of one dimension in one level, spatial loops
  // elsewhere, or
  // loops of a dimension of one iteration).
  std::optional<FlatMapping> flatten(const Mapping& mapping) const;
  FastCost evaluate(const FlatMapping& mapping) const noexcept;

  // With given kernels; those that this CPU lacks are replaced by the portable ones.
  FastCost evaluate_by(FastKernelSet kernel, const FlatMapping& mapping) const noexcept;

  // Eight at a time in vector registers; where has_blocks: with Timeloop's accounting, or
  // where nothing slides.
  bool has_blocks() const;
  // `mappings`: one to eight; a short block repeats the last.
  static void fill_block(std::span<const FlatMapping> mappings, FlatBlock& block);
  void evaluate_blocks(std::span<const FlatBlock> blocks, std::span<FastBlockCost> costs,
                       FastKernelSet kernel = FastKernelSet::kFastest) const noexcept;

 private:
  explicit FastEvaluator(std::unique_ptr<FastPlan> plan);
  std::unique_ptr<FastPlan> plan_;
};

// Whether this CPU has the kernels.
bool has_fast_kernels(FastKernelSet kernel);

}  // namespace tilewright
