// One program on every engine - the functional simulator, the plain interpreter of the page, the cycle
// simulator, the RTL - and in the checker: what it leaves behind must be the same everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "equality.h"

namespace tilewright::overlay {

struct ComparisonSummary {
  int64_t programs = 0;
  int64_t differences = 0;  // in bytes, cycles or counters
  int64_t refused = 0;      // by an engine, or by the checker
  std::string first_problems;
  void add(const ComparisonSummary& other);
};

class EngineComparison {
 public:
  // With `rtl`: against the RTL as well.
  EngineComparison(const OverlayHardware& hardware, const std::optional<RtlOptions>& rtl);

  // A random stream of instructions with and without random values in all fields that mean nothing; some of
  // its loops are made empty.
  void compare_dont_cares(uint64_t seed, ComparisonSummary& summary);
  // A loop nest as the public runtime emits it, with and without random values in what its kernels do not
  // read of their micro-ops. Plain hardware only.
  void compare_public(uint64_t seed, ComparisonSummary& summary);

 private:
  struct Outcome;
  Outcome run(const EqualityProgram& program, const MemoryModel& memory);
  std::string check(const EqualityProgram& program) const;

  OverlayHardware hardware_;
  std::optional<RtlSimulator> rtl_;
};

}  // namespace tilewright::overlay
