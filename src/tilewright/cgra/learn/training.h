// Training of a placement policy: options and result. The trainer itself is a separate library (module
// `cgra_training`, libtorch), which flow/place/place_learning.cpp loads when it is needed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/cgra/learn/experience.h"

namespace tilewright::cgra {

enum class PolicyForm : uint8_t {
  kGraph,   // messages along edges and attention over all nodes
  kNoGraph  // a plain perceptron: neither, so that the policy sees the node, the actions and the state alone
};

// Proximal policy optimisation (Schulman and others, 2017) with invalid-action masks, and imitation of the
// best episodes of every graph so far (after Oh and others, "Self-imitation learning", 2018). One set of
// values for all uses.
struct TrainingOptions {
  int64_t episodes = 5000;
  int episodes_per_update = 50;  // or episodes_per_graph for every graph, if that is more
  int episodes_per_graph = 4;
  int epochs = 3, minibatch = 700;  // decisions, about
  double learning_rate = 3e-3, last_learning_rate = 1e-4;
  double clip = 0.2;
  double lambda = 0.95;
  double entropy = 0.01, last_entropy = 0.0005;
  double value_weight = 0.5;
  double imitation = 0.3;  // weight of the imitation loss
  int elites = 8;          // episodes kept per graph to imitate
  double most_gradient = 0.5;
  PolicyForm form = PolicyForm::kGraph;
  uint64_t seed = 0;
  std::optional<PolicyWeights> start;  // otherwise random_policy(seed)
};

struct TrainingPoint {
  int64_t episodes = 0, steps = 0;
  double seconds = 0;        // of this thread's processor time
  double mean_makespan = 0;  // of the update's complete episodes, relative to their graphs' bounds
  double best_makespan = 0;  // mean over the graphs of the best so far, relative to the bound
  double complete = 0;       // share of the update's episodes
  double entropy = 0;        // nats per decision
};

struct TrainingResult {
  PolicyWeights weights;
  std::vector<TrainingPoint> curve;
  std::vector<std::vector<Place>> best;   // per graph; empty: no complete episode
  std::vector<int> best_makespan;         // 0: none
  std::vector<int64_t> episodes_to_best;  // episodes played, of all graphs, when it was found
};

// Called after every update; false ends the training.
using TrainingWatcher = std::function<bool(const TrainingPoint&)>;

// All instances have equal widths. Runs on the calling thread. The same seed gives the same result with the
// same libtorch and BLAS.
using PolicyTrainer = TrainingResult(const std::vector<PlacementInstance>& instances,
                                     const EnvironmentOptions& environment, const TrainingOptions& options,
                                     const TrainingWatcher& watcher);

}  // namespace tilewright::cgra
