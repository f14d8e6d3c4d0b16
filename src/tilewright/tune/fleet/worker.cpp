// A job whose result is in the folder already is not run again, whoever asks. The log has one line where a
// job begins and one where its result is in place, each written at once, so that it can be counted afterwards
// what ran how often.
#include "tilewright/tune/fleet/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <deque>
#include <istream>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <thread>

#include "tilewright/base/error.h"
#include "tilewright/tune/fleet/folder_lock.h"
#include "tilewright/tune/fleet/job_folder.h"

namespace tilewright::tune {
namespace {

using Clock = std::chrono::steady_clock;

enum class Ending { kStored, kCannotStore, kInterrupted };
struct Served {
  Ending ending = Ending::kStored;
  std::string message;
};

class Worker {
 public:
  Worker(const WorkerOptions& options, const std::vector<JobKind>& kinds)
      : folder_(options.folder),
        kinds_(kinds),
        attempt_(options.attempt),
        name_(fmt::format("{}-{}", host_name(), ::getpid())) {
    log_ =
        ::open((folder_.logs() / (name_ + ".log")).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (log_ >= 0) ::close(log_);
  }

  const JobFolder& folder() const { return folder_; }

  Served serve(const Job& job) {
    if (folder_.read_result(job)) return {};
    log("start", job.id);
    JobResult result{job.id};
    const Clock::time_point start = Clock::now();
    try {
      result.reply = answer(job);
    } catch (const InterruptedError& error) {
      return interrupted(job, error.what());
    } catch (const std::bad_alloc&) {
      return interrupted(job, "out of memory");
    } catch (const std::exception& error) {
      result.status = JobStatus::kFailed;
      result.reply = error.what();
    }
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    result.worker = name_;
    result.attempts = attempt_;
    try {
      folder_.write_result(job, result);
    } catch (const Error& error) {
      log("not-stored", job.id);
      return {Ending::kCannotStore, error.what()};
    }
    log("done", job.id);
    return {};
  }

 private:
  std::string answer(const Job& job) const {
    std::string names;
    for (const JobKind& kind : kinds_) {
      if (kind.name == job.kind) return kind.handler(job.request);
      names += (names.empty() ? "" : ", ") + kind.name;
    }
    throw InterruptedError(fmt::format("no worker for jobs of the kind '{}'", job.kind), "kinds: " + names);
  }

  Served interrupted(const Job& job, const std::string& why) {
    log("interrupted", job.id);
    return {Ending::kInterrupted, why};
  }

  // A full disk costs the line, not the job.
  void log(const char* event, const std::string& id) const {
    const std::string line = fmt::format("{} {}\n", event, id);
    const ssize_t ignored = ::write(log_, line.data(), line.size());
    (void)ignored;
  }

  JobFolder folder_;
  const std::vector<JobKind>& kinds_;
  int attempt_;
  std::string name_;
  int log_ = -1;
};

// The ids of a stream, read by a thread of its own: its end is the coordinator's, and ends this
// process whatever it is doing. The tools that a handler runs end with it (synthesis/kept_process.h).
class InputIds {
 public:
  explicit InputIds(std::istream& stream) {
    std::thread([this, &stream] {
      for (std::string line; std::getline(stream, line);) {
        const std::lock_guard lock(mutex_);
        ids_.push_back(line);
        arrived_.notify_one();
      }
      ::_exit(0);
    }).detach();
  }
  std::string next() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !ids_.empty(); });
    std::string id = std::move(ids_.front());
    ids_.pop_front();
    return id;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::string> ids_;
};

[[noreturn]] void serve_input(Worker& worker, const WorkerStreams& streams) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  InputIds& ids = *new InputIds(streams.ids);  // its thread ends the process, so it is never freed
  while (true) {
    const std::string id = ids.next();
    Served served;
    try {
      served = worker.serve(worker.folder().read_job(id));
    } catch (const Error& error) {  // the job's file
      served = {Ending::kInterrupted, error.what()};
    }
    static constexpr const char* kEndings[] = {"stored", "cannot store", "interrupted"};
    const nlohmann::json line = {
        {"id", id}, {"ending", kEndings[int(served.ending)]}, {"message", served.message}};
    streams.endings << line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << std::endl;
  }
}

// Ends the process when a job is not through in time; a thread cannot be stopped by itself.
class TimeLimit {
 public:
  explicit TimeLimit(double limit_s)
      : thread_([this, limit_s](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          const auto limit = std::chrono::duration<double>(std::min(limit_s, 1e8));
          if (!ended_.wait_for(lock, stop, limit, [] { return false; }) && !stop.stop_requested()) {
            ::_exit(kWorkerTimedOut);
          }
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;
};

int serve_listed(Worker& worker, const std::vector<std::string>& ids, std::ostream& errors) {
  for (const std::string& id : ids) {
    const Job job = worker.folder().read_job(id);
    const TimeLimit limit(job.timeout_s);
    const Served served = worker.serve(job);
    if (served.ending == Ending::kStored) continue;
    errors << "job '" << id << "': " << served.message << "\n";
    return served.ending == Ending::kCannotStore ? kWorkerCannotStore : kWorkerInterrupted;
  }
  return 0;
}

}  // namespace

int serve_jobs(const WorkerOptions& options, const std::vector<JobKind>& kinds,
               const WorkerStreams& streams) {
  Worker worker(options, kinds);
  if (options.job_ids.empty()) serve_input(worker, streams);
  return serve_listed(worker, options.job_ids, streams.errors);
}

}  // namespace tilewright::tune
