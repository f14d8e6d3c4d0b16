// How verbs that may take long report progress: one line that is overwritten on a terminal, and a new line
// every half minute in a log. It goes to standard error, so standard output holds only the result.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tilewright::cli {

// "quantising m.onnx, 12 s: 250 of 1000 inputs". A thread of its own shows it: on a terminal from the second
// second on, five times a second; elsewhere every 30 s.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  // Clears the line on a terminal.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // What stands behind the seconds from now on. Any thread may call it; `text` is only called
  // when it has not been for a while.
  void update(const std::function<std::string()>& text);

 private:
  using Clock = std::chrono::steady_clock;
  void show_until_over();
  std::string line() const;

  const std::string what_;
  const bool terminal_;
  const Clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::string detail_;
  Clock::time_point updated_;
  size_t width_ = 0;  // of what stands on the terminal
  std::thread shower_;
};

// Runs `work` behind a progress line; the line is gone when it returns.
template <typename Work>
decltype(auto) with_progress(const std::string& what, const Work& work) {
  ProgressLine line(what);
  if constexpr (std::is_invocable_v<Work, ProgressLine&>) {
    return work(line);
  } else {
    return work();
  }
}

// "250 of 1000 inputs".
std::string count_text(int64_t done, int64_t all, const std::string& things);
// "47 s", "3 min 10 s", "1 h 02 min".
std::string duration_text(double seconds);

}  // namespace tilewright::cli
