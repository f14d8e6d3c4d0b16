// The policy's inference and files: probabilities only for valid actions, results that pass the checker, and
// readers that notice every kind of damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "support/cgra/generated_graphs_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/process_memory.h"
#include "tilewright/cgra/learn/experience.h"
#include "tilewright/cgra/learn/policy_mapper.h"
#include "tilewright/cgra/problem/check.h"
#include "tilewright/search/deadline.h"

namespace tilewright::cgra {
namespace {

MappingProblem flow_problem(int nodes, uint64_t seed) {
  MappingProblem problem;
  GeneratedGraph made = generate_flow_graph(nodes, 16, seed);
  problem.graph = std::move(made.graph);
  problem.ii = made.ii;
  problem.fabric = find_fabric("streaming-engine", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  problem.rules = usual_rules(problem.fabric);
  return problem;
}

TEST(Policy, ProbabilitiesAreOfValidActions) {
  const PlacementInstance instance =
      compile_instance(compile_model(flow_problem(20, 1)), PlacementOrder::kLongestTail);
  const PolicyWeights weights = random_policy(3);
  const EncodedGraph graph = encode_graph(weights, instance);
  PlacementEnvironment environment(instance, {.slots_per_tile = 2});
  PolicyOutput output;
  Random random(1);
  while (!environment.done()) {
    evaluate_policy(weights, graph, environment, 1, output);
    double sum = 0;
    for (int row = 0; row < environment.rows(); ++row) {
      const bool valid = ((environment.valid(row / instance.width) >> (row % instance.width)) & 1) != 0;
      EXPECT_EQ(output.probabilities[size_t(row)] > 0, valid);
      sum += output.probabilities[size_t(row)];
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_TRUE(std::isfinite(output.value));
    const int row = draw_row(output, random);
    ASSERT_GT(output.probabilities[size_t(row)], 0);
    environment.step(row);
  }
}

TEST(Policy, SamplesAndBeamsPassTheChecker) {
  const PolicyWeights weights = random_policy(5);
  int mapped = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const MappingProblem problem = flow_problem(12 + int(seed) * 3, seed);
    GraphMapperOptions options{.seed = seed};
    for (const int width : {0, 8}) {
      const MappingResult result = map_with_policy(weights, problem, options, {.samples = 8, .beam = width});
      if (!result.mapping) continue;
      ++mapped;
      for (const Violation& violation : check_mapping(problem, *result.mapping))
        ADD_FAILURE() << violation.text;
      EXPECT_EQ(result.makespan, makespan_cycles(*result.mapping, 3));
      EXPECT_GE(result.makespan, result.lower_bound);
      EXPECT_LE(result.counts.evaluations, 8);
    }
    options.limits.evaluations = 20;
    EXPECT_EQ(map_with_random_actions(problem, options).mapping,
              map_with_random_actions(problem, options).mapping);
  }
  EXPECT_GT(mapped, 16);
}

// The graph is looked at within the time, too: its tables take long where it is large.
TEST(Policy, NothingGoesOnWhenTheTimeIsOver) {
  const PolicyWeights weights = random_policy(5);
  const MappingProblem problem = flow_problem(32, 2);
  for (const Ending why : {Ending::kTime, Ending::kMemory, Ending::kRequest}) {
    const Deadline over;
    over.expire(why);
    GraphMapperOptions options;
    options.limits.deadline = &over;
    for (const MappingResult& result : {map_with_policy(weights, problem, options, {.samples = 8}),
                                        map_with_policy(weights, problem, options, {.samples = 8, .beam = 4}),
                                        map_with_random_actions(problem, options)}) {
      EXPECT_EQ(result.status, SearchStatus::kStopped);
      EXPECT_EQ(result.ending, why);
      EXPECT_FALSE(result.mapping);
      EXPECT_EQ(result.lower_bound, 0);
    }
    PlacementModel model = compile_model(problem);
    PlacementInstance instance = compile_instance(model, PlacementOrder::kLongestTail);
    model.deadline = instance.model.deadline = &over;
    EXPECT_THROW(compile_instance(model, PlacementOrder::kLongestTail), Expired);
    EXPECT_THROW(encode_graph(weights, instance), Expired);
  }
}

// Tables of all pairs of nodes that do not fit are not made.
TEST(Policy, TablesStayWithinTheMemory) {
  Deadline deadline;
  deadline.limit_memory(resident_bytes() + (int64_t{256} << 20));
  PlacementModel model;
  model.nodes = 32000;
  model.deadline = &deadline;
  EXPECT_THROW(compile_instance(model, PlacementOrder::kLongestTail), Expired);
  EXPECT_EQ(deadline.ending(), Ending::kMemory);
}

TEST(Policy, SaysWhatItCannotCount) {
  const auto error_of = [](const auto& change) -> std::string {
    PlacementModel model = compile_model(flow_problem(20, 1));
    change(model);
    try {
      compile_instance(model, PlacementOrder::kLongestTail);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of([](PlacementModel& model) { model.nodes = 32768; }),
            "the learned policy places up to 32767 nodes, the graph has 32768; use another method");
  EXPECT_EQ(error_of([](PlacementModel& model) { model.tiles = 65; }),
            "the learned policy places on up to 64 tiles, the fabric has 65; use another method");
  EXPECT_EQ(error_of([](PlacementModel& model) { model.ii = 65; }),
            "the learned policy places in up to 64 slots, the interval is 65; use another method");
  EXPECT_EQ(error_of([](PlacementModel& model) { model.fixed_time[3] = 40000; }),
            "the learned policy counts up to 7000 clocks, a node is fixed to 40000; use another method");
  EXPECT_EQ(error_of([](PlacementModel& model) { model.latency_cycles = 7000; }).substr(0, 77),
            "the learned policy counts up to 3500 clocks, the graph's longest chain takes ");
}

TEST(Policy, DelaysReorderNodesBehindTheirOperands) {
  Random random(4);
  int different = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const PlacementModel model = compile_model(flow_problem(32, seed));
    const auto order_of = [&](const std::vector<int>& later) {
      return compile_instance(model, PlacementOrder::kLongestTail, later).order;
    };
    std::vector<int> later;
    for (int node = 0; node < model.nodes; ++node) later.push_back(int(random.between(0, kOrderNoiseCycles)));
    const std::vector<int16_t> usual = order_of({}), order = order_of(later);
    EXPECT_EQ(order_of(std::vector<int>(size_t(model.nodes), 3)), usual);
    different += order != usual;
    std::vector<int> position(size_t(model.nodes), -1);
    for (size_t i = 0; i < order.size(); ++i) position[size_t(order[i])] = int(i);
    EXPECT_EQ(std::count(position.begin(), position.end(), -1), 0);
    for (const Edge& edge : model.edges) {
      if (edge.distance == 0) {
        EXPECT_LT(position[size_t(edge.from)], position[size_t(edge.to)]);
      }
    }
  }
  EXPECT_GT(different, 7);
}

TEST(Policy, SampledOrdersFollowTheSeed) {
  const PolicyWeights weights = random_policy(6);
  const MappingProblem problem = flow_problem(32, 3);
  const auto placed = [&](uint64_t seed, int samples) {
    return map_with_policy(weights, problem, {.seed = seed}, {.samples = samples});
  };
  EXPECT_EQ(placed(5, 2 * kSampleOrders).mapping, placed(5, 2 * kSampleOrders).mapping);
  // More samples go on where fewer ended.
  EXPECT_LE(placed(5, 4 * kSampleOrders).makespan, placed(5, 2 * kSampleOrders).makespan);
}

TEST(Policy, RecordedEpisodesAddUp) {
  const PlacementInstance instance =
      compile_instance(compile_model(flow_problem(24, 2)), PlacementOrder::kLongestTail);
  const PolicyWeights weights = random_policy(1);
  const EncodedGraph graph = encode_graph(weights, instance);
  PlacementEnvironment environment(instance, {});
  Experience experience;
  Random random(9);
  for (int i = 0; i < 5; ++i) play_episode(weights, graph, 0, 1, environment, random, experience);
  ASSERT_EQ(experience.episodes.size(), 5u);
  EXPECT_EQ(experience.valid.size(), experience.size() * size_t(experience.rows));
  EXPECT_EQ(experience.features.size(), experience.valid.size() * kActionFeatures);
  const Advantages all = estimate_advantages(experience, 1);
  for (const Episode& episode : experience.episodes) {
    double rewards = 0;
    for (size_t i = episode.first; i < episode.first + episode.count; ++i) {
      rewards += experience.reward[i];
      EXPECT_LE(experience.log_probability[i], 0);
    }
    // Without discount and at lambda 1 the first return is the sum of all rewards.
    EXPECT_NEAR(all.returns[episode.first], rewards, 1e-4);
    if (!episode.complete) continue;
    EXPECT_NEAR(-3 * rewards, episode.makespan - instance.bound, 3.01);
    Experience copy;
    copy.append(experience, episode);
    EXPECT_EQ(copy.size(), episode.count);
    EXPECT_EQ(copy.row.front(), experience.row[episode.first]);
  }
}

TEST(PolicyFile, PrintsAndParses) {
  PolicyWeights weights = random_policy(11);
  weights.origin = "a \"test\"";
  EXPECT_EQ(parse_policy(print_policy(weights), "p.json"), weights);
}

void expect_refused(const std::string& text, const std::string& message) {
  try {
    parse_policy(text, "p.json");
    FAIL() << message;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

TEST(PolicyFile, EachKindOfDamageIsNamed) {
  const std::string good = print_policy(random_policy(1));
  const auto without = [&](const std::string& what, const std::string& with) {
    std::string text = good;
    return text.replace(text.find(what), what.size(), with);
  };
  expect_refused("{", "p.json:1:2: no JSON");
  expect_refused("{}", "not a policy file");
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  for (const char* field : {"\"tilewright-policy\"", "\"critic_out_bias\": [0]"})
    expect_refused(without(field, field[1] == 'c' ? "\"critic_out_bias\": " + deep : deep),
                   "nested deeper than 64");
  expect_refused(without("tilewright-policy", "other"), "not a policy file");
  expect_refused(without("\"version\": 1", "\"version\": 2"), "version is not 1");
  expect_refused(without("\"query\"", "\"quarry\""), "tensor query is missing");
  expect_refused(without("\"logit\": [", "\"logit\": [1,"), "tensor logit should be a list of 16 numbers");
  expect_refused(without("\"critic_out_bias\": [0]", "\"critic_out_bias\": [1e300]"), "not a finite number");
  expect_refused(without("\"critic_out_bias\": [0]", "\"critic_out_bias\": [\"x\"]"), "not a finite number");
}

TEST(PolicyFile, MutationsAreReadOrRefused) {
  const std::string good = print_policy(random_policy(2));
  Random random(4);
  for (int i = 0; i < 60; ++i) {
    std::string text = good;
    const size_t at = size_t(random.between(0, int64_t(text.size()) - 1));
    if (i % 3 == 0) {
      text.resize(at);
    } else {
      text[i % 3 == 1 ? at : at % 80] = char(random.between(32, 126));
    }
    try {
      EXPECT_EQ(parse_policy(text, "p.json").tensors.size(), size_t(kPolicyTensors));
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace tilewright::cgra
