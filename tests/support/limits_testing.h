// What tests of limits measure: processor time of this thread (a busy machine does not stretch it) and the
// peak of the process's memory.
#pragma once

#include <time.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace tilewright {

inline double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

// Bytes in memory at most since the last reset; 0 where the system does not say.
inline int64_t peak_resident_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoll(line.substr(6)) << 10;
  }
  return 0;
}
inline void reset_peak_resident() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace tilewright
