// Runs a reader on inputs that may crash it, in forked processes with limits of time and memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

enum class Outcome {
  kAccepted,   // the reader returned
  kRejected,   // an Error about the input
  kCrashed,    // a signal, a sanitizer report, too much memory
  kWrongKind,  // an internal error (a check of our own), or an exception that is no Error
  kHung,       // over a time limit
};

struct SandboxLimits {
  std::chrono::milliseconds processor_time{10000};  // per input: a busy machine makes no hangs
  std::chrono::milliseconds per_input{300000};      // by the clock, of one that sleeps
  size_t memory_bytes =
      size_t{2} << 30;  // address space; programs with a sanitizer set its own limit instead
};

struct SandboxResult {
  std::vector<Outcome> outcomes;      // by input
  std::vector<std::string> messages;  // of crashes, where known; else empty
  int count(Outcome outcome) const;
};

// Reads input `index`; throws tilewright::Error to reject it.
using ReadInput = std::function<void(size_t index)>;

// Runs `read` for every index in [0, count), each in a child process that is replaced when it ends early.
SandboxResult run_in_sandbox(size_t count, const ReadInput& read, const SandboxLimits& limits = {});

}  // namespace tilewright
