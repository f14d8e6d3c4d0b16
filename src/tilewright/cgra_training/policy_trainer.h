// The trainer of placement policies, with libtorch.
#pragma once

#include "tilewright/cgra/learn/training.h"

namespace tilewright::cgra {

PolicyTrainer train_policy;

// What the tensors say about recorded decisions; equal to the fused forward pass that recorded them but for
// rounding.
struct Replayed {
  std::vector<float> log_probability, value;  // per decision
};
Replayed replay(const PolicyWeights& weights, const std::vector<PlacementInstance>& instances,
                const Experience& experience);

}  // namespace tilewright::cgra

// train_policy, for those who load the library while they run.
extern "C" tilewright::cgra::PolicyTrainer* tilewright_policy_trainer();
