// The graph formats: the project's own graphs, round trips, and every complaint of readers and of verify.
#include "tilewright/cgra/graph/graph_file.h"

#include <gtest/gtest.h>

#include "support/damaged_text_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/cgra/graph/graph_dot.h"
#include "tilewright/cgra/graph/kernel_file.h"

namespace tilewright::cgra {
namespace {

const std::filesystem::path kGraphFiles = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "models/cgra";

GraphFile parse_file_text(const std::string& text) {
  Diagnostics diagnostics;
  GraphFile file = parse_graph_json(text, "g.json", kUsualOperands, diagnostics);
  diagnostics.raise_if_any();
  return file;
}

std::string file_complaints(const std::string& text) {
  try {
    parse_file_text(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_file_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in:\n" << text;
}

// "nodes" of a graph with the usual surroundings.
std::string complaints_of(const std::string& nodes) {
  return file_complaints(
      R"({"arrays": ["x", "y"], "variables": [{"name": "v"}, {"name": "w"}, {"name": "t", "table": [1, 2]}], "nodes": [)" +
      nodes + "]}");
}

struct Shape {
  const char* name;
  int nodes, edges, flows;
  std::vector<std::vector<int>> groups;
};

TEST(GraphFile, OwnGraphsHaveTheStructureOfTheReference) {
  const std::vector<Shape> shapes = {{"multiply_add", 3, 2, 1, {}},
                                     {"vector_add", 7, 3, 4, {}},
                                     {"distance", 7, 6, 1, {}},
                                     {"ifft", 17, 14, 4, {{7, 9}, {10, 11}, {14, 15}}},
                                     {"ifft_conflict", 17, 14, 4, {{7, 9}, {10, 11}, {14, 15}, {12, 13}}}};
  for (const Shape& shape : shapes) {
    const GraphFile file = read_graph_file(kGraphFiles / (std::string(shape.name) + ".json"));
    EXPECT_EQ(file.graph.name, shape.name);
    EXPECT_EQ(int(file.graph.nodes.size()), shape.nodes);
    EXPECT_EQ(int(file.graph.edges().size()), shape.edges);
    const std::vector<int> flows = file.graph.flows();
    EXPECT_EQ(*std::max_element(flows.begin(), flows.end()) + 1, shape.flows);
    EXPECT_EQ(file.graph.same_tile_groups(), shape.groups);
    EXPECT_EQ(parse_file_text(print_graph_json(file)), file);
  }
  const GraphFile ifft = read_graph_file(kGraphFiles / "ifft.json");
  std::vector<std::pair<int, int>> edges;
  for (const Edge& edge : ifft.graph.edges()) edges.emplace_back(edge.from, edge.to);
  std::sort(edges.begin(), edges.end());
  const std::vector<std::pair<int, int>> expected = {{1, 2},   {1, 3},   {2, 4},   {2, 6},  {3, 6},
                                                     {4, 5},   {6, 7},   {6, 8},   {8, 9},  {10, 11},
                                                     {11, 12}, {11, 13}, {13, 14}, {14, 15}};
  EXPECT_EQ(edges, expected);
}

TEST(GraphFile, HoldsEverythingAGraphHas) {
  const GraphFile file =
      parse_file_text(R"({"name": "all \"of\" it", "description": "d", "arrays": ["x", "y"],
    "variables": [{"name": "v", "entries": 4, "tile": 2}, {"name": "t", "table": [3, -4]}, {"name": "m"}],
    "nodes": [
      {"name": "s", "op": "mul", "then": "sub", "operands": [{"node": "s", "distance": 2, "initial": [5, 6]}, -7, "l"],
       "writes": "v"},
      {"name": "l", "op": "lookup", "operands": ["t", "thread"], "sends": "m"},
      {"name": "r", "op": "load", "operands": ["k"], "array": "x", "tile": 3, "time": 8},
      {"name": "k", "op": "copy", "operands": ["m"]},
      {"name": "o", "op": "store", "operands": ["r"], "array": "y"}]})");
  EXPECT_EQ(file.graph.nodes[0].operands[0].initial, (std::vector<int32_t>{5, 6}));
  EXPECT_EQ(file.graph.nodes[0].operands[1].value, -7);
  EXPECT_EQ(file.graph.nodes[1].sends, 2);
  EXPECT_EQ(file.graph.variables[0].entries, 4);
  EXPECT_EQ(file.graph.variables[1].table, (std::vector<int32_t>{3, -4}));
  EXPECT_EQ(file.fixed_tiles, (std::vector<std::optional<int>>{2, {}, 3, {}, {}}));
  EXPECT_EQ(file.fixed_times[2], 8);
  const std::string text = print_graph_json(file);
  EXPECT_EQ(parse_file_text(text), file) << text;
  EXPECT_EQ(print_graph_json(parse_file_text(text)), text);
}

TEST(GraphFile, ReportsAllProblemsInOneRun) {
  const std::string text = file_complaints(R"({"name": 3, "loops": 2, "arrays": ["x", 4],
    "variables": [{"name": "v", "entries": 0, "tile": 1}, {"name": "v"}, {"name": "t", "table": []}, {"name": "u", "table": [1.5], "entries": 2}],
    "nodes": [
      {"name": "a", "op": "add", "operands": ["b", 1]},
      {"name": "b", "op": "add", "operands": ["a", "nobody"]},
      {"name": "c", "op": "add", "operands": [1, 2, 3, 4]},
      {"name": "d", "op": "add", "operands": ["v", 1], "tile": 4},
      {"name": "d", "op": "dance", "operands": [true, 4294967296], "color": "red"},
      {"name": "e", "op": "copy", "operands": [{"node": "a", "distance": -1, "initial": ["x"]}], "tile": -3, "time": 1e3},
      {"name": "f", "op": "load", "operands": [1], "array": "z", "into": "v", "sends": "v"},
      {"name": "g", "op": "copy", "operands": [{"node": "v"}], "into": "q"},
      17]})");
  for (const char* part : {"(name): 3 is not a string",
                           "(loops): unknown field",
                           "entry 1 is not a name",
                           "0 is not an integer in 1..1048576",
                           "(nodes): the name 'd' is taken",
                           "(variables): the name 'v' is taken",
                           "(table): is empty",
                           "entry 0 is not a 32-bit integer",
                           "a table has as many entries as it lists",
                           "operand 1: 'nobody' is not defined",
                           "4 operands, an instruction takes 3",
                           "variable 'v' is bound to tiles 1 and 4",
                           "'dance' is not an operation",
                           "operand 0 is not a name, 32-bit integer",
                           "operand 1 is not a name, 32-bit integer",
                           "(color): unknown field",
                           "-1 is not an integer in 0..65536",
                           "-3 is not an integer",
                           "1000.0 is not an integer",
                           "'z' is not defined",
                           "cannot be combined with 'sends'",
                           "is for loads",
                           "'q' is not defined",
                           "'v' is not a node",
                           "an object {...} is expected",
                           "a cycle without distance among (or before) a, b"}) {
    expect_file_part(text, part);
  }
}

TEST(GraphFile, ReportsWhatMakesAGraphMeaningless) {
  expect_file_part(file_complaints(R"({"nodes": []})"), "is empty");
  expect_file_part(file_complaints("{}"), "(nodes): missing field");
  expect_file_part(complaints_of(R"({"name": "", "op": "copy", "operands": [1]})"), "one has no name");
  expect_file_part(complaints_of(R"({"name": "a", "op": "add", "operands": [1]})"),
                   "1 operands, add takes at least 2");
  expect_file_part(complaints_of(R"({"name": "a", "op": "neg", "operands": [1, 2]})"),
                   "2 operands, it takes 1..1");
  expect_file_part(complaints_of(R"({"name": "a", "op": "mul", "then": "add", "operands": [1, 2]})"),
                   "2 operands, (a op b) then c takes 3");
  expect_file_part(complaints_of(R"({"name": "a", "op": "add", "then": "add", "operands": [1, 2, 3]})"),
                   "'add' cannot follow it in one instruction");
  expect_file_part(complaints_of(R"({"name": "a", "op": "mul", "then": "mul", "operands": [1, 2, 3]})"),
                   "'mul' cannot follow it in one instruction");
  expect_file_part(complaints_of(R"({"name": "a", "op": "load", "operands": [1]})"),
                   "its array is undefined");
  expect_file_part(complaints_of(R"({"name": "thread", "op": "copy", "operands": [1]})"),
                   "the name 'thread' is taken");
  expect_file_part(complaints_of(R"({"name": "a", "op": "copy", "operands": [1], "array": "x"})"),
                   "has an array");
  expect_file_part(complaints_of(R"({"name": "a", "op": "copy", "operands": ["t"]})"),
                   "operand 0 is a table");
  expect_file_part(complaints_of(R"({"name": "a", "op": "lookup", "operands": ["v", 1]})"),
                   "operand 0 is not a table");
  expect_file_part(complaints_of(R"({"name": "a", "op": "copy", "operands": [1], "writes": "t"})"),
                   "writes 't', which is a table");
  expect_file_part(
      complaints_of(
          R"({"name": "a", "op": "copy", "operands": [{"node": "a", "distance": 1, "initial": [1, 2]}]})"),
      "operand 0 has 2 initial values");
  expect_file_part(complaints_of(R"({"name": "a", "op": "load", "operands": [1], "array": "x"},
                               {"name": "b", "op": "store", "operands": ["a"], "array": "x"})"),
                   "'x' is loaded and stored");
}

TEST(GraphFile, ReportsVariablesThatNothingOrders) {
  expect_file_part(complaints_of(R"({"name": "a", "op": "copy", "operands": [1], "sends": "v"},
                               {"name": "b", "op": "copy", "operands": [1], "sends": "v"})"),
                   "'v' is filled by several nodes");
  expect_file_part(complaints_of(R"({"name": "a", "op": "copy", "operands": [1], "sends": "v"},
                               {"name": "b", "op": "copy", "operands": [1], "writes": "v"})"),
                   "'v' is filled by several nodes");
  expect_file_part(complaints_of(R"({"name": "a", "op": "copy", "operands": [1], "writes": "v"},
                               {"name": "b", "op": "copy", "operands": ["v"]})"),
                   "'v' is written by 'a' and read by 'b' on the same tile");
  expect_file_part(complaints_of(R"({"name": "a", "op": "copy", "operands": [1], "sends": "v"},
                               {"name": "b", "op": "add", "operands": ["a", "v"]})"),
                   "'v' is sent by 'a' to 'b' of the same flow");
  expect_file_part(complaints_of(R"({"name": "a", "op": "copy", "operands": ["w"], "sends": "v"},
                               {"name": "b", "op": "copy", "operands": ["v"], "sends": "w"})"),
                   "flows wait for each other's messages (a, b)");
}

TEST(GraphFile, ReportsAVariableThatIsTooSmallForItsWriters) {
  expect_file_part(file_complaints(R"({"variables": [{"name": "v", "entries": 1}], "nodes": [
                 {"name": "a", "op": "copy", "operands": [1], "writes": "v"},
                 {"name": "b", "op": "copy", "operands": [1], "writes": "v"}]})"),
                   "'v' has 2 writers and 1 entries");
}

