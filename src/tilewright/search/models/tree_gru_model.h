// The cost model of a TreeGRU, trained with Adam (Kingma and Ba 2015) on the logistic loss of pairs of
// programs of one group (RankNet, Burges et al. 2005). Every fit starts from the weights of the previous one,
// the first from those of an earlier transfer.
#pragma once

#include <optional>

#include "tilewright/base/random.h"
#include "tilewright/search/models/cost_model.h"
#include "tilewright/search/models/sample_groups.h"
#include "tilewright/search/models/tree_gru.h"

namespace tilewright {

struct TreeGruOptions {
  int64_t fit_samples = 2048;        // passes of a sample through the network per fit
  int64_t transfer_samples = 20000;  // the same for transfer()
  int64_t minibatch = 32;            // samples of one group, compared with each other
  double learning_rate = 5e-3;
  uint64_t seed = 1;
};

class TreeGruModel final : public CostModel {
 public:
  // Errors (invalid input): options that are not positive.
  explicit TreeGruModel(TreeGruOptions options = {});

  void fit(std::span<const CostSample> samples) override;
  void transfer(std::span<const CostSample> earlier) override;
  bool trained() const override { return weights_.has_value(); }
  std::vector<CostPrediction> predict(std::span<const ProgramFeatures* const> programs) const override;

  // What a file holds (TreeGruWeights::save); those set count as an earlier transfer. Errors (invalid input):
  // weights of other sizes than they state.
  const std::optional<TreeGruWeights>& weights() const { return weights_; }
  void set_weights(TreeGruWeights weights);

 private:
  void restart(std::optional<TreeGruWeights> weights);
  void train(std::span<const CostSample> samples, const SampleGroups& groups, int64_t passes);
  void step(std::span<const CostSample> samples, std::span<const size_t> batch);
  void adam();

  TreeGruOptions options_;
  std::optional<TreeGruWeights> weights_;
  Random random_;
  int64_t steps_ = 0;
  std::vector<float> gradient_, first_moment_, second_moment_;
  std::vector<TreeGru> tapes_;  // one per sample of a minibatch
};

}  // namespace tilewright
