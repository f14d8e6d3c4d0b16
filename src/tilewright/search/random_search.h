// Independent random samples, the baseline of every other search.
#pragma once

#include <vector>

#include "tilewright/search/space.h"

namespace tilewright {

// The best of as many samples as the limits allow. Throws an Error (invalid input) for options out of range.
template <Space S>
SamplingResultOf<S> random_search(const S& space, const SamplingOptionsOf<S>& options) {
  options.verify();
  std::vector<Random> randoms;
  for (uint64_t seed : lane_seeds(options.seed, options.lanes)) randoms.push_back(Random(seed));
  const auto lane = [&](int64_t i, LaneEvaluator<S>& evaluator) {
    Random random = randoms[size_t(i)];  // a copy: neighbours in the vector would share a cache line
    do {
      evaluator.evaluate(space.sample(random));
    } while (evaluator.more());
    randoms[size_t(i)] = random;
  };
  return SamplingRun<S>(space, options).run(lane, [](const auto&) {});
}

}  // namespace tilewright
