// Episodes played by a policy, recorded for learning: flat arrays that training hands to its tensors as they
// are.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/cgra/learn/policy_network.h"

namespace tilewright::cgra {

struct Episode {
  int instance = 0;
  size_t first = 0, count = 0;  // its decisions
  bool complete = false;
  int makespan = 0;
  std::vector<Place> places;  // where complete
};

// Decisions between at least two actions; forced placements are steps, not decisions. Rewards of forced steps
// belong to the decision before them.
struct Experience {
  int rows = 0;
  std::vector<float> features;  // [decision][row][kActionFeatures]
  std::vector<float> valid;     // [decision][row], 0 or 1
  std::vector<float> state;     // [decision][kStateFeatures]
  std::vector<int64_t> instance, node, row;
  std::vector<float> log_probability, value, reward;
  std::vector<Episode> episodes;
  int64_t steps = 0;  // placements

  size_t size() const { return row.size(); }
  void clear();
  // Copies one episode of another experience with equal rows.
  void append(const Experience& from, const Episode& episode);
};

// Plays one episode from environment.reset() by draws at `temperature` and appends it.
void play_episode(const PolicyWeights& weights, const EncodedGraph& graph, int instance, float temperature,
                  PlacementEnvironment& environment, Random& random, Experience& experience);

// Generalised advantage estimation (Schulman and others, 2016) without discount; returns = advantage + value.
struct Advantages {
  std::vector<float> advantage, returns;  // per decision
};
Advantages estimate_advantages(const Experience& experience, double lambda);

}  // namespace tilewright::cgra
