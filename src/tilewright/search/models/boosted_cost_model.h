// The cost model of gradient-boosted trees: an ensemble that is bagged (Breiman 1996) for its disagreement,
// on top of one model of earlier layers and machines, whose score the new trees correct ("Learning to
// optimize tensor programs", section 4, transfer by a sum of a global and a local model).
#pragma once

#include <optional>
#include <vector>

#include "tilewright/search/models/cost_model.h"
#include "tilewright/search/models/gradient_boosted.h"

namespace tilewright {

struct BoostedModelOptions {
  BoostingOptions trees{.objective = BoostingOptions::Objective::kRankPairwise,
                        .rounds = 60,
                        .depth = 5,
                        .learning_rate = 0.2,
                        .column_share = 0.8,
                        .bins = 64};
  int members = 3;  // each learns from as many samples as there are, drawn with replacement; 1: from all
};

class BoostedCostModel final : public CostModel {
 public:
  // Errors (invalid input): options out of range.
  explicit BoostedCostModel(BoostedModelOptions options = {});

  void fit(std::span<const CostSample> samples) override;
  void transfer(std::span<const CostSample> earlier) override;
  bool trained() const override { return prior_.fitted() || !members_.empty(); }
  std::vector<CostPrediction> predict(std::span<const ProgramFeatures* const> programs) const override;

 private:
  BoostedModelOptions options_;
  GradientBoosting prior_;
  std::vector<GradientBoosting> members_;
};

}  // namespace tilewright
