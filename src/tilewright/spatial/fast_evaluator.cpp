// Compiles the plan (fast_evaluator_plan.h), turns mappings into flat ones and evaluates single mappings.
#include "tilewright/spatial/fast_evaluator.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "tilewright/spatial/fast_evaluator_plan.h"
// The kernel needs the headers above.
#include "tilewright/spatial/fast_evaluator_kernel.h"

namespace tilewright {
namespace {

struct OneInput {
  using Count = int64_t;
  using Energy = double;
  using Mask = bool;
  using Bits = int64_t;
  static constexpr bool kOne = true;

  const FlatMapping& m;

  static int64_t count(const FastWhole& n) { return n.whole; }
  static double real(double v) { return v; }
  static double real(int64_t v) { return double(v); }
  // Exact: both are below 2^53, and mappings that get here divide.
  static int64_t quotient(const FastWhole& a, int64_t b) { return int64_t(a.real / double(b)); }
  static int64_t bits(uint32_t b) { return b; }
  static bool none() { return false; }
  static bool without(bool a, bool b) { return a && !b; }
  static bool all() { return true; }

  int64_t temporal(int l, int d) const { return m.temporal[size_t(l)][size_t(d)]; }
  int64_t spatial_x(int d) const { return m.spatial_x[size_t(d)]; }
  int64_t spatial_y(int d) const { return m.spatial_y[size_t(d)]; }
  int loop_count(int l) const { return m.loops[size_t(l)]; }
  int64_t loop_factor(int l, int i) const { return m.temporal[size_t(l)][m.order[size_t(l)][size_t(i)]]; }
  int64_t loop_bit(int l, int i) const { return int64_t{1} << m.order[size_t(l)][size_t(i)]; }
  bool keeps(int l, int s) const { return (m.keeps[size_t(l)] >> s & 1u) != 0; }
  bool keeps_within(int l, uint32_t must, uint32_t may) const {
    return (m.keeps[size_t(l)] & must) == must && (m.keeps[size_t(l)] & 7u & ~may) == 0;
  }

