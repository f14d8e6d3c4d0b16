// One measured trial: everything that its result depends on, and the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tilewright/base/error.h"

namespace tilewright::tune {

// Two trials with equal keys give equal results; texts are canonical (one way to write each thing), one line
// of printable ASCII each.
struct TrialKey {
  std::string workload;  // what is computed, without names
  std::string hardware;  // the machine, with the memory model
  std::string schedule;  // overlay::print_schedule, or the line of another target
  std::string tool;      // what measured, with its version: "cycle-simulator 1"
  uint64_t seed = 0;     // of the measurement; 0 where it draws nothing
  bool operator==(const TrialKey&) const = default;
  auto operator<=>(const TrialKey&) const = default;
};

struct Record {
  TrialKey key;
  std::optional<double> cost;  // cycles; nothing: the trial failed
  std::string failure;         // why, when it did
  double seconds = 0;          // that the measurement took
  int64_t unix_time_s = 0;     // when it was measured
  bool operator==(const Record&) const = default;
};

// The longest text of a record, in bytes.
inline constexpr size_t kLongestRecordText = size_t{1} << 16;

// The latest time that a record may name; later ones are not seconds.
inline constexpr int64_t kLatestRecordTime = int64_t{1} << 40;

// Reports what a record may not hold: key texts that are empty or no line of printable ASCII, texts that are
// too long, numbers that are not finite, a failure that is not UTF-8, both cost and failure, or neither.
void verify(const Record& record, const std::string& where, Diagnostics& diagnostics);

// The key on a few lines, long texts shortened, for messages.
std::string describe(const TrialKey& key);
// "1234 cycles", or that the trial failed and why.
std::string describe_result(const Record& record);

// A hash of everything in a record, stored beside it: damage to a file never shows as another result.
uint64_t checksum(const Record& record);

}  // namespace tilewright::tune
