// The benchmark graphs as read, and every complaint of the readers.
#include "tilewright/cgra/graph/kernel_file.h"

#include <gtest/gtest.h>

#include "tilewright/cgra/problem/check.h"

namespace tilewright::cgra {
namespace {

TEST(KernelFile, ReadsTheShippedKernels) {
  const std::filesystem::path folder = std::string(TILEWRIGHT_SOURCE_DIR) + "/models/cgra/kernels";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const KernelFile file = read_kernel_file(entry.path());
    EXPECT_EQ(file.graph.name, entry.path().stem());
    EXPECT_EQ(critical_path_cycles(file.graph, 1), file.critical_path_nodes) << entry.path();
    EXPECT_EQ(int(file.graph.nodes.size() + 15) / 16, file.resource_ii_16_tiles) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 5);
}

// The recorded witness obeys the rules as the checker reads them, and ends when the file says.
TEST(KernelFile, WitnessesOfSyntheticGraphsAreChecked) {
  const SyntheticFile file = parse_synthetic_file(
      R"({"name": "chain", "tiles": 16, "ii": 4, "pipeline": 3, "nodes": 3, "edges": [[0, 1], [1, 2]],
          "same_tile_groups": [], "delay": "unbounded", "roots_distinct_tiles": true,
          "siblings_distinct_tiles": true, "critical_path_bound": 9, "status": "optimal",
          "optimal_makespan": 9, "witness": [[5, 0], [5, 3], [5, 6]]})",
      "chain.json");
  const std::string presets = std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware";
  MappingProblem problem{
      .graph = file.graph, .fabric = find_fabric("streaming-engine", presets), .ii = file.ii};
  problem.rules = usual_rules(problem.fabric);
  GraphMapping witness{.ii = file.ii};
  for (const auto& [tile, time] : file.recorded.witness) witness.places.push_back({tile, time});
  EXPECT_TRUE(check_mapping(problem, witness).empty());
  EXPECT_EQ(makespan_cycles(witness, file.operation_latency_cycles), 9);
  EXPECT_EQ(critical_path_cycles(file.graph, file.operation_latency_cycles),
            file.recorded.critical_path_cycles);
  witness.places[2].tile = 10;  // a tile away, in no time
  EXPECT_FALSE(check_mapping(problem, witness).empty());
}

TEST(KernelFile, ConstantsAreFreeAndMissingOperandsAreFilled) {
  const KernelFile file = parse_kernel_file(
      R"({"name": "k", "nodes": [{"id": 0, "op": "const"}, {"id": 1, "op": "LS"}, {"id": 2, "op": "STOREB"},
          {"id": 3, "op": "mult"}], "edges": [[0, 1, 0], [1, 2, 0], [1, 1, 1], [1, 3, 0]]})",
      "k.json");
  ASSERT_EQ(file.graph.nodes.size(), 3u);
  EXPECT_EQ(file.graph.nodes[2].operands[1].kind, OperandKind::kConstant);
  EXPECT_EQ(file.graph.nodes[2].operands[1].value, 1 + 3 % 7);
  EXPECT_EQ(file.graph.nodes[0].name, "ls1");
  EXPECT_EQ(file.graph.nodes[0].op, Opcode::kShiftLeft);
  EXPECT_EQ(file.graph.nodes[0].operands[0].kind, OperandKind::kConstant);
  EXPECT_EQ(file.graph.nodes[0].operands[1].distance, 1);
  EXPECT_EQ(file.graph.nodes[1].op, Opcode::kStore);
  EXPECT_EQ(file.graph.arrays[size_t(file.graph.nodes[1].array)].name, "storeb2");
  EXPECT_EQ(file.graph.edges().size(), 3u);
}

template <typename Parse>
std::string complaint(Parse parse, const std::string& text) {
  try {
    parse(text, "file.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    return error.what();
  }
  return "";
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(KernelFile, ReportsAllProblemsOfAKernel) {
  const std::string text =
      complaint(parse_kernel_file,
                R"({"nodes": [{"id": 0, "op": "warp"}, {"id": 7, "op": "add"}, {"id": 2, "op": "sext"}],
          "edges": [[0, 9, 0], [0, 1], [0, 2, 0], [1, 2, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]]})");
  expect_part(text, "(name): missing field");
  expect_part(text, "unknown operation 'warp'");
  expect_part(text, "entry 1 is not {\"id\": 1, \"op\": NAME}");
  expect_part(text, "entry 0 is not a list of 3 numbers");
  expect_part(text, "entry 1 is not a list of 3 numbers");
  expect_part(text, "node 1 has more than 4 operands");
  expect_part(text, "node 2 (sext) has 2 operands, at most 1 are possible");
}

TEST(KernelFile, ReportsACycleWithoutDistance) {
  const std::string text = complaint(
      parse_kernel_file,
      R"({"name": "k", "nodes": [{"id": 0, "op": "add"}, {"id": 1, "op": "add"}], "edges": [[0, 1, 0], [1, 0, 0]]})");
  expect_part(text, "a cycle without distance among (or before) add0, add1");
}

TEST(KernelFile, ReportsAllProblemsOfASyntheticGraph) {
  const std::string text =
      complaint(parse_synthetic_file,
                R"({"name": "s", "nodes": 3, "tiles": 0, "ii": 4, "pipeline": 3, "edges": [[0, 3]],
          "roots_distinct_tiles": true, "siblings_distinct_tiles": 5, "delay": "none",
          "same_tile_groups": [[0], [0, 1], [1, 9]], "optimal_makespan": -1, "witness": [[0]]})");
  expect_part(text, "0 is not an integer in 1..65536");
  expect_part(text, "true or false is expected");
  expect_part(text, "'none' is not known");
  expect_part(text, "entry 0 is not a list of 2 numbers");
  expect_part(text, "entry 0 is not a list of at least two nodes");
  expect_part(text, "entry 2 names a node of another group");
  expect_part(text, "entry 2 names a node that does not exist");
  expect_part(text, "-1 is not an integer");
  expect_part(text, "entry 0 is not a tile and a start");
}

}  // namespace
}  // namespace tilewright::cgra
