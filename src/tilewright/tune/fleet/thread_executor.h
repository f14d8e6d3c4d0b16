// An executor without processes: jobs run on threads of the coordinator. Nothing to start and no files, but
// a handler that takes the process down takes the coordinator with it, and a job cannot be stopped: a time
// limit that has passed is told when the job has ended.
#pragma once

#include <memory>
#include <vector>

#include "tilewright/tune/fleet/executor.h"
#include "tilewright/tune/fleet/worker.h"

namespace tilewright::tune {

// On `threads` threads, or as many as the system starts. Errors (infeasible): it starts none.
std::unique_ptr<Executor> make_thread_executor(std::vector<JobKind> kinds, int threads);

}  // namespace tilewright::tune
