// A terminal gets '\r', the line cut to its width, and blanks over what is left of the longer one before it;
// a log gets plain lines.
#include "tilewright/cli/options/progress_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <system_error>

#include "tilewright/base/plain_text.h"

namespace tilewright::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kQuiet = 2s;      // most commands are done by then
constexpr auto kRedraw = 200ms;  // on a terminal
constexpr auto kLogLine = 30s;
constexpr auto kUpdate = 100ms;

// Past std::cerr, which lets no control characters through.
void show(const std::string& line) {
  const std::string text = '\r' + line;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

size_t columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size_t(size.ws_col - 1) : 100;
}

}  // namespace

ProgressLine::ProgressLine(std::string what)
    : what_(plain_text(what)), terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()) {
  try {
    shower_ = std::thread([this] { show_until_over(); });
  } catch (const std::system_error&) {
    // The work itself needs no progress line.
  }
}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (shower_.joinable()) shower_.join();
  if (width_ > 0) show(std::string(width_, ' ') + '\r');
}

void ProgressLine::update(const std::function<std::string()>& text) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  const Clock::time_point now = Clock::now();
  if (!lock || now - updated_ < kUpdate) return;
  updated_ = now;
  detail_ = plain_text(text());
}

std::string ProgressLine::line() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  return fmt::format("{}, {}{}{}", what_, duration_text(seconds), detail_.empty() ? "" : ": ", detail_);
}

void ProgressLine::show_until_over() {
  std::unique_lock lock(mutex_);
  const auto over = [this] { return over_; };
  if (changed_.wait_for(lock, terminal_ ? Clock::duration(kQuiet) : Clock::duration(kLogLine), over)) return;
  do {
    if (terminal_) {
      std::string text = line().substr(0, columns());
      const size_t width = text.size();
      text.resize(std::max(width, width_), ' ');
      show(text);
      width_ = width;
    } else {
      std::cerr << line() << std::endl;
    }
  } while (!changed_.wait_for(lock, terminal_ ? Clock::duration(kRedraw) : Clock::duration(kLogLine), over));
}

std::string count_text(int64_t done, int64_t all, const std::string& things) {
  return fmt::format("{} of {} {}", done, all, things);
}

std::string duration_text(double seconds) {
  const auto whole = int64_t(std::max(0.0, seconds + 0.5));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace tilewright::cli
