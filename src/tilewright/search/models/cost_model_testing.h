// Programs for tests of cost models: three nested loops whose cost follows from their extents, on a machine
// of its own per group.
#pragma once

#include <cmath>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/search/models/cost_model.h"

namespace tilewright {

inline std::vector<CostSample> random_programs(uint64_t seed, int count, int group) {
  Random random(seed);
  std::vector<CostSample> samples;
  for (int i = 0; i < count; ++i) {
    CostSample sample;
    double extents[3], trips = 1;
    for (int k = 0; k < 3; ++k) {
      extents[k] = double(random.between(1, 64));
      trips *= extents[k];
      const auto feature = float(std::log2(extents[k]));
      sample.features.row.push_back(feature);
      sample.features.tree.nodes.push_back({{feature, float(k)}, {}});
      if (k > 0) sample.features.tree.nodes[size_t(k) - 1].children = {k};
    }
    sample.cost = (trips + 300 * extents[0] + 40 * extents[0] * extents[1] + 1000) * (1 + 3 * group);
    sample.group = group;
    samples.push_back(sample);
  }
  return samples;
}

inline CostPrediction predict_one(const CostModel& model, const CostSample& sample) {
  const ProgramFeatures* programs[] = {&sample.features};
  return model.predict(programs)[0];
}

// Share of pairs of samples that the model orders differently from their costs.
inline double wrongly_ranked(const CostModel& model, const std::vector<CostSample>& samples) {
  std::vector<double> scores;
  for (const CostSample& sample : samples) scores.push_back(predict_one(model, sample).score);
  double wrong = 0, all = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (samples[i].cost == samples[j].cost) continue;
      all += 1;
      wrong += (samples[i].cost < samples[j].cost) == (scores[i] < scores[j]) ? 0 : 1;
    }
  }
  return wrong / all;
}

}  // namespace tilewright
