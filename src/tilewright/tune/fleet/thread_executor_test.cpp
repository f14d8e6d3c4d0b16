// Jobs on threads of this process, as many as the system starts.
#include "tilewright/tune/fleet/thread_executor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/few_threads_testing.h"
#include "tilewright/base/error.h"

namespace tilewright::tune {
namespace {

const JobKind kEcho{"echo", [](const std::string& request) { return request; }};

// Whether an executor that was asked for many threads answers every job.
bool answers_all() {
  const auto executor = make_thread_executor({kEcho}, kManyThreads);
  std::set<std::string> open;
  std::vector<Job> jobs;
  for (int i = 0; i < 300; ++i) {
    const std::string id = std::to_string(i);
    open.insert(id);
    jobs.push_back({id, "echo", id, 60});
  }
  executor->submit(jobs);
  while (executor->pending() > 0) {
    for (const JobResult& result : executor->collect(60)) {
      if (result.status != JobStatus::kDone || result.reply != result.id) return false;
      open.erase(result.id);
    }
  }
  return open.empty();
}

TEST(ThreadExecutor, GoesOnWithTheThreadsThatStart) { EXPECT_TRUE(holds_with_few_threads(answers_all)); }

TEST(ThreadExecutor, SaysThatNoThreadStarts) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_TRUE(holds_with_few_threads([] {
    std::vector<std::jthread> others;
    try {
      while (int(others.size()) < kManyThreads) {
        others.emplace_back([](const std::stop_token& stop) {
          while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
      }
    } catch (const std::exception&) {  // no room for another
    }
    try {
      make_thread_executor({kEcho}, 4);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kInfeasible &&
             std::string(error.what()).starts_with("no thread can be started: ");
    }
    return false;
  }));
#endif
}

}  // namespace
}  // namespace tilewright::tune
