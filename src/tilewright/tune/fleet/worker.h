// The other side of an executor, in the worker process: takes jobs from the folder, answers them with the
// handler of their kind, and puts the results into the folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tilewright::tune {

// A request in, a reply out. An Error becomes JobStatus::kFailed with its text; an InterruptedError and
// std::bad_alloc say nothing about the request, and the job is tried again.
using JobHandler = std::function<std::string(const std::string& request)>;
struct JobKind {
  std::string name;
  JobHandler handler;
};

struct WorkerOptions {
  std::filesystem::path folder;
  std::vector<std::string> job_ids;  // these alone; empty: those that standard input names, a line each
  int attempt = 1;                   // how often the jobs were begun, for their results
};

// What `tilewright worker` does; returns the exit code. With ids on standard input (a local executor): says
// on standard output, a JSON line each, how every job ended; this process ends when the input does, in the
// middle of a job too, and is killed when its parent dies. With `job_ids` (a job of Slurm): ends itself when
// a job takes longer than its limit.
int serve_jobs(const WorkerOptions& options, const std::vector<JobKind>& kinds);

// Exit codes that tell an executor how a worker ended.
inline constexpr int kWorkerTimedOut = 124, kWorkerCannotStore = 123, kWorkerInterrupted = 122;

}  // namespace tilewright::tune
