// Compiles the plan (fast_evaluator_plan.h), turns mappings into flat ones and evaluates single mappings.
#include "tilewright/spatial/cost/fast_evaluator.h"

#include <algorithm>

#include "tilewright/spatial/cost/fast_evaluator_plan.h"

namespace tilewright {
namespace {

FastFunctions functions_of(FastKernelSet kernel, int levels, int spatial_level) {
  return kernel == FastKernelSet::kAvx512 ? avx512_functions(levels, spatial_level)
         : kernel == FastKernelSet::kAvx2 ? avx2_functions(levels, spatial_level)
                                          : portable_functions(levels, spatial_level);
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
  return plan_->functions.single(*plan_, mapping);
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
                                    FastKernelSet kernel) const noexcept {
  FastFunctions functions = plan_->functions;
  if (kernel != FastKernelSet::kFastest)
    functions = functions_of(kernel, plan_->levels, plan_->spatial_level);
  if (functions.blocks == nullptr) functions = portable_functions(plan_->levels, plan_->spatial_level);
  functions.blocks(*plan_, blocks, costs);
}

FastCost FastEvaluator::evaluate_by(FastKernelSet kernel, const FlatMapping& mapping) const noexcept {
  FastFunctions functions = functions_of(kernel, plan_->levels, plan_->spatial_level);
  if (functions.single == nullptr) functions = portable_functions(plan_->levels, plan_->spatial_level);
  return functions.single(*plan_, mapping);
}

bool has_fast_kernels(FastKernelSet kernel) { return functions_of(kernel, 2, 0).blocks != nullptr; }

}  // namespace tilewright
