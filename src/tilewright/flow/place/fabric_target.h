// Coarse-grained fabrics as a target: mapped programs that `place` has written.
#pragma once

#include "tilewright/flow/target/target.h"

namespace tilewright {

const Target& fabric_target();

}  // namespace tilewright