  static size_t cell(const FastPlan& plan, const FastSliding& rank, size_t dx, const int64_t* copies,
                     size_t dy) {
    return fast_cell(rank, dx, plan.divisor[size_t(rank.x)][size_t(copies[rank.x])], dy,
                     plan.divisor[size_t(rank.y)][size_t(copies[rank.y])]);
  }
  static int64_t different(const FastPlan& plan, const FastSliding& rank, int64_t x, int64_t copies_x,
                           int64_t y, int64_t copies_y) {
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
  return {true, energy, kernel.cycles()};
}

}  // namespace

FastEvaluator::FastEvaluator(std::unique_ptr<FastPlan> plan) : plan_(std::move(plan)) {}
FastEvaluator::FastEvaluator(FastEvaluator&&) noexcept = default;
FastEvaluator& FastEvaluator::operator=(FastEvaluator&&) noexcept = default;
FastEvaluator::~FastEvaluator() = default;

std::optional<FastEvaluator> FastEvaluator::make(const Workload& workload, const ArrayHardware& hardware,
                                                 const CostRules& rules) {
  std::unique_ptr<FastPlan> plan = compile_fast_plan(workload, hardware, rules);
  if (plan == nullptr) return {};
  return FastEvaluator(std::move(plan));
}

int FastEvaluator::spatial_level() const { return plan_->spatial_level; }
bool FastEvaluator::has_blocks() const { return plan_->blocks; }

std::optional<FlatMapping> FastEvaluator::flatten(const Mapping& mapping) const {
  if (mapping.level_count() != plan_->levels) return {};
  FlatMapping flat{};
  for (auto& level : flat.temporal) level.fill(1);
  flat.spatial_x.fill(1);
  flat.spatial_y.fill(1);
  const auto fits = [&](int dimension, int64_t factor) {
    return 0 <= dimension && dimension < plan_->dimensions && 1 <= factor && factor <= 65535 &&
           (factor == 1 || plan_->size[size_t(dimension)].whole > 1);
  };
  for (size_t l = 0; l < mapping.levels.size(); ++l) {
    const MappingLevel& level = mapping.levels[l];
    flat.keeps[l] = uint8_t(level.keeps & 7u);
    for (auto loop = level.temporal.rbegin(); loop != level.temporal.rend(); ++loop) {
      if (!fits(loop->dimension, loop->factor)) return {};
      uint16_t& factor = flat.temporal[l][size_t(loop->dimension)];
      if (loop->factor == 1) continue;
      if (factor > 1) return {};
      factor = uint16_t(loop->factor);
      flat.order[l][flat.loops[l]++] = uint8_t(loop->dimension);
    }
    for (const SpatialLoop& loop : level.spatial) {
      if (!fits(loop.dimension, loop.factor)) return {};
      if (loop.factor == 1) continue;
      const bool x = loop.axis == SpatialAxis::kX;
      uint16_t& factor = (x ? flat.spatial_x : flat.spatial_y)[size_t(loop.dimension)];
      if (int(l) != plan_->spatial_level || factor > 1) return {};
      factor = uint16_t(loop.factor);
    }
  }
  return flat;
}

FastCost FastEvaluator::evaluate(const FlatMapping& mapping) const noexcept {
  switch (plan_->levels) {
    case 2:
      return evaluate_one<2, -1>(*plan_, mapping);
    case 3:
      // The machine of most searches: memory, buffer with the array below it, register files.
      if (plan_->spatial_level == 1) return evaluate_one<3, 1>(*plan_, mapping);
      return evaluate_one<3, -1>(*plan_, mapping);
    case 4:
      return evaluate_one<4, -1>(*plan_, mapping);
    default:
      return evaluate_one<5, -1>(*plan_, mapping);
  }
}

void FastEvaluator::fill_block(std::span<const FlatMapping> mappings, FlatBlock& block) {
  block.loops.fill(0);
  for (size_t i = 0; i < kBlockMappings; ++i) {
    const FlatMapping& m = mappings[std::min(i, mappings.size() - 1)];
    for (size_t l = 0; l < kFlatLevels; ++l) {
      block.keeps[l][i] = m.keeps[l];
      block.loops[l] = std::max(block.loops[l], m.loops[l]);
      for (size_t d = 0; d < kFlatDimensions; ++d) {
        block.temporal[l][d][i] = m.temporal[l][d];
        const bool loop = d < m.loops[l];
        block.loop_factor[l][d][i] = loop ? m.temporal[l][m.order[l][d]] : uint16_t(1);
        block.loop_bit[l][d][i] = loop ? uint16_t(1u << m.order[l][d]) : uint16_t(0);
      }
    }
    for (size_t d = 0; d < kFlatDimensions; ++d) {
      block.spatial_x[d][i] = m.spatial_x[d];
      block.spatial_y[d][i] = m.spatial_y[d];
    }
  }
}

void FastEvaluator::evaluate_blocks(std::span<const FlatBlock> blocks, std::span<FastBlockCost> costs,
                                    BlockKernel kernel) const noexcept {
  BlockFunction function = nullptr;
  if (kernel == BlockKernel::kFastest || kernel == BlockKernel::kAvx512) {
    function = avx512_block_function(plan_->levels, plan_->spatial_level);
  }
  if (kernel == BlockKernel::kAvx2 || (kernel == BlockKernel::kFastest && function == nullptr)) {
    function = avx2_block_function(plan_->levels, plan_->spatial_level);
  }
  if (function == nullptr) function = portable_block_function(plan_->levels, plan_->spatial_level);
  function(*plan_, blocks, costs);
}

bool has_block_kernel(BlockKernel kernel) {
  return (kernel == BlockKernel::kAvx512 ? avx512_block_function(2, 0)
          : kernel == BlockKernel::kAvx2 ? avx2_block_function(2, 0)
                                         : portable_block_function(2, 0)) != nullptr;
}

}  // namespace tilewright