TEST(GraphFile, TellsTheKindsOfFilesApart) {
  const std::filesystem::path folder = testing::TempDir();
  write_text_file(folder / "k.json", R"({"name": "k", "nodes": [{"id": 0, "op": "add"}], "edges": []})");
  EXPECT_EQ(read_graph_file(folder / "k.json").graph.nodes[0].name, "add0");
  write_text_file(folder / "g.dot", "digraph { a -> b }");
  EXPECT_EQ(read_graph_file(folder / "g.dot").graph.edges().size(), 1u);
  EXPECT_THROW(read_graph_file(folder / "absent.json"), Error);
}

TEST(GraphDot, ReadsTheSubset) {
  Diagnostics diagnostics;
  const DataflowGraph graph = parse_graph_dot(R"(// a comment
    strict digraph "g h" {
      rankdir=LR; node [shape=box];  # defaults
      a [op=input]
      "b c" [opcode="MUL", color=red]; s [op=mul, then=add, writes=v];
      a -> "b c" -> s; s -> s [distance=2]
      s -> out; out [label=store];
    })",
                                              "g.dot", diagnostics);
  graph.verify(3, diagnostics);
  diagnostics.raise_if_any();
  EXPECT_EQ(graph.name, "g h");
  ASSERT_EQ(graph.nodes.size(), 4u);
  EXPECT_EQ(graph.nodes[1].op, Opcode::kMultiply);
  EXPECT_EQ(graph.nodes[2].operands.size(), 3u);
  EXPECT_EQ(graph.nodes[2].operands[1].distance, 2);
  EXPECT_EQ(graph.nodes[2].then, Opcode::kAdd);
  EXPECT_EQ(graph.variables[0].name, "v");
  EXPECT_EQ(graph.arrays[0].name, "a");
  EXPECT_EQ(graph.arrays[1].name, "out");
}

