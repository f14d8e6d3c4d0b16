// Learning from scratch on the 17-node inverse transform: ten seeds at every interval, 5,000 episodes each,
// one set of hyper-parameters; beside it as many episodes of random valid actions, training without the mask,
// and training for the published reward, whose sign is wrong.
#include <algorithm>
#include <cstdio>
#include <string>

#include "placement_learning.h"
#include "tilewright/cgra/learn/policy_mapper.h"
#include "tilewright/cgra/problem/check.h"
#include "tilewright/cgra_training/policy_trainer.h"

namespace {

using namespace tilewright;
using namespace tilewright::cgra;

constexpr int kSeeds = 10;
constexpr int64_t kEpisodes = 5000;

struct Runs {
  int at_optimum = 0, best = 0, worst = 0, random_at_optimum = 0;
  int64_t most_episodes = 0, sum_episodes = 0;
};

// Every best placement is judged by the checker before it counts.
Runs train_at(int ii, int optimum) {
  const MappingProblem problem = inverse_transform(ii);
  Runs runs;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto reached = [&](const TrainingPoint& point) {
      return point.best_makespan * instance_of(problem).bound > optimum + 0.5;
    };
    const TrainingResult result =
        train_policy({instance_of(problem)}, {}, {.episodes = kEpisodes, .seed = uint64_t(seed)}, reached);
    const GraphMapping mapping{.ii = ii, .places = result.best.front(), .routes = {}};
    const bool valid = check_mapping(problem, mapping).empty();
    const int makespan = valid ? makespan_cycles(mapping, problem.fabric.operation_latency_cycles) : 999;
    runs.best = seed == 0 ? makespan : std::min(runs.best, makespan);
    runs.worst = std::max(runs.worst, makespan);
    runs.at_optimum += makespan == optimum;
    runs.most_episodes = std::max(runs.most_episodes, result.episodes_to_best.front());
    runs.sum_episodes += result.episodes_to_best.front();
    GraphMapperOptions options{.seed = uint64_t(seed)};
    options.limits.evaluations = kEpisodes;
    runs.random_at_optimum += map_with_random_actions(problem, options).makespan == optimum;
  }
  return runs;
}

double last_mean(const EnvironmentOptions& environment, const char* name) {
  const std::vector<PlacementInstance> instances{instance_of(inverse_transform(6))};
  const double imitation = environment.reward == PlacementReward::kMakespan ? TrainingOptions{}.imitation : 0;
  const TrainingResult result =
      train_policy(instances, environment, {.episodes = kEpisodes, .imitation = imitation, .seed = 0}, {});
  const double bound = instances.front().bound;
  std::printf("%-22s", name);
  for (size_t i = 0; i < result.curve.size(); i += std::max<size_t>(1, result.curve.size() / 8))
    std::printf("  %.1f (%.0f%%)", result.curve[i].mean_makespan * bound, 100 * result.curve[i].complete);
  std::printf("\n");
  return result.curve.back().mean_makespan * bound;
}

}  // namespace

int main() {
  std::string list;
  std::printf("II  optimum  at it  worst  episodes to best (mean, most)  random at it\n");
  const int optima[][2] = {{2, 18}, {3, 19}, {4, 17}, {6, 18}};
  for (const auto& [ii, optimum] : optima) {
    const Runs runs = train_at(ii, optimum);
    std::printf("%2d  %7d  %5d  %5d  %13lld %16lld  %12d\n", ii, optimum, runs.at_optimum, runs.worst,
                static_cast<long long>(runs.sum_episodes / kSeeds),
                static_cast<long long>(runs.most_episodes), runs.random_at_optimum);
    std::fflush(stdout);
    char text[256];
    std::snprintf(text, sizeof text,
                  "%s{\"ii\": %d, \"seeds\": %d, \"at_optimum\": %d, \"episodes\": %lld, "
                  "\"random_at_optimum\": %d}",
                  list.empty() ? "" : ", ", ii, kSeeds, runs.at_optimum,
                  static_cast<long long>(runs.most_episodes), runs.random_at_optimum);
    list += text;
  }
  std::printf(
      "II 6, mean makespan of an update (share of complete episodes), nine points of %lld episodes:\n",
      static_cast<long long>(kEpisodes));
  const double masked = last_mean({}, "masked"), unmasked = last_mean({.masked = false}, "without mask"),
               paper = last_mean({.reward = PlacementReward::kPaper}, "published reward"),
               ratio = last_mean({.reward = PlacementReward::kRatio}, "its later form");
  std::printf(
      "{\"figure\": \"rl_ifft\", \"ii\": [%s], \"mean_makespan_ii6\": {\"masked\": %.2f, "
      "\"unmasked\": %.2f, \"published_reward\": %.2f, \"ratio_reward\": %.2f}}\n",
      list.c_str(), masked, unmasked, paper, ratio);
}
