// Spatial arrays as a target: they take models, and what is found are mappings, which nothing runs.
#pragma once

#include "tilewright/flow/target/target.h"

namespace tilewright {

const Target& array_target();

}  // namespace tilewright