TEST(GraphDot, PrintsAStructureThatParsesBack) {
  const DataflowGraph graph = read_graph_file(kGraphFiles / "ifft.json").graph;
  Diagnostics diagnostics;
  const DataflowGraph back = parse_graph_dot(print_graph_dot(graph), "back.dot", diagnostics);
  EXPECT_TRUE(diagnostics.ok());
  ASSERT_EQ(back.nodes.size(), graph.nodes.size());
  const auto pairs = [](const DataflowGraph& g) {
    std::vector<std::pair<int, int>> all;
    for (const Edge& edge : g.edges()) all.emplace_back(edge.from, edge.to);
    return all;
  };
  EXPECT_EQ(pairs(back), pairs(graph));
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    EXPECT_EQ(back.nodes[i].name, graph.nodes[i].name);
    EXPECT_EQ(back.nodes[i].op, graph.nodes[i].op);
  }
}

TEST(GraphDot, ReportsAllProblems) {
  Diagnostics diagnostics;
  parse_graph_dot("graph {\n a -> ;\n b [op=dance];\n c -> d [distance=far];\n a -- b\n ; ] e [op] }",
                  "g.dot", diagnostics);
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.errors()) text += to_string(diagnostic) + "\n";
  for (const char* part :
       {"g.dot:1", "'digraph NAME {' is expected", "g.dot:2 (->): a node's name is expected",
        "g.dot:3 (op): 'dance' is not an operation", "g.dot:4 (distance): 'far' is not an integer",
        "g.dot:5 (--): an edge without direction", "g.dot:6 (]): a node's name is expected",
        "'ATTRIBUTE=VALUE' is expected"}) {
    expect_file_part(text, part);
  }
}

