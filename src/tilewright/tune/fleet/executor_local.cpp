// Worker processes that stay from job to job. A thread of the executor's own starts them, hands out jobs,
// listens and kills, so that they are busy while the coordinator thinks; submit() and collect() only exchange
// lists with it.
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/base/json.h"
#include "tilewright/tune/fleet/executor.h"
#include "tilewright/tune/fleet/folder_lock.h"
#include "tilewright/tune/fleet/job_folder.h"
#include "tilewright/tune/fleet/worker_process.h"

namespace tilewright::tune {
namespace {

using Clock = std::chrono::steady_clock;

struct Attempted {
  Job job;
  int attempts = 0;  // begun so far
};

// A worker and what it is doing.
struct Seat {
  std::optional<WorkerProcess> worker;
  std::optional<Attempted> running;
  Clock::time_point deadline;
};

class LocalExecutor final : public JobExecutor {
 public:
  explicit LocalExecutor(const ExecutorOptions& options)
      : options_(options),
        lock_(options.folder, "job folder"),
        folder_(options.folder),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        seats_(size_t(std::max(1, options.workers))) {
    if (wake_ < 0) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("cannot make an event: {}", std::strerror(errno)));
    }
    folder_.sweep();
    thread_ = std::thread([this] { run(); });
  }
  ~LocalExecutor() override {
    {
      const std::lock_guard guard(mutex_);
      stopping_ = true;
    }
    wake();
    thread_.join();
    ::close(wake_);
  }

  void submit(const std::vector<Job>& jobs) override;
  std::vector<JobResult> collect(double wait_s) override;
  size_t pending() const override {
    const std::lock_guard guard(mutex_);
    return pending_.size();
  }
  void cancel() override;

 private:
  void wake() const {
    const uint64_t one = 1;
    const ssize_t ignored = ::write(wake_, &one, sizeof one);
    (void)ignored;
  }
  // The rest is the thread's, with mutex_ held but while it waits.
  void run();
  void give_out();
  void wait(std::unique_lock<std::mutex>& lock);
  void listen(Seat& seat);
  void answered(Seat& seat, const std::string& line);
  void worker_ended(Seat& seat, JobStatus status, const std::string& why);
  void try_again(const Attempted& attempted, JobStatus status, const std::string& why);
  void deliver(JobResult result);

  ExecutorOptions options_;
  FolderLock lock_;
  JobFolder folder_;
  int wake_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::string, Job> pending_;
  std::deque<Attempted> queue_;
  std::vector<JobResult> done_;
  std::vector<Seat> seats_;
  std::exception_ptr failure_;
  bool stopping_ = false, cancelling_ = false;
  std::thread thread_;
};

void LocalExecutor::submit(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    {
      const std::lock_guard guard(mutex_);
      const auto known = pending_.find(job.id);
      if (known != pending_.end()) {
        if (same_work(known->second, job)) continue;
        throw Error(ErrorKind::kInvalidInput, fmt::format("two different jobs have the id '{}'", job.id));
      }
    }
    folder_.write_job(job);
    std::optional<JobResult> result = folder_.take_over(job);
    const std::lock_guard guard(mutex_);
    pending_.emplace(job.id, job);
    if (result) {
      deliver(std::move(*result));
    } else {
      queue_.push_back({job});
    }
    wake();
  }
}

std::vector<JobResult> LocalExecutor::collect(double wait_s) {
  std::unique_lock guard(mutex_);
  arrived_.wait_for(guard, std::chrono::duration<double>(std::clamp(wait_s, 0.0, 1e6)),
                    [&] { return !done_.empty() || failure_ || pending_.empty(); });
  if (done_.empty() && failure_) std::rethrow_exception(failure_);
  for (const JobResult& result : done_) pending_.erase(result.id);
  return std::exchange(done_, {});
}

void LocalExecutor::cancel() {
  std::unique_lock guard(mutex_);
  pending_.clear();
  queue_.clear();
  done_.clear();
  failure_ = nullptr;
  cancelling_ = true;
  wake();
  arrived_.wait(guard, [&] { return !cancelling_; });
}

