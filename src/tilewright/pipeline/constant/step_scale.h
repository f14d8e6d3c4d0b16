// What turns a sum into a stored element, as a product with few digits: floor((sum * factor + offset) /
// 2^shift), clipped to [low, high], is the same number for every sum of a range. Where a scale rounds twice,
// the steps of both signs are not in one line: elements up to `turn` come of an offset that is less by `dip`.
#pragma once

#include <cstdint>
#include <functional>

#include "tilewright/pipeline/constant/adder_graph.h"

namespace tilewright::pipeline {

struct StepScale {
  int64_t factor = 1, offset = 0;
  int shift = 0;
  int64_t low = 0, high = 0;  // of the element; equal: a constant
  int64_t turn = 0, dip = 0;  // dip 0: one line for all

  // Of a sum of the range.
  int64_t element_of(int64_t sum) const;
};

// Of an element that never falls with its sum and rises by about `slope` per sum in between; `turn`: the
// largest element of the lower line, where one line is not enough. The cheapest of the factors with up to 31
// bits. Errors (unsupported): none of them has every step in its place.
StepScale fit_steps(const std::function<int64_t(int64_t)>& element, const NumberRange& sums, double slope,
                    int64_t turn);

}  // namespace tilewright::pipeline
