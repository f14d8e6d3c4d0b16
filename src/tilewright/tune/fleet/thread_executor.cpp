// One queue, one mutex, one condition variable for every change. An Error of the handler fails the job; an
// interruption, an expired time or a lack of memory loses it, as that says nothing about the request.
#include "tilewright/tune/fleet/thread_executor.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/search/deadline.h"

namespace tilewright::tune {
namespace {

class ThreadExecutor : public JobExecutor {
 public:
  ThreadExecutor(std::vector<JobKind> kinds, int threads) : kinds_(std::move(kinds)) {
    try {
      for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::exception& failure) {  // no thread, or no memory for one, is left
      if (!threads_.empty()) return;
      throw Error(ErrorKind::kInfeasible, std::string("no thread can be started: ") + failure.what(),
                  "allow more memory or more threads");
    }
  }
  ~ThreadExecutor() override {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      waiting_.clear();
      ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void submit(const std::vector<Job>& jobs) override {
    const std::lock_guard<std::mutex> guard(mutex_);
    waiting_.insert(waiting_.end(), jobs.begin(), jobs.end());
    changed_.notify_all();
  }

  std::vector<JobResult> collect(double wait_s) override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(wait_s),
                      [&] { return !results_.empty() || (waiting_.empty() && running_ == 0); });
    return std::exchange(results_, {});
  }

  size_t pending() const override {
    const std::lock_guard<std::mutex> guard(mutex_);
    return waiting_.size() + running_ + results_.size();
  }

  void cancel() override {
    std::unique_lock<std::mutex> lock(mutex_);
    waiting_.clear();
    changed_.wait(lock, [&] { return running_ == 0; });
    results_.clear();
  }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
      if (ending_) return;
      const Job job = std::move(waiting_.front());
      waiting_.pop_front();
      ++running_;
      lock.unlock();
      JobResult result = answer(job);
      lock.lock();
      --running_;
      results_.push_back(std::move(result));
      changed_.notify_all();
    }
  }

  JobResult answer(const Job& job) const {
    JobResult result;
    result.id = job.id;
    result.worker = "thread";
    const auto start = std::chrono::steady_clock::now();
    try {
      result.reply = handler(job.kind)(job.request);
    } catch (const InterruptedError& error) {
      result.status = JobStatus::kLost;
      result.reply = error.what();
    } catch (const Expired&) {
      result.status = JobStatus::kLost;
      result.reply = "time ran out";
    } catch (const Error& error) {
      result.status = JobStatus::kFailed;
      result.reply = error.what();
    } catch (const std::bad_alloc&) {
      result.status = JobStatus::kLost;
      result.reply = "out of memory";
    }
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (result.status == JobStatus::kDone && result.seconds > job.timeout_s) {
      result.status = JobStatus::kTimedOut;
    }
    return result;
  }

  const JobHandler& handler(const std::string& kind) const {
    for (const JobKind& known : kinds_) {
      if (known.name == kind) return known.handler;
    }
    throw Error(ErrorKind::kInternal, "no handler for jobs of the kind '" + kind + "'");
  }

  const std::vector<JobKind> kinds_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::vector<JobResult> results_;
  size_t running_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<JobExecutor> make_thread_executor(std::vector<JobKind> kinds, int threads) {
  return std::make_unique<ThreadExecutor>(std::move(kinds), threads);
}

}  // namespace tilewright::tune
