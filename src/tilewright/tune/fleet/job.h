// A piece of work for a worker process: a request in, a reply out, both JSON texts in files on a folder that
// coordinator and workers share. The reply depends on the request alone, so a job may run twice without harm.
#pragma once

#include <string>

namespace tilewright::tune {

struct Job {
  std::string id;       // [a-z0-9-], at most 100: names its files; equal requests may have equal ids
  std::string kind;     // which handler answers: "measure", "implement"
  std::string request;  // JSON
  double timeout_s = 600;
};

enum class JobStatus {
  kDone,       // `reply` is there
  kFailed,     // the handler threw: `reply` is its message
  kTimedOut,   // killed after timeout_s, as often as the executor tries
  kLost,       // the worker died, or its tool was killed, as often as the executor tries
  kNotStored,  // the worker could not write the result (a full disk): `reply` says why
};

// Only the first is final: a later run tries the others again.
struct JobResult {
  std::string id;
  JobStatus status = JobStatus::kDone;
  std::string reply;
  double seconds = 0;  // in the worker
  std::string worker;  // host and process, for the log
  int attempts = 1;
};

}  // namespace tilewright::tune
