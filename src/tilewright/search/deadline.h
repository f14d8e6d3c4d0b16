// The time limit of a search, seen by many lanes without a clock read per step.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace tilewright {

// The clock of one search and its limit in seconds; shared by all lanes.
class Deadline {
 public:
  explicit Deadline(double limit_seconds) : limit_(limit_seconds), start_(std::chrono::steady_clock::now()) {}
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double limit() const { return limit_; }
  bool limited() const { return limit_ < std::numeric_limits<double>::infinity(); }
  bool expired() const { return expired_.load(std::memory_order_relaxed); }
  void expire() { expired_.store(true, std::memory_order_relaxed); }

 private:
  double limit_;
  std::chrono::steady_clock::time_point start_;
  std::atomic<bool> expired_{false};
};

// One lane's look at the deadline: reads the clock only as often as needed to notice the end within about a
// millisecond, whether a step takes nanoseconds or seconds.
class DeadlineWatch {
 public:
  explicit DeadlineWatch(Deadline& deadline) : deadline_(&deadline) {}
  // To be asked before every step.
  bool expired() {
    if (!deadline_->limited()) return false;
    if (--steps_left_ > 0) return false;
    return look();
  }
  // Share of the time that was used when the clock was last read, 0 to 1; 0 without a limit.
  double used() const { return used_; }

 private:
  bool look();

  Deadline* deadline_;
  int64_t stride_ = 1;
  int64_t steps_left_ = 1;
  double last_seconds_ = 0;
  double used_ = 0;
};

}  // namespace tilewright
