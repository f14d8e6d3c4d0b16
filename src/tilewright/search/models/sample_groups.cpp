// Groups in ascending order of their number, samples in the order they came.
#include "tilewright/search/models/sample_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tilewright/base/error.h"

namespace tilewright {

SampleGroups group_samples(std::span<const CostSample> samples) {
  std::map<int, std::vector<size_t>> by_group;
  Diagnostics problems;
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto refuse = [&](bool bad, const char* message) {
      if (bad) problems.error(ErrorKind::kInvalidInput, fmt::format("sample {}", i), "cost model", message);
    };
    refuse(!(std::isfinite(samples[i].cost) && samples[i].cost > 0), "the cost is not positive");
    refuse(samples[i].features.row.empty(), "has no features");
    refuse(samples[i].features.row.size() != samples[0].features.row.size(),
           "has another number of features than the first");
    by_group[samples[i].group].push_back(i);
  }
  problems.raise_if_any();
  SampleGroups groups;
  for (auto& entry : by_group) {
    const auto [low, high] =
        std::minmax_element(entry.second.begin(), entry.second.end(),
                            [&](size_t a, size_t b) { return samples[a].cost < samples[b].cost; });
    if (samples[*low].cost < samples[*high].cost) groups.push_back(std::move(entry.second));
  }
  return groups;
}

}  // namespace tilewright
