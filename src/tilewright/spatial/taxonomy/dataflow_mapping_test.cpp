#include "tilewright/spatial/taxonomy/dataflow_mapping.h"

#include <gtest/gtest.h>

#include "tilewright/base/random.h"
#include "tilewright/nest/validity.h"
#include "tilewright/spatial/taxonomy/random_layer_testing.h"

namespace tilewright::study {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "dataflows";

TEST(DataflowMapping, RowStationaryLoops) {
  const LayerShape layer = square_layer("conv3", 1, 16, 15, 3, 256, 384, 1);
  const Workload workload = workload_of(layer);
  StudyMachine machine;
  machine.pes = 256;
  const Mapping mapping = dataflow_mapping(read_dataflow(kFolder / "rs.yaml"), layer, machine, {},
                                           {78, 4, 13, 10, 7, 2, 3}, workload);
  EXPECT_EQ(print_mapping(workload, mapping),
            "- level: dram\n  temporal: N=4 M=5 C=19\n"
            "- level: buffer\n  temporal: M=3 N=4 P=13\n  keeps: input output\n"
            "- level: array\n  spatial: x:Q=13 y:M=3 y:C=2 y:S=3\n  keeps: \"\"\n"
            "- level: register_file\n  temporal: C=7 M=10 R=3\n");
}

// Whatever the variables, the nest covers the layer and has no loop without work.
TEST(DataflowMapping, IsAlwaysAMappingOfTheWorkload) {
  constexpr uint64_t kSeed = 61;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const Dataflow flow = read_dataflow(entry.path());
    Hierarchy hierarchy;
    for (const TemplateLevel& level : flow.mapping) {
      HierarchyLevel memory;
      memory.name = level.name;
      memory.fanout_x = memory.fanout_y = int64_t{1} << 20;
      hierarchy.levels.push_back(memory);
    }
    for (int round = 0; round < 100; ++round) {
      const LayerShape layer =
          square_layer("layer", random.between(1, 2), random.between(1, 5), random.between(5, 12),
                       random.between(1, 3), random.between(1, 9), random.between(1, 9), 1);
      const Workload workload = workload_of(layer);
      StudyMachine machine;
      std::vector<int64_t> variables;
      for (size_t v = 0; v < flow.variables.size(); ++v) variables.push_back(random.between(1, 9));
      const Mapping mapping = dataflow_mapping(flow, layer, machine, {}, variables, workload);
      Diagnostics diagnostics;
      check_mapping(workload, hierarchy, mapping, flow.name, diagnostics);
      for (const Diagnostic& d : diagnostics.errors()) ADD_FAILURE() << to_string(d);
    }
  }
}

TEST(DataflowMapping, NamesLoopsThatDoNotCover) {
  const std::string text =
      "name: short\nregister_file_bytes: 2\nvariables: {a: M}\naccesses: {dram: {input: I}}\n"
      "active_pes: a\nmapping: [{level: dram, temporal: [M: a, C: a/2]}, {level: pe}]\n";
  const LayerShape layer = square_layer("layer", 1, 1, 4, 2, 2, 4, 1);
  try {
    dataflow_mapping(parse_dataflow(text, "short.yaml"), layer, StudyMachine{}, {}, {3}, workload_of(layer));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "7 problems\n  mapping of dataflow 'short' (C): the factor is 1.5\n"
                 "  mapping of dataflow \'short\' (M): the loops cover 3 of 4\n"
                 "  mapping of dataflow \'short\' (C): the loops cover 1 of 2\n"
                 "  mapping of dataflow \'short\' (P): the loops cover 1 of 3\n"
                 "  mapping of dataflow \'short\' (Q): the loops cover 1 of 3\n"
                 "  mapping of dataflow \'short\' (R): the loops cover 1 of 2\n"
                 "  mapping of dataflow \'short\' (S): the loops cover 1 of 2");
  }
}

}  // namespace
}  // namespace tilewright::study
