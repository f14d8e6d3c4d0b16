// Where the elements of a layer step up as its sums grow.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tilewright::pipeline {

struct ElementStep {
  int64_t element = 0, first_sum = 0;  // the least sum whose element is at least this one
};

// One for every element above that of `low`, up to that of `high`. `element` of a sum never falls as the sum
// grows. An element that is passed over has the step of the next one.
std::vector<ElementStep> element_steps(const std::function<int64_t(int64_t)>& element, int64_t low,
                                       int64_t high);

}  // namespace tilewright::pipeline
