// The time limit is a deadline. The memory limit is two: the deadline's, at seven eighths of it, and
// RLIMIT_DATA for what nobody estimated. Ctrl-C expires the deadline from its handler, which then gives way
// to the default one.
#include "tilewright/cli/options/command_limits.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <cmath>
#include <csignal>

#include "tilewright/base/error.h"
#include "tilewright/base/process_memory.h"
#include "tilewright/cli/options/word_checks.h"
#include "tilewright/flow/target/limit_words.h"

namespace tilewright::cli {
namespace {

constexpr double kDefaultShare = 0.75;  // of the memory that is available at the start

std::atomic<const Deadline*> interruptible{nullptr};  // what Ctrl-C ends
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void interrupt(int) {
  interrupted = true;
  if (const Deadline* deadline = interruptible.load()) deadline->expire(Ending::kRequest);
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
  try {
    return bytes_in(text);
  } catch (const Error& error) {
    throw CLI::ValidationError(option, error.what());
  }
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
}

CommandLimits::~CommandLimits() { limit_allocations(0); }

Interruptible::Interruptible(const Deadline& deadline) {
  interruptible = &deadline;
  struct sigaction action {};
  action.sa_handler = interrupt;
  action.sa_flags = int(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

Interruptible::~Interruptible() {
  std::signal(SIGINT, SIG_DFL);
  interruptible = nullptr;
}

bool was_interrupted() { return interrupted; }

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
