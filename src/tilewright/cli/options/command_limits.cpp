// The time limit is a deadline. The memory limit is two: the deadline's, at seven eighths of it, and
// RLIMIT_DATA for what nobody estimated. Ctrl-C expires the deadline from its handler, which then gives way
// to the default one.
#include "tilewright/cli/options/command_limits.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <cmath>
#include <csignal>

#include "tilewright/base/process_memory.h"
#include "tilewright/cli/options/verb_options.h"

namespace tilewright::cli {
namespace {

constexpr double kDefaultShare = 0.75;              // of the memory that is available at the start
constexpr int64_t kLeastBytes = int64_t{64} << 20;  // the command itself and its libraries

std::atomic<const Deadline*> interrupted{nullptr};  // what Ctrl-C ends

void interrupt(int) {
  if (const Deadline* deadline = interrupted.load()) deadline->expire(Ending::kRequest);
}

// Allocations beyond `bytes` fail; 0: as many as the system allows. Sanitizers reserve more than any limit.
void limit_allocations([[maybe_unused]] int64_t bytes) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = bytes > 0 ? std::min(limit.rlim_max, rlim_t(bytes)) : limit.rlim_max;
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

}  // namespace

int64_t bytes_of(const std::string& option, const std::string& text) {
  const size_t unit = text.find_first_not_of("0123456789.");
  std::string name = unit == std::string::npos ? "" : text.substr(unit);
  if (name.size() > 1)
    name = name.substr(0, 1) + (name.ends_with("iB") || name == name.substr(0, 1) + "B" ? "" : "?");
  const double scale = name == "K"   ? 0x1p10
                       : name == "M" ? 0x1p20
                       : name == "G" ? 0x1p30
                       : name == "T" ? 0x1p40
                                     : 0;
  double value = 0;
  if (scale == 0 || !CLI::detail::lexical_cast(text.substr(0, unit), value) || !(value > 0) ||
      value * scale > 0x1p62) {
    throw CLI::ValidationError(option, "'" + text + "' is not a size like 800M, 16G or 2.5GiB");
  }
  if (value * scale < double(kLeastBytes))
    throw CLI::ValidationError(option, "'" + text + "' is too small: at least 64M is needed");
  return int64_t(value * scale);
}

void add_limits(CLI::App* verb, LimitOptions& limits, const std::string& name, const std::string& time) {
  verb->add_option_function<std::string>(
          name, [&limits, name](const std::string& text) { limits.time_s = seconds_of(name, text); }, time)
      ->type_name("TIME");
  verb->add_option_function<std::string>(
          "--memory-limit",
          [&limits](const std::string& text) { limits.memory_bytes = bytes_of("--memory-limit", text); },
          "Use at most this much memory: what would need more is not tried, and the result is the best so "
          "far (default: three quarters of what is available)")
      ->type_name("SIZE");
}

CommandLimits::CommandLimits(const LimitOptions& options)
    : options_(options), deadline_(options.time_s > 0 ? options.time_s : Deadline::kNoLimit) {
  if (options_.memory_bytes == 0) options_.memory_bytes = int64_t(kDefaultShare * double(available_bytes()));
  if (options_.memory_bytes > 0) {
    // The deadline's own limit is lower, so that work ends in an orderly way before allocations fail.
    deadline_.limit_memory(options_.memory_bytes / 8 * 7);
    limit_allocations(options_.memory_bytes);
  }
  interrupted = &deadline_;
  struct sigaction action {};
  action.sa_handler = interrupt;
  action.sa_flags = int(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

CommandLimits::~CommandLimits() {
  interrupted = nullptr;
  std::signal(SIGINT, SIG_DFL);
  limit_allocations(0);
}

std::string CommandLimits::reason(Ending why) const {
  switch (why) {
    case Ending::kNone:
      return "";
    case Ending::kTime:
      return "time ran out";
    case Ending::kMemory:
      return fmt::format("more than the memory limit of {:.1f} GiB (--memory-limit) would have been needed",
                         double(options_.memory_bytes) / 0x1p30);
    case Ending::kRequest:
      return "it was interrupted";
  }
  return "";
}

std::string CommandLimits::note(Ending why) const {
  if (why == Ending::kNone) return "";
  return "note: " + reason(why) + " before the search was done; this is the best so far\n";
}

}  // namespace tilewright::cli
