// A model that learns from measured programs which of two other programs is faster. "Learning to optimize
// tensor programs" (Chen et al. 2018), section 4: features of loops, rank objective, transfer.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tilewright/search/models/program_features.h"

namespace tilewright {

struct CostSample {
  ProgramFeatures features;
  double cost = 0;  // positive
  int group = 0;    // costs are compared within a group only: one layer on one machine
};

struct CostPrediction {
  double score = 0;      // the lower, the faster the program is expected to be; no unit
  double deviation = 0;  // how much the members of an ensemble disagree; 0 without one
};

class CostModel {
 public:
  virtual ~CostModel() = default;
  // Learns from all samples seen so far (the caller keeps them), starting from what transfer() left. Errors
  // (invalid input): a cost that is not positive, features of another form than earlier ones.
  virtual void fit(std::span<const CostSample> samples) = 0;
  // Learns the starting point of later fits from samples of earlier layers and machines; replaces the result
  // of an earlier transfer and forgets all fits. The caller need not keep the samples.
  virtual void transfer(std::span<const CostSample> earlier) = 0;
  // Whether fit() or transfer() has seen two samples of different cost in one group: scores mean something.
  virtual bool trained() const = 0;
  // Called by several threads at once, not during fit. While untrained all scores are 0.
  virtual std::vector<CostPrediction> predict(std::span<const ProgramFeatures* const> programs) const = 0;
};

}  // namespace tilewright
