// The limits that end a command early: --time, --memory-limit and Ctrl-C, as one Deadline for all its work.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tilewright/cli/options/verbs.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cli {

// --time (or another `name`) and --memory-limit of a verb; `time` says what is there when the time is up.
void add_limits(CLI::App* verb, LimitOptions& limits, const std::string& name, const std::string& time);

// "800M", "16G", "2.5GiB": bytes, in powers of 1024. Other texts are refused in the option's name.
int64_t bytes_of(const std::string& option, const std::string& text);

// As long as it lives, the first Ctrl-C ends `deadline`, and the second one ends the process. One at a time.
class Interruptible {
 public:
  explicit Interruptible(const Deadline& deadline);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};
// Whether Ctrl-C has ended the work of this process.
bool was_interrupted();

// Made where a verb starts, so that reading its input counts. The memory limit holds for the deadline, and as
// the process's own limit for allocations that were not estimated, which then fail (std::bad_alloc).
class CommandLimits {
 public:
  explicit CommandLimits(const LimitOptions& options);
  ~CommandLimits();
  CommandLimits(const CommandLimits&) = delete;
  CommandLimits& operator=(const CommandLimits&) = delete;

  const Deadline& deadline() const { return deadline_; }
  // "time ran out", say.
  std::string reason(Ending why) const;
  // A line for people about what ended the work early; empty if nothing did.
  std::string note() const { return note(deadline_.ending()); }
  std::string note(Ending why) const;

 private:
  LimitOptions options_;
  Deadline deadline_;
  Interruptible interruptible_{deadline_};
};

}  // namespace tilewright::cli
