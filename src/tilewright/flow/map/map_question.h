// The request of `map` in plain words, and its results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/flow/map/map_report.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/target/shared_folders.h"
#include "tilewright/report/page.h"
#include "tilewright/search/deadline.h"

namespace tilewright {

struct MapQuestion {
  ModelFile model;                              // or `workload`, or a problem among `timeloop`
  std::filesystem::path workload;               // YAML file of layers
  std::string hardware;                         // a preset's name or a file
  std::filesystem::path mapping;                // mappings to evaluate instead of searching; empty: none
  std::string dataflow;                         // names with commas, "all", or a file; empty: free
  std::vector<std::filesystem::path> timeloop;  // Timeloop's files instead of our own
  int64_t batch = 0;                            // 0: the model's
  bool equal_area = false, imperfect = false;
  std::string objective = "energy", rules;  // rules: empty: those that go with the files
  int64_t max_cycles = 0;                   // 0: no limit
  double time_s = 0;                        // of all searches together; 0: no limit
  int threads = 1;
  std::string pareto_buffer;  // a level of the array: fronts with its words, of every layer; empty: none
  bool pareto = false, unions = false, fuse = false;
  bool simulate = false;           // on the simulated chip of the row-stationary dataflow
  std::filesystem::path baseline;  // an earlier report to compare with; empty: none
  std::filesystem::path cache;     // folder that remembers mappings; empty: none
  std::string tool_version;        // of the cache's entries
  const Deadline* deadline = nullptr;
  SharedFolders folders;
  std::function<void(const Diagnostic&)> note;  // gets what is ignored in Timeloop's files; may be empty
  NetworkProgressSink progress;
};

struct MapAnswer {
  ArrayHardware hardware;
  NetworkReport report;
  std::optional<NetworkFronts> fronts;
  std::string more;                             // text on fronts, chains and comparisons
  std::map<std::string, std::string> sections;  // the same by name, each a JSON document
  int cache_hits = 0, cache_misses = 0;
  std::vector<std::string> cache_warnings;
};

// Errors (invalid input): parts that are missing or contradict each other; those of reading and mapping.
MapAnswer answer_map(const MapQuestion& question);

std::string map_text(const MapAnswer& answer, bool mappings);  // mappings: of every distinct layer
std::string map_json(const MapAnswer& answer);
std::string map_csv(const MapAnswer& answer);
std::string map_svg(const MapAnswer& answer);  // bars; where there are fronts, the network's
Page map_page(const MapAnswer& answer);
std::string map_mappings(const MapAnswer& answer);  // YAML, to be evaluated again

// The error for layers that no dataflow maps. Nothing if one dataflow maps all.
std::optional<Error> missing_layers(const MapAnswer& answer);

}  // namespace tilewright
