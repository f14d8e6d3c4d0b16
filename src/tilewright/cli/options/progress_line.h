// How long-running verbs report progress: one line that is overwritten on a terminal, and now and then a new
// line in a log. It goes to standard error, so standard output holds only the result.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace tilewright::cli {

class ProgressLine {
 public:
  // On a terminal at most ten times a second, else every `log_every_s` seconds.
  explicit ProgressLine(double log_every_s = 10);
  // Clears the line on a terminal.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows `text()` if it is time; otherwise `text` is not called.
  void update(const std::function<std::string()>& text);

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  double every_s_;
  Clock::time_point shown_;
  size_t width_ = 0;  // of what stands there
};

// "47 s", "3 min 10 s", "1 h 02 min".
std::string duration_text(double seconds);

}  // namespace tilewright::cli
