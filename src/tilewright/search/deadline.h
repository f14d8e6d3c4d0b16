// What ends work early (a time, a memory size, a request) as one object that is made where a command starts
// and passed down to its innermost loops. Many lanes can check it without reading the clock at every step.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <new>

namespace tilewright {

// Why work ended early.
enum class Ending : uint8_t { kNone, kTime, kMemory, kRequest };
// "none", "time", "memory", "request".
const char* ending_name(Ending ending);

// Thrown by Deadline::check() where work in progress has no result of its own. A search that holds a best
// result catches it (finishes(), below) and returns that; nothing else may escape to a user.
struct Expired {};

class Deadline {
 public:
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  static constexpr int64_t kAnySize = std::numeric_limits<int64_t>::max();

  // Independent work or, if `whole` is not null (it must outlive this), a part of other work, with which it
  // ends.
  explicit Deadline(double limit_seconds = kNoLimit, const Deadline* whole = nullptr);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // Of this process, in all; that of the whole holds for its parts. Called before the work begins.
  void limit_memory(int64_t bytes) { memory_limit_bytes_ = bytes; }
  int64_t memory_limit_bytes() const { return whole_ ? whole_->memory_limit_bytes() : memory_limit_bytes_; }

  // Since this was made.
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  // The part that the whole leaves, if that is less.
  double limit() const { return limit_; }
  bool limited() const { return limit_ < kNoLimit; }
  double left() const { return expired() ? 0 : std::max(0.0, limit_ - seconds()); }

  // Whether the end was noticed or asked for; no clock is read.
  bool expired() const { return ending() != Ending::kNone; }
  Ending ending() const {
    const Ending own = ending_.load(std::memory_order_relaxed);
    return own != Ending::kNone || whole_ == nullptr ? own : whole_->ending();
  }
  // Ends the work (and its parts) from any thread, or from a signal handler.
  void expire(Ending why = Ending::kRequest) const { ending_.store(why, std::memory_order_relaxed); }
  // Ends the whole that this is a part of.
  void expire_whole(Ending why) const { whole_ ? whole_->expire_whole(why) : expire(why); }

  // Reads the clock and, now and then, the memory.
  bool over() const;
  void check() const {
    if (over()) throw Expired();
  }
  // Whether this much more memory stays within the limit.
  bool fits(double bytes) const;

 private:
  bool too_large() const;

  const Deadline* whole_;
  std::chrono::steady_clock::time_point start_;
  double limit_;
  int64_t memory_limit_bytes_ = kAnySize;
  mutable std::atomic<Ending> ending_{Ending::kNone};
  mutable std::atomic<double> next_look_s_{0};  // at the memory
  static_assert(std::atomic<Ending>::is_always_lock_free);
};

// One lane's look at the deadline: reads the clock only as often as needed to notice the end within about a
// millisecond, whether a step takes nanoseconds or seconds.
class DeadlineWatch {
 public:
  explicit DeadlineWatch(const Deadline& deadline) : deadline_(&deadline) {}
  // Null: never expires.
  explicit DeadlineWatch(const Deadline* deadline) : deadline_(deadline) {}
  // To be called before every step.
  bool expired() { return --steps_left_ <= 0 && look(); }
  void check() {
    if (expired()) throw Expired();
  }
  // Share of the time that was used when the clock was last read, 0 to 1; 0 without a limit.
  double used() const { return used_; }

 private:
  bool look();

  const Deadline* deadline_;
  int64_t stride_ = 1;
  int64_t steps_left_ = 1;
  double last_seconds_ = 0;
  double used_ = 0;
};

// Runs `work` and returns whether it finished: false if the deadline or the memory limit stopped it.
template <typename Work>
bool finishes(const Deadline& deadline, const Work& work) {
  try {
    work();
    return true;
  } catch (const Expired&) {
    return false;
  } catch (const std::bad_alloc&) {
    deadline.expire_whole(Ending::kMemory);
    return false;
  }
}

}  // namespace tilewright
