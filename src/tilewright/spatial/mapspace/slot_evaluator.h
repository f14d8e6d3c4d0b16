// Validity and cost of mappings by slots, for the searches: the same numbers as check_array_mapping and
// evaluate_mapping.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/spatial/cost/cost.h"
#include "tilewright/spatial/cost/fast_evaluator.h"
#include "tilewright/spatial/mapspace/mapspace_choices.h"

namespace tilewright {

struct SlotCost {
  double energy = 0;
  int64_t cycles = 0;
};

class SlotEvaluator {
 public:
  // Both must outlive this object.
  SlotEvaluator(const Mapspace& mapspace, const MapspaceChoices& choices, const CostRules& rules);

  // Whether tiles that cover `cover` iterations fit into the levels 1..level that keep them.
  bool fits(std::span<const uint32_t> keeps, int level, std::span<const int64_t> cover) const;
  // Whether the factors fit the fan-outs and all tiles fit. Assumes factors out of MapspaceChoices.
  bool valid(const SlotMapping& mapping) const;
  // Of a valid mapping.
  SlotCost cost(const SlotMapping& mapping) const;
  AccessCounts counts(const SlotMapping& mapping) const;
  // Whether cost() takes a fraction of a microsecond instead of a closed form's fifty: perfect factors where
  // FastEvaluator applies.
  bool fast() const { return fast_.has_value(); }

 private:
  FlatMapping flatten(const SlotMapping& mapping) const;

  struct Limits {
    int64_t shared = kUnlimitedWords;
    std::vector<int64_t> reserved;  // by data space
    int64_t copies = 1;
  };

  const Mapspace& mapspace_;
  const MapspaceChoices& choices_;
  CostRules rules_;
  std::vector<CountingNetwork> networks_;
  std::vector<Limits> limits_;
  std::optional<FastEvaluator> fast_;
};

}  // namespace tilewright
