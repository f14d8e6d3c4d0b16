// A network's times as JSON, which an explanation adds to.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tilewright/flow/time/network_timing.h"

namespace tilewright {

nlohmann::json timing_json(const NetworkTiming& timing);

}  // namespace tilewright
