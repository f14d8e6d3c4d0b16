// Samples sorted by the group in which their costs compare.
#pragma once

#include <span>
#include <vector>

#include "tilewright/search/models/cost_model.h"

namespace tilewright {

// The indices of each group's samples, groups in ascending order. Groups in which all costs are equal teach
// nothing and are left out.
using SampleGroups = std::vector<std::vector<size_t>>;

// Errors (invalid input): a cost that is not positive, rows or nodes of different lengths, no features.
SampleGroups group_samples(std::span<const CostSample> samples);

}  // namespace tilewright
