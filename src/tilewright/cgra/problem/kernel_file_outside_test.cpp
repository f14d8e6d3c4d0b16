// The benchmark graphs of other projects as read.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/outside_testing.h"
#include "tilewright/cgra/graph/kernel_file.h"
#include "tilewright/cgra/problem/check.h"

namespace tilewright::cgra {
namespace {

const std::filesystem::path kGraphs = outside_models() / "cgra_graphs";
const std::string kPresets = std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware";

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(KernelFile, ReadsEveryKernel) {
  const auto files = files_below(kGraphs / "dfg");
  EXPECT_EQ(files.size(), 37u);
  for (const auto& path : files) {
    const KernelFile file = read_kernel_file(path);
    EXPECT_FALSE(file.graph.nodes.empty());
    EXPECT_GE(file.recurrence_ii, 1);
    if (path.parent_path().filename() != "morpher") continue;
    EXPECT_EQ(critical_path_cycles(file.graph, 1), file.critical_path_nodes) << path;
    EXPECT_EQ(int(file.graph.nodes.size() + 15) / 16, file.resource_ii_16_tiles) << path;
  }
}

// The recorded witness obeys the rules as the checker reads them, and ends when the file says: the graphs
// mean the same here as where they were made.
TEST(KernelFile, WitnessesOfSyntheticGraphsAreValid) {
  const auto files = files_below(kGraphs / "se_random");
  EXPECT_EQ(files.size(), 45u);
  for (const auto& path : files) {
    const SyntheticFile file = read_synthetic_file(path);
    MappingProblem problem{
        .graph = file.graph, .fabric = find_fabric("streaming-engine", kPresets), .ii = file.ii};
    problem.rules = usual_rules(problem.fabric);
    ASSERT_EQ(problem.fabric.tiles(), file.tiles);
    ASSERT_EQ(problem.fabric.operation_latency_cycles, file.operation_latency_cycles);
    EXPECT_TRUE(file.starters_apart && file.siblings_apart);
    GraphMapping witness{.ii = file.ii};
    for (const auto& [tile, time] : file.recorded.witness) witness.places.push_back({tile, time});
    EXPECT_TRUE(check_mapping(problem, witness).empty()) << path;
    ASSERT_TRUE(file.recorded.makespan);
    EXPECT_EQ(makespan_cycles(witness, file.operation_latency_cycles), *file.recorded.makespan);
    EXPECT_EQ(critical_path_cycles(file.graph, file.operation_latency_cycles),
              file.recorded.critical_path_cycles);
  }
}

}  // namespace
}  // namespace tilewright::cgra
