// What every harness needs of Verilator: the complaint of a model that stops, its waves and its activity.
// Included by one source file per library.
#pragma once

#include <cstdint>
#include <string>

#include "activity_pins.h"
#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#elif VM_TRACE_VCD
#include "activity_counter.h"
#endif

namespace {

// Of the model that this thread runs; the first complaint counts.
thread_local std::string* current_complaint = nullptr;

void complain(const char* file, int line, const char* what) {
  if (current_complaint == nullptr || !current_complaint->empty()) return;
  *current_complaint = std::string(file) + ":" + std::to_string(line) + ": " + what;
}

// What is seen of a model from cycle to cycle. A library has what it was built for: waves, where a file is
// named; activity; or nothing. dump() after every evaluation, in turn with the clock low and high.
class Watch {
 public:
#if VM_TRACE_FST
  template <typename Top>
  Watch(VerilatedContext& context, Top& top, const char* file) {
    if (file == nullptr) return;
    context.traceEverOn(true);
    top.trace(&wave_, 99);
    wave_.open(file);
  }
  ~Watch() {
    if (wave_.isOpen()) wave_.close();
  }
  void dump() {
    if (wave_.isOpen()) wave_.dump(time_++);
  }
  const ScopeActivity* activity(int& count) { return nothing(count); }

 private:
  VerilatedFstC wave_;
  uint64_t time_ = 0;
#elif VM_TRACE_VCD
  template <typename Top>
  Watch(VerilatedContext& context, Top& top, const char*) {
    context.traceEverOn(true);
    top.trace(&changes_, 99);
    changes_.open("activity");
  }
  ~Watch() { changes_.close(); }
  void dump() { changes_.dump(time_++); }
  const ScopeActivity* activity(int& count) {
    changes_.flush();
    count = int(counter_.scopes().size());
    return counter_.scopes().data();
  }

 private:
  ActivityCounter counter_;
  VerilatedVcdC changes_{&counter_};
  uint64_t time_ = 0;
#else
  template <typename Top>
  Watch(VerilatedContext&, Top&, const char*) {}
  void dump() {}
  const ScopeActivity* activity(int& count) { return nothing(count); }
#endif

 private:
  static const ScopeActivity* nothing(int& count) {
    count = 0;
    return nullptr;
  }
};

}  // namespace

void vl_stop(const char* file, int line, const char*) { complain(file, line, "assertion failed"); }
void vl_finish(const char* file, int line, const char*) { complain(file, line, "$finish"); }
void vl_fatal(const char* file, int line, const char*, const char* message) { complain(file, line, message); }
