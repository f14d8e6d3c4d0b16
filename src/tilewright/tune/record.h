// One measured trial: everything that its result depends on, and the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tilewright::tune {

// Two trials with equal keys give equal results; texts are canonical (one way to write each thing).
struct TrialKey {
  std::string workload;  // what is computed: one line, without names
  std::string hardware;  // the machine: one line, with the memory model
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

}  // namespace tilewright::tune
