// The two usual rules for distributing multipliers, for comparison: the proportional rule of the first
// TensorFlow-to-FPGA generators (Hadjis and Olukotun, FPL 2019) and greedy folding of streaming designs
// (FINN's rule: set_folding).
#pragma once

#include <functional>
#include <vector>

#include "tilewright/pipeline/allocate/stage_options.h"

namespace tilewright::pipeline {

// Raises the slowest stage to its next faster option until that no longer fits; returns the option of each
// layer. `start` must fit. `fits` is asked for whole choices.
std::vector<int> greedy_folding(const std::vector<std::vector<StageOption>>& options, std::vector<int> start,
                                const std::function<bool(const std::vector<int>&)>& fits);

// One engine per kernel size; each gets a share of the multipliers in proportion to its products, rounded
// down to a power of two; layers run one after another, without bands. Weights on chip, as if there were
// space. The multipliers are the budget's, or its blocks divided by those that a product takes.
Allocation proportional_rule(const Network& network, const Budget& budget);

}  // namespace tilewright::pipeline
