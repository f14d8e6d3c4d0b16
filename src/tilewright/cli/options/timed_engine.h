// What verbs that run overlay programs share: the engine that their options name, and how its counters are
// shown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "tilewright/cli/options/verbs.h"
#include "tilewright/overlay/program/program_engine.h"
#include "tilewright/overlay/time/trace.h"

namespace tilewright::cli {

// Errors (invalid input): an option that does not apply to the engine; an unknown memory.
overlay::ProgramEngineOptions program_engine_options(const TimedEngineOptions& options);
// Whether the engine tells cycles.
bool is_timed(const TimedEngineOptions& options);

// By the names of their registers, in lower case.
nlohmann::json counters_json(const overlay::CycleCounters& counters);
// One line per module with the share of its states; ends with a newline.
std::string counters_text(const overlay::CycleCounters& counters);

}  // namespace tilewright::cli
