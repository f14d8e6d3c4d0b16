// The simulators of overlay programs by name, and how their counters are shown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tilewright/flow/target/target.h"
#include "tilewright/overlay/program/program_engine.h"

namespace tilewright {

// Errors (invalid input): an option that does not apply to the engine; an unknown memory; no folder for
// compiled RTL where that is needed.
overlay::ProgramEngineOptions program_engine_options(const EngineRequest& request,
                                                     const SharedFolders& folders);

// By the names of their registers, in lower case.
nlohmann::json counters_json(const overlay::CycleCounters& counters);
// One line per module with the share of its states; ends with a newline.
std::string counters_text(const overlay::CycleCounters& counters);

}  // namespace tilewright
