// The access counts of the dataflow files against the walker, which runs the loops of their mapping sections
// and counts what moves (tests/support/nest/count_walker_testing.h).
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "support/nest/count_walker_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/spatial/taxonomy/bound_dataflow.h"
#include "tilewright/spatial/taxonomy/dataflow_mapping.h"
#include "tilewright/spatial/taxonomy/random_layer_testing.h"

namespace tilewright::study {
namespace {

constexpr int kDram = 0, kBuffer = 1, kArray = 2, kRegisterFile = 3, kArithmetic = 4;

// Where a dataflow moves words in a way that no mapping says: between neighbouring PEs (the output stationary
// ones) or through line buffers (weight stationary).
const std::map<std::string, std::set<std::string>>& known_differences() {
  static const std::map<std::string, std::set<std::string>> kKnown = {
      {"osa", {"buffer input"}},
      {"osb", {"buffer input"}},
      {"ws", {"dram input", "buffer output", "array output"}}};
  return kKnown;
}

// A layer and variables for which all loops of all mapping sections iterate and every factor divides. Windows
// neither overlap nor leave gaps: what a tile shares with the one before, the study reads again and the
// walker keeps.
struct Case {
  LayerShape layer;
  std::map<std::string, int64_t> variables;
};

Case random_case(Random& random) {
  Case c;
  std::map<std::string, int64_t>& v = c.variables;
  for (const char* name : {"p", "t", "q", "r", "n", "e", "f", "b"}) v[name] = random.between(1, 2);
  v["m"] = v["p"] * v["t"] * random.between(2, 3);
  LayerShape& layer = c.layer;
  layer.name = "layer";
  layer.G = random.between(1, 2);
  layer.N = v["n"] * 2;
  layer.M = v["m"] * 2;
  layer.C = v["q"] * v["r"] * 2;
  layer.R = layer.S = layer.U = random.between(1, 2);
  layer.E = v["e"] * v["b"] * 2;
  layer.F = v["f"] * random.between(2, 3);
  layer.H = layer.E * layer.U;
  layer.W = layer.F * layer.U;
  return c;
}

// The study's counting rules on what the walker saw.
LayerAccesses study_counts(const tilewright::AccessCounts& walked, double outputs) {
  LayerAccesses counts{};
  const auto at = [&](int level, int space) -> double& { return counts[size_t(level)][size_t(space)]; };
  for (const SpaceTraffic& traffic : walked.traffic) {
    const int parent = traffic.parent, space = traffic.space;
    const bool crosses_array = parent < kArray && traffic.child > kArray;
    if (space != kOutputSpace) {
      at(parent, space) += double(traffic.reads);
      if (crosses_array) at(kArray, space) += double(traffic.fills);
      continue;
    }
    // Psums: the first write of a value at a level and its way out are not accesses of that level.
    if (parent == kDram) at(kDram, space) += double(traffic.reads + traffic.updates);
    if (parent == kBuffer) at(kBuffer, space) += double(traffic.reads + traffic.updates) - outputs;
    if (crosses_array) {
      at(kArray, space) += double(traffic.drains - traffic.updates);
      // Accumulations in a register file: all operations but the first for every value that leaves it.
      if (traffic.child == kRegisterFile) {
        at(kRegisterFile, space) += 2 * double(walked.operations - traffic.drains);
      }
    }
  }
  static_assert(kArithmetic == kRegisterFile + 1);
  return counts;
}

class DataflowWalk : public testing::TestWithParam<const char*> {};

TEST_P(DataflowWalk, CountsAreThoseOfTheLoops) {
  const Dataflow flow = read_dataflow(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "dataflows" /
                                      (GetParam() + std::string(".yaml")));
  constexpr uint64_t kSeed = 71;
  SCOPED_TRACE(testing::Message() << GetParam() << ", seed " << kSeed);
  Random random(kSeed);
  const std::vector<CountingNetwork> networks(4);
  StudyMachine machine;
  machine.pes = 1 << 20;
  Storage storage;
  storage.buffer_words = 1 << 20;
  storage.register_file_words = 1 << 20;
  int compared = 0;
  for (int round = 0; round < 6; ++round) {
    const Case c = random_case(random);
    std::vector<int64_t> variables;
    for (const DataflowVariable& variable : flow.variables)
      variables.push_back(c.variables.at(variable.name));
    const Workload workload = workload_of(c.layer);
    const Mapping mapping = dataflow_mapping(flow, c.layer, machine, storage, variables, workload);
    const LayerAccesses walked =
        study_counts(walk_accesses(workload, mapping, networks), double(c.layer.output_words()));
    const LayerAccesses formulas = evaluate_mapping(flow, c.layer, machine, storage, variables).counts;
    const auto known = known_differences().find(flow.name);
    for (int level = 0; level < kLevels; ++level) {
      for (int type = 0; type < kDataTypes; ++type) {
        const std::string name = std::string(level_name(Level(level))) + " " + data_type_name(DataType(type));
        // A level without reuse is bypassed and not charged.
        if (flow.graph.constant_value(flow.reported[size_t(level)][size_t(type)]) == 0.0) continue;
        if (known != known_differences().end() && known->second.count(name) != 0) continue;
        const double expected = walked[size_t(level)][size_t(type)];
        EXPECT_NEAR(formulas[size_t(level)][size_t(type)], expected, 1e-9 * expected)
            << name << ", round " << round;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 6 * 4);
}

INSTANTIATE_TEST_SUITE_P(Taxonomy, DataflowWalk, every_dataflow(), dataflow_test_name);

}  // namespace
}  // namespace tilewright::study
