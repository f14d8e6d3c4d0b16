// An executor without processes: jobs run on threads of the coordinator. Nothing has to be started and there
// are no files, but a handler that crashes the process takes the coordinator with it, and a job cannot be
// stopped: an exceeded time limit is reported only when the job has ended.
#pragma once

#include <memory>
#include <vector>

#include "tilewright/tune/fleet/executor.h"
#include "tilewright/tune/fleet/worker.h"

namespace tilewright::tune {

// On `threads` threads, or as many as the system starts. Errors (infeasible): it starts none.
std::unique_ptr<JobExecutor> make_thread_executor(std::vector<JobKind> kinds, int threads);

}  // namespace tilewright::tune