void LocalExecutor::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (std::exchange(cancelling_, false)) {
      for (Seat& seat : seats_) {
        if (std::exchange(seat.running, std::nullopt)) seat.worker.reset();
      }
      arrived_.notify_all();
    }
    try {
      if (!failure_) give_out();
    } catch (...) {
      failure_ = std::current_exception();
      arrived_.notify_all();
    }
    wait(lock);
    for (Seat& seat : seats_) {
      if (seat.worker) listen(seat);
      if (seat.running && Clock::now() >= seat.deadline) {
        worker_ended(seat, JobStatus::kTimedOut,
                     fmt::format("stopped after its limit of {} s", seat.running->job.timeout_s));
      }
    }
  }
  seats_.clear();
}

void LocalExecutor::give_out() {
  for (Seat& seat : seats_) {
    if (seat.running || queue_.empty()) continue;
    if (!seat.worker) {
      seat.worker.emplace(options_.worker_command, folder_.path(), folder_.logs() / "errors.log");
    }
    seat.running = std::move(queue_.front());
    queue_.pop_front();
    ++seat.running->attempts;
    const auto limit = std::chrono::duration<double>(std::min(seat.running->job.timeout_s, 1e8));
    seat.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
    // A worker that ended since its last job takes nothing: listen() sees its end.
    seat.worker->send(seat.running->job.id);
  }
}

void LocalExecutor::wait(std::unique_lock<std::mutex>& lock) {
  std::vector<pollfd> polled{{wake_, POLLIN, 0}};
  int timeout_ms = -1;
  for (const Seat& seat : seats_) {
    if (seat.worker) polled.push_back({seat.worker->output(), POLLIN, 0});
    if (!seat.running) continue;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(seat.deadline - Clock::now()).count();
    const int left_ms = int(std::clamp<int64_t>(left, 0, 1 << 30));
    timeout_ms = timeout_ms < 0 ? left_ms : std::min(timeout_ms, left_ms);
  }
  lock.unlock();
  ::poll(polled.data(), polled.size(), timeout_ms);
  uint64_t count;
  const ssize_t ignored = ::read(wake_, &count, sizeof count);
  (void)ignored;
  lock.lock();
}

void LocalExecutor::listen(Seat& seat) {
  bool ended = false;
  for (const std::string& line : seat.worker->receive(ended)) answered(seat, line);
  if (ended) worker_ended(seat, JobStatus::kLost, "");
}

void LocalExecutor::answered(Seat& seat, const std::string& line) {
  std::string ending, message;
  try {
    const nlohmann::json value = nlohmann::json::parse(line);
    if (!seat.running || value.at("id") != seat.running->job.id) return;
    ending = value.at("ending");
    message = value.at("message");
  } catch (const nlohmann::json::exception&) {
    return;  // not a worker's line; what it should have said is known when it ends or runs out of time
  }
  const Attempted attempted = *std::exchange(seat.running, std::nullopt);
  std::optional<JobResult> result = folder_.read_result(attempted.job);
  if (result) {
    result->attempts = attempted.attempts;
    deliver(std::move(*result));
  } else if (ending == "cannot store") {
    deliver({attempted.job.id, JobStatus::kNotStored, message, 0, "", attempted.attempts});
  } else {
    try_again(attempted, JobStatus::kLost, message.empty() ? "its result is not in the folder" : message);
  }
}

void LocalExecutor::worker_ended(Seat& seat, JobStatus status, const std::string& why) {
  const std::string how = seat.worker->end();
  seat.worker.reset();
  const std::optional<Attempted> attempted = std::exchange(seat.running, std::nullopt);
  if (!attempted) return;
  if (std::optional<JobResult> result = folder_.read_result(attempted->job)) {
    result->attempts = attempted->attempts;
    deliver(std::move(*result));
    return;
  }
  try_again(*attempted, status,
            why.empty() ? fmt::format("the worker ended with {} (see '{}')", how,
                                      (folder_.logs() / "errors.log").string())
                        : why);
}

void LocalExecutor::try_again(const Attempted& attempted, JobStatus status, const std::string& why) {
  if (attempted.attempts < options_.attempts) {
    queue_.push_front(attempted);
  } else {
    deliver({attempted.job.id, status, why, 0, "", attempted.attempts});
  }
}

void LocalExecutor::deliver(JobResult result) {
  done_.push_back(std::move(result));
  arrived_.notify_all();
}

}  // namespace

std::unique_ptr<JobExecutor> make_local_executor(const ExecutorOptions& options) {
  return std::make_unique<LocalExecutor>(options);
}

}  // namespace tilewright::tune
