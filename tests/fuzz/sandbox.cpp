#include "fuzz/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <new>

#include "tilewright/base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#define TILEWRIGHT_HAS_ASAN 1
#else
#define TILEWRIGHT_HAS_ASAN 0
#endif

namespace tilewright {
namespace {

using std::chrono::milliseconds;

// Inputs per child while nothing goes wrong: under a sanitizer a fork takes as long as fifty of them.
constexpr int kBatch = 512;

// What a child sends for each input it has finished: an outcome and a message of this length.
struct Report {
  Outcome outcome;
  char message[252];
};

Report read_one(const ReadInput& read, size_t index) {
  Report report{};
  const auto failed = [&](Outcome outcome, const char* text) {
    report.outcome = outcome;
    std::snprintf(report.message, sizeof report.message, "%s", text);
  };
  try {
    read(index);
    report.outcome = Outcome::kAccepted;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) {
      failed(Outcome::kWrongKind, error.what());
    } else {
      report.outcome = Outcome::kRejected;
    }
  } catch (const std::bad_alloc&) {
    failed(Outcome::kCrashed, "out of memory");
  } catch (const std::exception& error) {
    failed(Outcome::kWrongKind, error.what());
  }
  return report;
}

[[noreturn]] void run_child(int output, size_t first, size_t last, const ReadInput& read,
                            const SandboxLimits& limits) {
  if (!TILEWRIGHT_HAS_ASAN) {  // its shadow memory takes terabytes of address space
    const rlimit memory{limits.memory_bytes, limits.memory_bytes};
    setrlimit(RLIMIT_AS, &memory);
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (size_t index = first; index < last; ++index) {
    const Report report = read_one(read, index);
    if (write(output, &report, sizeof report) != ssize_t(sizeof report)) _exit(3);
  }
  _exit(0);
}

enum class Receive { kReport, kEnded, kTimeout };

// The processor time of a process; zero once it has ended.
milliseconds processor_time(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return milliseconds(0);
  return milliseconds(used.tv_sec * 1000 + used.tv_nsec / 1000000);
}

Receive receive(int input, pid_t child, Report& report, const SandboxLimits& limits) {
  auto* bytes = reinterpret_cast<char*>(&report);
  size_t have = 0;
  const milliseconds used_before = processor_time(child);
  const auto start = std::chrono::steady_clock::now();
  while (have < sizeof report) {
    if (processor_time(child) - used_before >= limits.processor_time ||
        std::chrono::steady_clock::now() - start >= limits.per_input)
      return Receive::kTimeout;
    pollfd wait{input, POLLIN, 0};
    if (poll(&wait, 1, 200) <= 0) continue;
    const ssize_t got = ::read(input, bytes + have, sizeof report - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Receive::kEnded;
    have += size_t(got);
  }
  return Receive::kReport;
}

}  // namespace

int SandboxResult::count(Outcome outcome) const {
  return int(std::count(outcomes.begin(), outcomes.end(), outcome));
}

SandboxResult run_in_sandbox(size_t count, const ReadInput& read, const SandboxLimits& limits) {
  SandboxResult result;
  result.outcomes.reserve(count);
  while (result.outcomes.size() < count) {
    const size_t first = result.outcomes.size();
    const size_t last = std::min(count, first + kBatch);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::kInternal, "no pipe for the sandbox");
    const pid_t child = fork();
    if (child < 0) throw Error(ErrorKind::kInternal, "no process for the sandbox");
    if (child == 0) {
      close(ends[0]);
      run_child(ends[1], first, last, read, limits);
    }
    close(ends[1]);
    Receive received = Receive::kReport;
    while (result.outcomes.size() < last && received == Receive::kReport) {
      Report report{};
      received = receive(ends[0], child, report, limits);
      if (received == Receive::kTimeout) kill(child, SIGKILL);
      const Outcome outcome = received == Receive::kReport  ? report.outcome
                              : received == Receive::kEnded ? Outcome::kCrashed
                                                            : Outcome::kHung;
      result.outcomes.push_back(outcome);
      result.messages.emplace_back(received == Receive::kReport ? report.message : "");
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (received == Receive::kEnded) {
      result.messages.back() = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                                   : "exit code " + std::to_string(WEXITSTATUS(status));
    }
  }
  return result;
}

}  // namespace tilewright
