// A copy of the test's process in which the system starts a few threads and then no more, as under
// --memory-limit with many threads.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <functional>
#include <string>

namespace tilewright {

// More than there is room for.
constexpr int kManyThreads = 100;

// Whether `body` holds there. A thread takes 8 MiB of address space for its stack; 45 MiB are left, for five
// threads and some memory to work with, and a few more stacks may lie in the C library's cache. Sanitizers
// take what they need when they need it: with them, there are as many threads as anywhere.
inline bool holds_with_few_threads(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    std::ifstream status("/proc/self/status");
    rlim_t kilobytes = 0;
    for (std::string word; kilobytes == 0 && status >> word;) {
      if (word == "VmData:") status >> kilobytes;
    }
    rlimit limit{};
    ::getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = std::min(limit.rlim_max, (kilobytes << 10) + (rlim_t{45} << 20));
    ::setrlimit(RLIMIT_DATA, &limit);
#endif
    bool holds = false;
    try {
      holds = body();
    } catch (const std::exception&) {  // what a test must not let out
    }
    ::_exit(holds ? 0 : 1);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace tilewright
