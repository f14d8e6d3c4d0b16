// The crew is a generation counter under a mutex: threads sleep between rounds and take tasks from one atomic
// index. Where the system starts fewer threads than asked for, these do all of it.
#include "tilewright/search/rounds.h"

#include <algorithm>
#include <exception>

namespace tilewright {

Crew::Crew(int threads) {
  try {
    for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  } catch (const std::exception&) {  // no thread, or no memory for one, is left
  }
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Crew::run(int64_t count, const std::function<void(int64_t)>& task) {
  failed_task_ = std::numeric_limits<int64_t>::max();
  failure_ = nullptr;
  task_ = &task;
  count_ = count;
  next_ = 0;
  const bool alone = threads_.empty() || count <= 1;
  if (!alone) {
    const std::lock_guard lock(mutex_);
    ++round_;
    busy_ = threads_.size();
  }
  if (!alone) start_.notify_all();
  work();
  if (!alone) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
  }
  if (failure_) std::rethrow_exception(failure_);
}

void Crew::serve() {
  uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return leaving_ || round_ != seen; });
      if (leaving_) return;
      seen = round_;
    }
    work();
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

void Crew::work() {
  for (int64_t index = next_++; index < count_; index = next_++) {
    try {
      (*task_)(index);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (index < failed_task_) {
        failed_task_ = index;
        failure_ = std::current_exception();
      }
    }
  }
}

int64_t lane_share(int64_t left, int64_t lanes, int64_t index, int64_t slice) {
  return std::min(slice, left / lanes + (index < left % lanes ? 1 : 0));
}

}  // namespace tilewright
