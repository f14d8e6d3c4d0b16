// Bisection for one step after another, from the one before.
#include "tilewright/pipeline/network/element_steps.h"

namespace tilewright::pipeline {

std::vector<ElementStep> element_steps(const std::function<int64_t(int64_t)>& element, int64_t low,
                                       int64_t high) {
  std::vector<ElementStep> steps;
  const int64_t first = element(low), last = element(high);
  int64_t below = low;  // element(below) < value unless below is the last step
  for (int64_t value = first + 1; value <= last; ++value) {
    int64_t reached = high;
    if (element(below) >= value) reached = below;
    while (reached - below > 1) {
      const int64_t middle = below + (reached - below) / 2;
      (element(middle) >= value ? reached : below) = middle;
    }
    steps.push_back({value, reached});
    below = reached;
  }
  return steps;
}

}  // namespace tilewright::pipeline
