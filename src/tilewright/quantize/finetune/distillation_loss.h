// How far a network's scores are from another's and from labels (Hinton, Vinyals, Dean 2015).
#pragma once

#include "tilewright/quantize/finetune/training_pass.h"

namespace tilewright {

struct DistillationTerms {
  double temperature = 2;  // by which scores are divided before they become probabilities
  double label_share = 0;  // of the cross-entropy with the labels; the rest is the divergence
};

// Sum over rows of `classes` scores: (1 - label_share) * temperature^2 * KL(teacher, student) + label_share *
// cross-entropy. wanted: probabilities by the labels, as many as scores; empty: there are none, and
// label_share counts as 0. gradient: by each student score.
double distillation_loss(const Numbers& student, const Numbers& teacher, const Numbers& wanted,
                         int64_t classes, const DistillationTerms& terms, Numbers& gradient);

}  // namespace tilewright
