// A terminal gets '\r', the line, and blanks over what is left of the longer one before it; a log gets plain
// lines. The text is only made when it is due.
#include "tilewright/cli/options/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "tilewright/base/plain_text.h"

namespace tilewright::cli {
namespace {

// Past std::cerr, which lets no control characters through.
void show(const std::string& line) {
  const std::string text = '\r' + line;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

ProgressLine::ProgressLine(double log_every_s)
    : terminal_(isatty(STDERR_FILENO) == 1), every_s_(terminal_ ? 0.1 : log_every_s), shown_(Clock::now()) {}

ProgressLine::~ProgressLine() {
  if (terminal_ && width_ > 0) show(std::string(width_, ' ') + '\r');
}

void ProgressLine::update(const std::function<std::string()>& text) {
  const Clock::time_point now = Clock::now();
  if (std::chrono::duration<double>(now - shown_).count() < every_s_) return;
  shown_ = now;
  const std::string line = plain_text(text());
  if (terminal_) {
    const std::string blanks(width_ > line.size() ? width_ - line.size() : 0, ' ');
    show(line + blanks);
    width_ = line.size();
  } else {
    std::cerr << line << std::endl;
  }
}

std::string duration_text(double seconds) {
  const auto whole = int64_t(std::max(0.0, seconds + 0.5));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace tilewright::cli
