// What `report` and `explain` share: the bundle they time, and its times as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/time/network_timing.h"

namespace tilewright::cli {

// The bundle, for another overlay if one is named. Errors: those of read_bundle and retarget.
Bundle read_for_timing(const TimingOptions& options);

nlohmann::json layer_json(const NetworkTiming& timing, const overlay::LayerTiming& layer);
nlohmann::json timing_json(const NetworkTiming& timing);

}  // namespace tilewright::cli
