// The stride between two clock reads doubles while steps are short and shrinks as soon as they are long; it
// stays small, since a clock read is cheap and steps may become a thousand times longer from one to the next.
#include "tilewright/search/deadline.h"

#include <cstddef>

#include "tilewright/base/process_memory.h"

namespace tilewright {
namespace {

constexpr double kMemoryPeriod = 0.01;  // seconds between two looks at the memory
constexpr int64_t kMostStride = 64;

}  // namespace

const char* ending_name(Ending ending) {
  constexpr const char* kNames[] = {"none", "time", "memory", "request"};
  return kNames[size_t(ending)];
}

Deadline::Deadline(double limit_seconds, const Deadline* whole)
    : whole_(whole),
      start_(std::chrono::steady_clock::now()),
      limit_(whole ? std::min(limit_seconds, whole->left()) : limit_seconds) {}

bool Deadline::over() const {
  if (expired()) return true;
  const double now = seconds();
  if (now >= limit_) expire(Ending::kTime);
  if (memory_limit_bytes() != kAnySize && now >= next_look_s_.load(std::memory_order_relaxed)) {
    next_look_s_.store(now + kMemoryPeriod, std::memory_order_relaxed);
    if (too_large()) expire_whole(Ending::kMemory);
  }
  return expired();
}

bool Deadline::too_large() const {
  if (resident_bytes() < memory_limit_bytes()) return false;
  release_freed_memory();
  return resident_bytes() >= memory_limit_bytes();
}

bool Deadline::fits(double bytes) const {
  const int64_t limit = memory_limit_bytes();
  if (limit == kAnySize || double(resident_bytes()) + bytes < double(limit)) return true;
  release_freed_memory();
  return double(resident_bytes()) + bytes < double(limit);
}

bool DeadlineWatch::look() {
  steps_left_ = kMostStride;
  if (deadline_ == nullptr) return false;
  const bool over = deadline_->over();
  const double now = deadline_->seconds();
  used_ = deadline_->limited() ? std::min(1.0, now / deadline_->limit()) : 0;
  if (over) {
    steps_left_ = 0;
    return true;
  }
  const double since = now - last_seconds_;
  if (since < 1e-4) stride_ = std::min<int64_t>(stride_ * 2, kMostStride);
  if (since > 1e-3) stride_ = std::max<int64_t>(stride_ / 4, 1);
  last_seconds_ = now;
  steps_left_ = stride_;
  return false;
}

}  // namespace tilewright
