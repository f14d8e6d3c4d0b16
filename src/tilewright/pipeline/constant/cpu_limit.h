// Processor time of this thread: what other programs of the machine take does not count.
#pragma once

#include <ctime>

namespace tilewright::pipeline {

class CpuLimit {
 public:
  explicit CpuLimit(double seconds) : start_(now()), seconds_(seconds) {}
  double used() const { return now() - start_; }
  bool over() const { return used() >= seconds_; }

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
  }
  double start_, seconds_;
};

}  // namespace tilewright::pipeline
