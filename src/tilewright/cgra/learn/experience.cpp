// Recording costs a transposition of the features per decision.
#include "tilewright/cgra/learn/experience.h"

#include <bit>
#include <cmath>

namespace tilewright::cgra {
namespace {

template <typename T>
void append_range(std::vector<T>& to, const std::vector<T>& from, size_t first, size_t count, size_t each) {
  const auto begin = from.begin() + std::ptrdiff_t(first * each);
  to.insert(to.end(), begin, begin + std::ptrdiff_t(count * each));
}

int only_row(const PlacementEnvironment& environment) {
  for (int k = 0;; ++k) {
    if (environment.valid(k) != 0)
      return k * environment.instance().width + std::countr_zero(environment.valid(k));
  }
}

void record(const PlacementEnvironment& environment, const PolicyOutput& output, int instance, int row,
            Experience& experience) {
  for (const ActionBlock& block : output.blocks) {
    for (int i = 0; i < ActionBlock::kLanes; ++i) {
      experience.valid.push_back(block.valid[i]);
      for (int f = 0; f < kActionFeatures; ++f)
        experience.features.push_back(block.valid[i] != 0 ? block.features[f][i] : 0.0f);
    }
  }
  experience.state.insert(experience.state.end(), environment.state_features(),
                          environment.state_features() + kStateFeatures);
  experience.instance.push_back(instance);
  experience.node.push_back(environment.node());
  experience.row.push_back(row);
  experience.log_probability.push_back(std::log(output.probabilities[size_t(row)]));
  experience.value.push_back(output.value);
  experience.reward.push_back(0);
}

}  // namespace

void Experience::clear() { *this = {.rows = rows}; }

void Experience::append(const Experience& from, const Episode& episode) {
  rows = from.rows;
  Episode copy = episode;
  copy.first = size();
  const size_t first = episode.first, count = episode.count, r = size_t(rows);
  append_range(features, from.features, first, count, r * kActionFeatures);
  append_range(valid, from.valid, first, count, r);
  append_range(state, from.state, first, count, kStateFeatures);
  append_range(instance, from.instance, first, count, 1);
  append_range(node, from.node, first, count, 1);
  append_range(row, from.row, first, count, 1);
  append_range(log_probability, from.log_probability, first, count, 1);
  append_range(value, from.value, first, count, 1);
  append_range(reward, from.reward, first, count, 1);
  episodes.push_back(std::move(copy));
}

void play_episode(const PolicyWeights& weights, const EncodedGraph& graph, int instance, float temperature,
                  PlacementEnvironment& environment, Random& random, Experience& experience) {
  PolicyOutput output;
  environment.reset();
  experience.rows = environment.rows();
  const size_t first = experience.size();
  while (!environment.done()) {
    int row;
    if (environment.choices() > 1) {
      evaluate_policy(weights, graph, environment, temperature, output);
      row = draw_row(output, random);
      record(environment, output, instance, row, experience);
    } else {
      row = only_row(environment);
    }
    const double reward = environment.step(row);
    if (experience.size() > first) experience.reward.back() += float(reward);
    ++experience.steps;
  }
  Episode& episode = experience.episodes.emplace_back();
  episode = {instance, first, experience.size() - first, environment.complete(), environment.makespan(), {}};
  if (episode.complete) episode.places = environment.places();
}

Advantages estimate_advantages(const Experience& experience, double lambda) {
  Advantages made;
  made.advantage.resize(experience.size());
  made.returns.resize(experience.size());
  for (const Episode& episode : experience.episodes) {
    double next_value = 0, sum = 0;
    for (size_t i = episode.first + episode.count; i-- > episode.first;) {
      const double delta = experience.reward[i] + next_value - experience.value[i];
      sum = delta + lambda * sum;
      next_value = experience.value[i];
      made.advantage[i] = float(sum);
      made.returns[i] = float(sum + experience.value[i]);
    }
  }
  return made;
}

}  // namespace tilewright::cgra
