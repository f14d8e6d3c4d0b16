// The trainer: its tensors say what the fused forward pass says, training shortens schedules, masks and the
// true reward matter, and a seed fixes the result.
#include <gtest/gtest.h>

#include <string>

#include "support/cgra/generated_graphs_testing.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/problem/check.h"
#include "tilewright/cgra_training/policy_trainer.h"

namespace tilewright::cgra {
namespace {

MappingProblem line_problem(DataflowGraph graph, int ii) {
  MappingProblem problem;
  problem.graph = std::move(graph);
  problem.ii = ii;
  problem.fabric = find_fabric("streaming-engine", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  problem.rules = usual_rules(problem.fabric);
  return problem;
}

MappingProblem flow_problem(int nodes, uint64_t seed) {
  GeneratedGraph made = generate_flow_graph(nodes, 16, seed);
  return line_problem(std::move(made.graph), made.ii);
}

PlacementInstance instance_of(const MappingProblem& problem) {
  return compile_instance(compile_model(problem), PlacementOrder::kLongestTail);
}

TEST(Training, TensorsAgreeWithTheFusedForwardPass) {
  std::vector<PlacementInstance> instances{instance_of(flow_problem(12, 1)),
                                           instance_of(flow_problem(30, 2))};
  const PolicyWeights weights = random_policy(4);
  Experience experience;
  Random random(1);
  for (int i = 0; i < 2; ++i) {
    PlacementEnvironment environment(instances[size_t(i)], {});
    const EncodedGraph graph = encode_graph(weights, instances[size_t(i)]);
    for (int k = 0; k < 3; ++k) play_episode(weights, graph, i, 1, environment, random, experience);
  }
  ASSERT_GT(experience.size(), 60u);
  const Replayed replayed = replay(weights, instances, experience);
  for (size_t i = 0; i < experience.size(); ++i) {
    EXPECT_NEAR(replayed.log_probability[i], experience.log_probability[i], 2e-4);
    EXPECT_NEAR(replayed.value[i], experience.value[i], 2e-4);
  }
}

MappingProblem ifft(int ii) {
  return line_problem(read_graph_file(std::string(TILEWRIGHT_SOURCE_DIR) + "/models/cgra/ifft.json").graph,
                      ii);
}

// What carries anything between nodes is still nought after training, and everything else has learned.
TEST(Training, PlainPerceptronStaysWithoutTheGraph) {
  const std::vector<PlacementInstance> instances{instance_of(flow_problem(20, 1))};
  const PolicyWeights before = random_policy(3);
  const PolicyWeights after =
      train_policy(instances, {}, {.episodes = 200, .form = PolicyForm::kNoGraph, .seed = 3}, {}).weights;
  for (const int tensor : {kOperands0, kConsumers0, kMates0, kOperands1, kConsumers1, kMates1, kAttended}) {
    for (const float weight : after.tensors[size_t(tensor)]) ASSERT_EQ(weight, 0.0f) << tensor;
  }
  for (const int tensor : {kNodeIn, kSelf0, kSelf1, kContext, kAction, kLogit})
    EXPECT_NE(after.tensors[size_t(tensor)], before.tensors[size_t(tensor)]) << tensor;
}

TEST(Training, FindsTheOptimumOfTheInverseTransform) {
  const MappingProblem problem = ifft(4);
  const TrainingResult result = train_policy({instance_of(problem)}, {}, {.episodes = 3000, .seed = 1}, {});
  EXPECT_EQ(result.best_makespan.front(), 17);
  const GraphMapping mapping{.ii = 4, .places = result.best.front(), .routes = {}};
  EXPECT_TRUE(check_mapping(problem, mapping).empty());
  EXPECT_LT(result.curve.back().mean_makespan, 0.9 * result.curve.front().mean_makespan);
}

TEST(Training, TheRewardOfTheWrongSignLengthensSchedules) {
  const std::vector<PlacementInstance> instances{instance_of(ifft(6))};
  const TrainingResult result = train_policy(instances, {.reward = PlacementReward::kPaper},
                                             {.episodes = 1500, .imitation = 0, .seed = 1}, {});
  EXPECT_GT(result.curve.back().mean_makespan, result.curve.front().mean_makespan);
}

TEST(Training, SameSeedSameResult) {
  const std::vector<PlacementInstance> instances{instance_of(flow_problem(16, 3))};
  const TrainingOptions options{.episodes = 300, .seed = 6};
  EXPECT_EQ(train_policy(instances, {}, options, {}).weights,
            train_policy(instances, {}, options, {}).weights);
}

}  // namespace
}  // namespace tilewright::cgra