// Readers survive anything: bytes changed, cut out and doubled; what still parses prints and parses back.
TEST(GraphFile, SurvivesMutations) {
  const std::string json = read_text_file(kGraphFiles / "ifft.json");
  const std::string dot = print_graph_dot(read_graph_file(kGraphFiles / "ifft.json").graph);
  const std::string kernel =
      R"({"name": "k", "nodes": [{"id": 0, "op": "const"}, {"id": 1, "op": "LS"}, {"id": 2, "op": "STORE"}],
    "edges": [[0, 1, 0], [1, 2, 0], [1, 1, 1]], "rec_mii_unit_latency": 1})";
  const std::string synthetic =
      R"({"name": "s", "nodes": 3, "tiles": 4, "ii": 4, "pipeline": 3, "edges": [[0, 1], [1, 2]],
    "roots_distinct_tiles": true, "siblings_distinct_tiles": true, "same_tile_groups": [[0, 2]], "optimal_makespan": 9,
    "status": "optimal", "witness": [[0, 0], [1, 4]]})";
  Random random(7);
  const auto mutate = [&](const std::string& text) {
    return damaged_text(text, random, "0123456789{}[]\"=-> ");
  };
  int parsed = 0, refused = 0;
  const auto attempt = [&](auto&& read) {
    try {
      read();
      ++parsed;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput) << error.what();
      ++refused;
    }
  };
  for (int i = 0; i < 1000; ++i) {
    attempt([&] {
      const GraphFile file = parse_file_text(mutate(json));
      EXPECT_EQ(parse_file_text(print_graph_json(file)), file);
    });
    attempt([&] {
      Diagnostics diagnostics;
      const DataflowGraph graph = parse_graph_dot(mutate(dot), "g.dot", diagnostics);
      graph.verify(kUsualOperands, diagnostics);
      diagnostics.raise_if_any();
    });
    attempt([&] { parse_kernel_file(mutate(kernel), "k.json"); });
    attempt([&] { parse_synthetic_file(mutate(synthetic), "s.json"); });
  }
  EXPECT_GT(parsed, 100);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace tilewright::cgra
