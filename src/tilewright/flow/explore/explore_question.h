// The request of `explore` in plain words, and the exploration that answers it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/flow/explore/exploration.h"
#include "tilewright/flow/explore/workers.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/target/shared_folders.h"
#include "tilewright/search/deadline.h"

namespace tilewright {

struct ExploreQuestion {
  ModelFile model;                       // a model, or a bundle of 8-bit operands
  std::shared_ptr<const Bundle> bundle;  // if not null: instead of the model, whose path is only its name
  std::string device;                    // a preset's name or a file
  std::string memory;                    // as find_memory_model takes it; empty: the device's
  std::vector<int> precision = {8, 4, 2, 1};  // bits of operands
  std::filesystem::path folder;               // of the study, which is continued if it is there
  int64_t trials = 24;                        // schedules per layer and candidate
  int64_t candidates = 0;                     // per operand width; 0: no limit
  uint64_t seed = 1;
  int threads = 1;  // of closed forms
  bool changed_only = false;
  FleetRequest fleet;                  // where candidates are tuned
  const Deadline* deadline = nullptr;  // with what is tuned by then the study ends
  PageOrigin origin;                   // of the study's page
  SharedFolders folders;
};

// Errors: those of the parts (invalid input), of explore_overlays and explore_changed.
ExplorationReport answer_explore(const ExploreQuestion& question, const ExplorationWatcher& watcher = {});

}  // namespace tilewright
