// The trainer of placement policies, with libtorch.
#pragma once

#include "tilewright/cgra/learn/training.h"

namespace tilewright::cgra {

PolicyTrainer train_policy;

}  // namespace tilewright::cgra
