// Every reader with files that the project makes itself, by reader.
#pragma once

#include <vector>

#include "fuzz/fuzz_targets.h"

namespace tilewright {

std::vector<FuzzTarget> own_targets();

}  // namespace tilewright
