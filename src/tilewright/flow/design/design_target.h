// Generated designs as a target: folders that `generate` has written.
#pragma once

#include "tilewright/flow/target/target.h"

namespace tilewright {

const Target& design_target();

}  // namespace tilewright
