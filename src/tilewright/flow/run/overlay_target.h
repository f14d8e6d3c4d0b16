// The overlay as a target: bundles of its programs and of what stays on the host.
#pragma once

#include "tilewright/flow/target/target.h"

namespace tilewright {

const Target& overlay_target();

}  // namespace tilewright
