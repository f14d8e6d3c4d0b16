// What every harness needs of Verilator: the complaint of a model that stops, and its waves. Included by one
// source file per library.
#pragma once

#include <cstdint>
#include <string>

#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif

namespace {

// Of the model that this thread runs; the first complaint counts.
thread_local std::string* current_complaint = nullptr;

void complain(const char* file, int line, const char* what) {
  if (current_complaint == nullptr || !current_complaint->empty()) return;
  *current_complaint = std::string(file) + ":" + std::to_string(line) + ": " + what;
}

// The waves of a model in a file; none without a file, or in a library that was built without waves.
class Waves {
 public:
#if VM_TRACE_FST
  template <typename Top>
  Waves(VerilatedContext& context, Top& top, const char* file) {
    if (file == nullptr) return;
    context.traceEverOn(true);
    top.trace(&wave_, 99);
    wave_.open(file);
  }
  ~Waves() {
    if (wave_.isOpen()) wave_.close();
  }
  void dump() {
    if (wave_.isOpen()) wave_.dump(time_++);
  }

 private:
  VerilatedFstC wave_;
  uint64_t time_ = 0;
#else
  template <typename Top>
  Waves(VerilatedContext&, Top&, const char*) {}
  void dump() {}
#endif
};

}  // namespace

void vl_stop(const char* file, int line, const char*) { complain(file, line, "assertion failed"); }
void vl_finish(const char* file, int line, const char*) { complain(file, line, "$finish"); }
void vl_fatal(const char* file, int line, const char*, const char* message) { complain(file, line, message); }
