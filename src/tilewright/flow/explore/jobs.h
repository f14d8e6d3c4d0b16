// The kinds of jobs that `tilewright worker` answers, and how their requests are made.
#pragma once

#include <string>
#include <vector>

#include "tilewright/hardware/memory_model.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/overlay/schedule/layer.h"
#include "tilewright/tune/fleet/worker.h"

namespace tilewright {

// "measure": times schedules of one layer; "implement": one run of Yosys and nextpnr
// (overlay/implement/implementation_run.h); "candidate": tunes one candidate of an exploration
// (candidate_job.h).
std::vector<tune::JobKind> job_kinds();
// Serves these kinds, as tune::serve_jobs() does.
int serve_jobs(const tune::WorkerOptions& options, const tune::WorkerStreams& streams);

// A request of the kind "measure"; schedules as print_schedule gives them. Its reply is that of
// tune/fleet/remote_problem.h: the cycles of each schedule, or why it has none. A worker of another version
// than the one that made the request does not answer it.
std::string measure_request(const overlay::OverlayLayer& layer, const OverlayHardware& hardware,
                            const MemoryModel& memory, const std::vector<std::string>& schedules);

}  // namespace tilewright
