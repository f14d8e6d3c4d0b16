// One policy, trained on 30 synthetic graphs (models/cgra/transfer_split.json, fixed before training), on the
// other 15, five of them larger than any it has seen: mean gap of the best of 64 and 1,000 placements to the
// proven optimum, beside random placement, annealing and evolution at equal evaluations and annealing at
// equal processor time, and the exact mapper's time.
#include <cstdio>
#include <functional>
#include <string>

#include "placement_learning.h"
#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/heuristic/sampling_mappers.h"
#include "tilewright/cgra/learn/policy_mapper.h"
#include "tilewright/cgra/problem/check.h"

namespace {

using namespace tilewright;
using namespace tilewright::cgra;

constexpr int kSeeds = 5;

struct Score {
  double gap = 0, seconds = 0;  // means over graphs and seeds
  int missing = 0;              // runs without a mapping; they count as a gap of 1
};

using Run = std::function<MappingResult(const MappingProblem&, uint64_t seed)>;

Score score_of(const std::vector<std::string>& graphs, const Run& run, int seeds = kSeeds) {
  Score score;
  for (const std::string& name : graphs) {
    int optimum = 0;
    const MappingProblem problem = synthetic_problem(name, optimum);
    for (int seed = 0; seed < seeds; ++seed) {
      const double start = cpu_seconds();
      const MappingResult result = run(problem, uint64_t(seed));
      score.seconds += (cpu_seconds() - start) / seeds / double(graphs.size());
      const bool valid = result.mapping && check_mapping(problem, *result.mapping).empty();
      score.missing += !valid;
      const double gap = valid ? double(result.makespan - optimum) / optimum : 1;
      score.gap += gap / seeds / double(graphs.size());
    }
  }
  return score;
}

Run with_evaluations(const Mapper& mapper, int64_t evaluations) {
  return [=](const MappingProblem& problem, uint64_t seed) {
    GraphMapperOptions options{.seed = seed};
    options.limits.evaluations = evaluations;
    return mapper(problem, options);
  };
}

Score print(const char* name, const Score& score) {
  std::printf("%-34s %7.2f%%  %9.4f s%s\n", name, 100 * score.gap, score.seconds,
              score.missing == 0 ? "" : "  (some runs without a mapping)");
  std::fflush(stdout);
  return score;
}

}  // namespace

int main() {
  const PolicyWeights weights = read_policy(TILEWRIGHT_SOURCE_DIR "/models/cgra/policy.json");
  const std::vector<std::string> test = split_part("test");
  const Mapper policy = [&](const MappingProblem& problem, const GraphMapperOptions& options) {
    return map_with_policy(weights, problem, options, {});
  };
  std::printf("%-34s %8s  %11s\n", "15 unseen graphs", "mean gap", "per graph");
  const Score learned = print("policy, 64 samples", score_of(test, with_evaluations(policy, 64)));
  const Score thousand = print("policy, 1000 samples", score_of(test, with_evaluations(policy, 1000)));
  print("policy, beam of 64", score_of(
                                  test,
                                  [&](const MappingProblem& problem, uint64_t seed) {
                                    return map_with_policy(weights, problem, {.seed = seed}, {.beam = 64});
                                  },
                                  1));
  print("random actions, 64", score_of(test, with_evaluations(map_with_random_actions, 64)));
  print("random actions, 1000", score_of(test, with_evaluations(map_with_random_actions, 1000)));
  const Score random = print("random, 64", score_of(test, with_evaluations(map_random, 64)));
  const Score random_1000 = print("random, 1000", score_of(test, with_evaluations(map_random, 1000)));
  const Score annealing = print("annealing, 64", score_of(test, with_evaluations(map_annealing, 64)));
  const Score annealing_1000 =
      print("annealing, 1000", score_of(test, with_evaluations(map_annealing, 1000)));
  const Score evolution = print("evolution, 64", score_of(test, with_evaluations(map_evolution, 64)));
  const Score evolution_1000 =
      print("evolution, 1000", score_of(test, with_evaluations(map_evolution, 1000)));
  const Score timed = print("annealing, the policy's time (64)",
                            score_of(test, [&](const MappingProblem& problem, uint64_t seed) {
                              GraphMapperOptions options{.seed = seed};
                              options.limits.seconds = std::max(0.001, learned.seconds);
                              return map_annealing(problem, options);
                            }));
  const Score exact = print("exact (with proof)", score_of(
                                                      test,
                                                      [](const MappingProblem& problem, uint64_t seed) {
                                                        return map_exact(problem, {.seed = seed});
                                                      },
                                                      1));
  const Score trained =
      print("policy on its 30 graphs, 64", score_of(split_part("train"), with_evaluations(policy, 64)));
  std::printf(
      "{\"figure\": \"rl_transfer\", \"mean_gap\": %.4f, \"annealing_gap_64\": %.4f, "
      "\"evolution_gap_64\": %.4f, \"random_gap_64\": %.4f, \"mean_gap_1000\": %.4f, "
      "\"annealing_gap_1000\": %.4f, \"evolution_gap_1000\": %.4f, \"random_gap_1000\": %.4f, "
      "\"annealing_gap_equal_cpu\": %.4f, \"policy_seconds\": %.4f, \"exact_seconds\": %.4f, "
      "\"train_gap\": %.4f}\n",
      learned.gap, annealing.gap, evolution.gap, random.gap, thousand.gap, annealing_1000.gap,
      evolution_1000.gap, random_1000.gap, timed.gap, learned.seconds, exact.seconds, trained.gap);
}
