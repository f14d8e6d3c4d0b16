// Training of placement policies, in a library that is loaded for it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/cgra/learn/training.h"

namespace tilewright {

struct PlaceTrainingRequest {
  std::filesystem::path graphs;  // a folder of graph files
  std::filesystem::path split;   // JSON with the list "train" of graphs to take; empty: all of the folder
  Fabric fabric;
  int ii = 0;  // of graphs whose file says none
  cgra::TrainingOptions options;
  std::filesystem::path library;  // of the trainer
};

// A graph file with the fabric's usual rules, at its own II or at `ii` where it says none. Errors (invalid
// input): the file, no II, the problem's.
cgra::MappingProblem read_placement_problem(const std::filesystem::path& path, const Fabric& fabric, int ii);

// Loads the trainer's library. Errors (unsupported): it cannot be loaded.
cgra::PolicyTrainer* load_placement_trainer(const std::filesystem::path& library);

// Trains one policy on all graphs. Errors (invalid input): no graphs, an unreadable one, one without II, all
// at once; (unsupported): the trainer's library cannot be loaded.
cgra::TrainingResult train_placement(const PlaceTrainingRequest& request,
                                     const cgra::TrainingWatcher& watcher);

}  // namespace tilewright
