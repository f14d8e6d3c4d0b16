// Tuning of a bundle: for every distinct layer on the overlay a search for faster schedules with measurements
// on the cycle simulator, and of what it finds what makes the whole network fastest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/flow/time/network_timing.h"
#include "tilewright/report/page.h"
#include "tilewright/search/deadline.h"
#include "tilewright/search/tuning/tuner.h"
#include "tilewright/tune/fleet/executor.h"
#include "tilewright/tune/records/records.h"

namespace tilewright {

struct NetworkTuneOptions {
  std::string search = "gbt";  // random, annealing, evolution, gbt, treegru
  int64_t trials = 1000;       // per distinct layer
  int batch = 32;              // trials between two lessons of the model
  uint64_t seed = 1;
  int threads = 1;  // no influence on the result
  MemoryModel memory;
  std::vector<std::string> layers;        // names of nodes; empty: all
  tune::RecordStore* records = nullptr;   // answers what is known, keeps what is measured
  tune::JobExecutor* executor = nullptr;  // measures; nullptr: this process
  const Deadline* deadline = nullptr;     // what is found by then stands
};

// Layers of one shape, which share a schedule.
struct TunedLayer {
  std::vector<std::string> names;
  std::string op;
  int64_t macs = 0;  // of one
  overlay::Schedule before, after;
  double before_cycles = 0, after_cycles = 0;  // of one, run alone
  double bound_cycles = 0;                     // no schedule is faster
  bool in_space = true;                        // whether `before` is a schedule that the search could meet
  TuningResult result;

  int64_t count() const { return int64_t(names.size()); }
};

struct NetworkTuning {
  Bundle bundle;  // with the schedules found
  std::vector<TunedLayer> layers;
  NetworkTiming before, after;  // of the whole network
  double seconds = 0;
  Ending ending = Ending::kNone;  // what stopped the search, where the deadline did
};

struct NetworkTuneProgress {
  size_t layer = 0, layers = 0;
  std::string name;
  double before_cycles = 0, bound_cycles = 0;
  TuningProgress trials;  // of this layer
};

// The database of a file, which is made if need be; nullptr for no name. Errors: those of RecordStore.
std::unique_ptr<tune::RecordStore> open_tuning_records(const std::filesystem::path& path);

// `watcher` returning false ends the search; what was found until then stands. Errors (infeasible): the
// deadline came before the bundle as it is had been timed; (invalid input): an unknown search or layer, no
// trials; (unsupported) no layer of the bundle runs on the overlay; those of the records and the executor.
NetworkTuning tune_network(Bundle bundle, const NetworkTuneOptions& options,
                           const std::function<bool(const NetworkTuneProgress&)>& watcher = {});

// A line per distinct layer, then the network.
std::string to_string(const NetworkTuning& tuning);
std::string tuning_json(const NetworkTuning& tuning);
// Layers before and after with their roofline, the searches and how they went.
Page tuning_page(const NetworkTuning& tuning);

}  // namespace tilewright
