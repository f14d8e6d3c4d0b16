// Facts of a network that estimates need repeatedly and that take a walk over all weights.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

struct LayerFacts {
  int accumulator_bits = 32, biased_sum_bits = 32;
  int multiplier_bits = 32;
  bool rounds_twice = false;   // where a shift is 32 or more
  bool lowest_weight = false;  // has_lowest_weight
};

// By layer. A layer without stored weights (shapes alone) gets the widest sums that its shape allows.
std::vector<LayerFacts> network_facts(const Network& network);

}  // namespace tilewright::pipeline
