// The RTL against the cycle simulator: the same program from the same memory on both, everything that can be
// observed compared. The library is shared by the tests and the figure cycles_vs_rtl.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/overlay/rtl/rtl_simulator.h"
#include "tilewright/overlay/time/cycle_simulator.h"

namespace tilewright::overlay {

// A memory with data and a program in it.
struct EqualityProgram {
  std::string name;
  std::vector<std::byte> memory;
  uint64_t address = 0, count = 0;
};

struct EqualitySummary {
  int64_t programs = 0, runs = 0;  // a run is a program under one memory model
  int64_t byte_mismatches = 0, cycle_mismatches = 0, counter_mismatches = 0,
          transaction_mismatches = 0;  // runs
  uint64_t cycles = 0, transactions = 0;
  std::string first_problems;  // of the first runs that differ, a line each

  void add(const EqualitySummary& other);
  bool equal() const {
    return byte_mismatches + cycle_mismatches + counter_mismatches + transaction_mismatches == 0;
  }
};

// Ideal, fixed latency (20 cycles, a beat every second cycle), DDR.
std::vector<MemoryModel> equality_memories();

class EqualityBench {
 public:
  EqualityBench(const OverlayHardware& hardware, const RtlOptions& options);

  // Runs `program` on both engines from empty scratchpads, once for each of `memories`. Anything but a run to
  // the end on both counts as a byte mismatch.
  void compare(const EqualityProgram& program, const std::vector<MemoryModel>& memories,
               EqualitySummary& summary);

  RtlSimulator& rtl() { return rtl_; }

 private:
  std::string compare_one(const EqualityProgram& program, const MemoryModel& memory,
                          EqualitySummary& summary);

  OverlayHardware hardware_;
  RtlSimulator rtl_;
};

// Random race-free instruction streams, one per seed from `first_seed` on.
EqualityProgram stream_program(const OverlayHardware& hardware, uint64_t seed);
// A random layer with a random schedule, compiled; draws again until the overlay can run it. No memory: after
// 100 draws it could not. `of_tokens`: products of two activations, softmaxes and norms only.
EqualityProgram layer_program(const OverlayHardware& hardware, uint64_t seed, bool of_tokens = false);

// Where this build keeps compiled models, and the RTL of this source tree.
RtlOptions equality_options(const std::string& cache_folder);

}  // namespace tilewright::overlay
