// How the searches of this module use threads and still give the same answer: the work is divided into a
// number of lanes that does not depend on the threads; in a round every lane works for a stated amount alone,
// seeing only what was known when the round began; between rounds one thread merges what the lanes found, in
// their order. Threads then change when a lane runs, never what it does.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace tilewright {

// Threads that stay for many rounds: as many as asked for, or as the system starts. The caller's thread works
// too.
class Crew {
 public:
  explicit Crew(int threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls task(0) .. task(count - 1) once each and returns when all are done. The exception of the lowest
  // task that threw is thrown again here.
  void run(int64_t count, const std::function<void(int64_t)>& task);

 private:
  void serve();
  void work();

  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const std::function<void(int64_t)>* task_ = nullptr;
  int64_t count_ = 0;
  std::atomic<int64_t> next_{0};
  uint64_t round_ = 0;
  size_t busy_ = 0;
  bool leaving_ = false;
  int64_t failed_task_ = std::numeric_limits<int64_t>::max();
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

// The part of what is `left` that lane `index` of `lanes` may use in one round, at most `slice`; the parts of
// all lanes sum to at most `left`.
int64_t lane_share(int64_t left, int64_t lanes, int64_t index, int64_t slice);

}  // namespace tilewright
