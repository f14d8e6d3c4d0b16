// The host as a target: model files as they are, float or quantised.
#pragma once

#include "tilewright/flow/target/target.h"

namespace tilewright {

const Target& host_target();

}  // namespace tilewright
