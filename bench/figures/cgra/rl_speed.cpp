// Placements per second of processor time: the environment alone (random valid actions; mask, observation and
// reset included) and training end to end, at 17 and at 64 nodes.
#include <algorithm>
#include <cstdio>

#include "placement_learning.h"
#include "tilewright/cgra_training/policy_trainer.h"

namespace {

using namespace tilewright::cgra;
using tilewright::cpu_seconds;

double environment_rate(const PlacementInstance& instance) {
  PlacementEnvironment environment(instance, {});
  tilewright::Random random(1);
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    int64_t steps = 0;
    const double start = cpu_seconds();
    while (steps < 2'000'000) {
      environment.reset();
      while (!environment.done()) {
        environment.step(environment.random_row(random));
        ++steps;
      }
    }
    best = std::max(best, double(steps) / (cpu_seconds() - start));
  }
  return best;
}

double training_rate(const PlacementInstance& instance) {
  double best = 0;
  for (int run = 0; run < 3; ++run) {
    const double start = cpu_seconds();
    const TrainingResult result = train_policy({instance}, {}, {.episodes = 2000}, {});
    best = std::max(best, double(result.curve.back().steps) / (cpu_seconds() - start));
  }
  return best;
}

}  // namespace

int main() {
  int optimum = 0;
  const PlacementInstance small = instance_of(inverse_transform(6)),
                          large = instance_of(synthetic_problem("sdf_n64_0", optimum));
  const double small_steps = environment_rate(small), large_steps = environment_rate(large);
  std::printf("environment: %.2f M steps/s at 17 nodes, %.2f M at 64\n", small_steps / 1e6,
              large_steps / 1e6);
  const double small_training = training_rate(small), large_training = training_rate(large);
  std::printf("training:    %.1f k steps/s at 17 nodes, %.1f k at 64\n", small_training / 1e3,
              large_training / 1e3);
  std::printf(
      "{\"figure\": \"rl_speed\", \"env_steps_per_s\": %.0f, \"ppo_steps_per_s\": %.0f, "
      "\"env_steps_per_s_17\": %.0f, \"env_steps_per_s_64\": %.0f, \"ppo_steps_per_s_17\": %.0f, "
      "\"ppo_steps_per_s_64\": %.0f}\n",
      std::min(small_steps, large_steps), std::min(small_training, large_training), small_steps, large_steps,
      small_training, large_training);
}
