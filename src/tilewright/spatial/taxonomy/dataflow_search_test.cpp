#include "tilewright/spatial/taxonomy/dataflow_search.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tilewright/base/random.h"
#include "tilewright/spatial/taxonomy/bound_dataflow.h"
#include "tilewright/spatial/taxonomy/random_layer_testing.h"

namespace tilewright::study {
namespace {

const std::filesystem::path kDataflows = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "dataflows";

StudyMachine small_machine(int64_t pes) {
  StudyMachine machine;
  machine.name = "small";
  machine.pes = pes;
  return machine;
}

Storage storage_of(int64_t buffer_words, int64_t register_file_words) {
  Storage storage;
  storage.buffer_words = buffer_words;
  storage.register_file_words = register_file_words;
  return storage;
}

struct Lowest {
  double energy = std::numeric_limits<double>::infinity();
  double active_pes = 0;  // the most among points of that energy
  double most_pes = 0;    // of all points
  double edp = std::numeric_limits<double>::infinity();
};

// Every point of the ranges, with the expressions as written.
Lowest enumerate(const BoundDataflow& bound, const LayerShape& layer, const AccessEnergy& energy) {
  const double cost[kLevels] = {energy.dram, energy.buffer, energy.array, energy.register_file};
  std::vector<double> point(bound.upper.size(), 1), values(bound.graph.nodes().size());
  Lowest lowest;
  for (;;) {
    evaluate(bound.graph, point, values);
    bool feasible = true;
    for (const Comparison& c : bound.constraints) {
      feasible = feasible && holds(c.relation, values[size_t(c.left)], values[size_t(c.right)]);
    }
    if (feasible) {
      double sum = 0;
      for (size_t level = 0; level < kLevels; ++level) {
        for (const int node : bound.objective[level]) sum += cost[level] * values[size_t(node)];
      }
      const double active = values[size_t(bound.active_pes)], tie = 1e-11 * sum, macs = double(layer.macs());
      lowest.most_pes = std::max(lowest.most_pes, active);
      lowest.edp = std::min(lowest.edp, (sum + macs * energy.alu) * macs / active);
      if (sum < lowest.energy - tie) {
        lowest.energy = sum;
        lowest.active_pes = active;
      } else if (sum <= lowest.energy + tie) {
        lowest.active_pes = std::max(lowest.active_pes, active);
      }
    }
    size_t v = 0;
    while (v < point.size() && point[v] == bound.upper[v]) point[v++] = 1;
    if (v == point.size()) return lowest;
    ++point[v];
  }
}

class ExactSearch : public testing::TestWithParam<const char*> {};

TEST_P(ExactSearch, EqualsEnumeration) {
  const Dataflow flow = read_dataflow(kDataflows / (std::string(GetParam()) + ".yaml"));
  constexpr uint64_t kSeed = 51;
  SCOPED_TRACE(testing::Message() << GetParam() << ", seed " << kSeed);
  Random random(kSeed);
  int feasible = 0;
  for (int round = 0; round < 60; ++round) {
    const LayerShape layer = random_layer(random);
    const StudyMachine machine = small_machine(random.between(1, 40));
    const Storage storage = storage_of(random.between(4, 400), random.between(2, 60));
    SearchOptions options;
    options.reported_objective = random.chance(0.3);
    const BoundDataflow bound = bind_dataflow(flow, layer, machine, storage, options);
    const Lowest expected = enumerate(bound, layer, machine.energy);
    const DataflowResult result = best_mapping(flow, layer, machine, storage, options);
    if (std::isinf(expected.energy)) {
      EXPECT_EQ(result.status, BoxSearchStatus::kInfeasible) << "round " << round;
      EXPECT_FALSE(result.reasons.empty()) << "round " << round;
      continue;
    }
    ++feasible;
    ASSERT_EQ(result.status, BoxSearchStatus::kOptimal) << "round " << round;
    EXPECT_NEAR(result.proof.value, expected.energy, 1e-9 * expected.energy) << "round " << round;
    EXPECT_EQ(result.proof.bound, result.proof.value);
    EXPECT_EQ(result.active_pes, expected.active_pes) << "round " << round;
    const MappingEvaluation again =
        evaluate_mapping(flow, layer, machine, storage, result.variables, options);
    EXPECT_TRUE(again.broken.empty());
    EXPECT_NEAR(again.objective, expected.energy, 1e-9 * expected.energy) << "round " << round;
    options.objective = MapObjective::kLatency;
    const DataflowResult fastest = best_mapping(flow, layer, machine, storage, options);
    EXPECT_EQ(fastest.status, BoxSearchStatus::kOptimal) << "round " << round;
    EXPECT_NEAR(fastest.active_pes, expected.most_pes, 1e-9 * expected.most_pes) << "round " << round;
    options.objective = MapObjective::kEdp;
    const DataflowResult product = best_mapping(flow, layer, machine, storage, options);
    EXPECT_EQ(product.status, BoxSearchStatus::kOptimal) << "round " << round;
    EXPECT_NEAR(product.proof.value, expected.edp, 1e-9 * expected.edp) << "round " << round;
    EXPECT_EQ(product.proof.bound, product.proof.value);
  }
  EXPECT_GE(feasible, 20);
}

INSTANTIATE_TEST_SUITE_P(Taxonomy, ExactSearch, every_dataflow(), dataflow_test_name);

// Layers as networks have them, strides beyond the filter and groups included, on arrays of 64 to 4,096 PEs.
TEST(DataflowSearch, ProvesLargeLayersWithFewBoxes) {
  constexpr uint64_t kSeed = 52;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  const StudyMachine study = study_machine(
      read_array_hardware(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware/eyeriss-256.yaml"));
  const std::vector<Dataflow> flows = read_dataflows(kDataflows, taxonomy_names());
  const int64_t channels[] = {3, 24, 64, 127, 192, 512, 1000, 4096, 9216}, filters[] = {1, 3, 5, 7, 11};
  for (int round = 0; round < 60; ++round) {
    const int64_t c = channels[random.between(0, 8)], m = channels[random.between(0, 8)];
    const bool depthwise = random.chance(0.1);
    const int64_t size = filters[random.between(0, 4)], stride = random.between(1, 4);
    const LayerShape layer = square_layer("layer", depthwise ? c : 1, int64_t{1} << random.between(0, 6),
                                          size + stride * random.between(0, 55), size, depthwise ? 1 : c,
                                          depthwise ? 1 : m, stride);
    StudyMachine machine = study;
    machine.pes = int64_t{64} << random.between(0, 6);
    for (const Dataflow& flow : flows) {
      const Storage storage = equal_area_storage(machine, flow.register_file_bytes);
      const DataflowResult result = best_mapping(flow, layer, machine, storage);
      EXPECT_NE(result.status, BoxSearchStatus::kStopped) << flow.name << ", round " << round;
      EXPECT_LT(result.proof.nodes, 50000) << flow.name << ", round " << round;
    }
  }
}

TEST(DataflowSearch, NamesTheConstraintThatCannotHold) {
  const Dataflow flow = read_dataflow(kDataflows / "osc.yaml");
  const LayerShape layer = square_layer("layer", 1, 4, 9, 3, 8, 16, 1);
  const DataflowResult result = best_mapping(flow, layer, small_machine(16), storage_of(100, 1));
  EXPECT_EQ(result.status, BoxSearchStatus::kInfeasible);
  ASSERT_EQ(result.reasons.size(), 1u);
  EXPECT_EQ(result.reasons[0], "buffer_capacity ((m + n)*C*R*S <= Q): needs at least 144, has at most 100");
}

TEST(DataflowSearch, NamesConstraintsThatCannotHoldTogether) {
  const Dataflow flow = parse_dataflow(
      "name: pair\nregister_file_bytes: 2\nvariables: {a: M, b: M}\naccesses: {dram: {input: I/(a*b)}}\n"
      "constraints:\n  small: a*b <= 6\n  harmless: a + b <= 100\n  far: a >= 4\n  near: b >= 3\n"
      "active_pes: a\n",
      "pair.yaml");
  const LayerShape layer = square_layer("layer", 1, 1, 4, 1, 8, 16, 1);
  const DataflowResult result = best_mapping(flow, layer, small_machine(16), storage_of(100, 1));
  EXPECT_EQ(result.status, BoxSearchStatus::kInfeasible);
  ASSERT_EQ(result.reasons.size(), 3u);
  EXPECT_EQ(result.reasons[0], "small (a*b <= 6): the sides range over 1..256 and 6..6");
  EXPECT_EQ(result.reasons[1], "far (a >= 4): the sides range over 1..16 and 4..4");
  EXPECT_EQ(result.reasons[2], "near (b >= 3): the sides range over 1..16 and 3..3");
}

TEST(DataflowSearch, RefusesCountsWithoutMeaning) {
  const auto run = [](const std::string& count, const std::string& upper) {
    const Dataflow flow = parse_dataflow("name: odd\nregister_file_bytes: 2\nvariables: {a: " + upper +
                                             "}\naccesses: {dram: {input: " + count + "}}\nactive_pes: a\n",
                                         "odd.yaml");
    try {
      best_mapping(flow, square_layer("layer", 1, 1, 4, 1, 8, 16, 1), small_machine(16), storage_of(100, 1));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(run("10 - I - a", "M"),
            "dataflow 'odd', layer 'layer' (accesses.dram.input): the count is -134 at the best mapping");
  EXPECT_EQ(run("I*a", "1000000000*M"), "");
  EXPECT_EQ(run("I", "M/(C - 8)"),
            "dataflow 'odd', layer 'layer' (variables.a): the upper bound is not a number below 2^40");
  // Nowhere defined: no mapping, and no constraint to blame.
  EXPECT_EQ(run("I/(a - a)", "M"), "");
}

TEST(DataflowSearch, BothObjectivesOfTheFile) {
  // The published search charges both directions of psums in the array; the report only one.
  const Dataflow flow = read_dataflow(kDataflows / "rs.yaml");
  const LayerShape layer = square_layer("layer", 1, 4, 15, 3, 64, 64, 1);
  SearchOptions reported;
  reported.reported_objective = true;
  const StudyMachine machine = small_machine(64);
  const Storage storage = storage_of(8192, 128);
  const DataflowResult published = best_mapping(flow, layer, machine, storage);
  const DataflowResult consistent = best_mapping(flow, layer, machine, storage, reported);
  EXPECT_LE(access_energy(consistent.counts, machine.energy),
            access_energy(published.counts, machine.energy));
  EXPECT_DOUBLE_EQ(access_energy(consistent.counts, machine.energy), consistent.proof.value);
  EXPECT_GT(published.proof.value, access_energy(published.counts, machine.energy));
}

}  // namespace
}  // namespace tilewright::study
