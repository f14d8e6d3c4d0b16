// Processor time of figures: what other programs of the machine take does not count.
#pragma once

#include <algorithm>
#include <ctime>
#include <limits>

namespace tilewright {

// Of the whole process, all of its threads.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

template <typename Body>
double cpu_seconds_of(Body&& body) {
  const double start = cpu_seconds();
  body();
  return cpu_seconds() - start;
}

template <typename Body>
double best_of(int runs, Body&& body) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) best = std::min(best, cpu_seconds_of(body));
  return best;
}

}  // namespace tilewright
