// Mapped programs as files: round trips, complaints, mutations.
#include "tilewright/cgra/mapping_file.h"

#include <gtest/gtest.h>

#include "tilewright/base/random.h"
#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/route/route_places.h"

namespace tilewright::cgra {
namespace {

const std::string kSource = TILEWRIGHT_SOURCE_DIR;

MappedProgram distance_program() {
  MappedProgram program;
  program.problem.graph = read_graph_file(kSource + "/models/cgra/distance.json").graph;
  program.problem.fabric = find_fabric("streaming-engine", kSource + "/hardware");
  program.problem.ii = 3;
  program.problem.rules = usual_rules(program.problem.fabric);
  const MappingResult result = map_exact(program.problem, {});
  program.mapping = result.mapping.value();
  program.lower_bound_cycles = result.lower_bound;
  program.mapping.routes = route_places(program.problem, program.mapping).routes;
  program.problem.rules.routed = true;
  return program;
}

std::string complaints(const std::string& text) {
  try {
    parse_mapped_program(text, "m.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput) << error.what();
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

TEST(MappingFile, RoundTrips) {
  const MappedProgram program = distance_program();
  const std::string text = print_mapped_program(program);
  const MappedProgram back = parse_mapped_program(text, "m.json");
  EXPECT_EQ(back.mapping, program.mapping);
  EXPECT_EQ(back.problem.graph, program.problem.graph);
  EXPECT_EQ(back.problem.fabric, program.problem.fabric);
  EXPECT_EQ(back.problem.rules, program.problem.rules);
  EXPECT_EQ(back.lower_bound_cycles, 15);
  EXPECT_EQ(print_mapped_program(back), text);
  EXPECT_TRUE(is_mapped_program(text));
  EXPECT_FALSE(is_mapped_program("{}"));
  EXPECT_FALSE(is_mapped_program("no JSON"));
}

TEST(MappingFile, EveryFabricIsEmbedded) {
  for (const char* name : {"mesh-4x4", "hycube-4x4", "torus-2x3", "ring-8", "streaming-engine-64"}) {
    MappedProgram program;
    program.problem.graph.nodes = {
        {.name = "a", .op = Opcode::kCopy, .operands = {{.kind = OperandKind::kThread}}}};
    program.problem.fabric = find_fabric(name, kSource + "/hardware");
    for (const StarterRule rule : {StarterRule::kOff, StarterRule::kRoots, StarterRule::kFlows}) {
      program.problem.fabric.starters_apart = rule;
      program.mapping = {.ii = 1, .places = {{1, 2}}};
      EXPECT_EQ(parse_mapped_program(print_mapped_program(program), "m.json").problem.fabric,
                program.problem.fabric);
    }
  }
}

TEST(MappingFile, ReportsAllProblems) {
  const std::string text = print_mapped_program(distance_program());
  std::string bad = replaced(text, "\"kind\": \"mapped program\"", "\"kind\": \"poem\"");
  bad = replaced(bad, "\"delay\": \"unbounded\"", "\"delay\": \"some\"");
  bad = replaced(bad, "\"ii\": 3", "\"ii\": 0, \"mood\": 1");
  bad = replaced(bad, "{\"node\": \"dx\"", "{\"node\": \"dz\"");
  bad = replaced(bad, "\"columns\": 16", "\"columns\": 0");
  bad = replaced(bad, "\"op\": \"abs\"", "\"op\": \"absent\"");
  const std::string found = complaints(bad);
  for (const char* part :
       {"is not 'mapped program'", "'some' is not known", "0 is not an integer in 1..65536",
        "(mood): unknown field", "'dz' is no node of the graph", "none of 'dx'", "columns",
        "'absent' is no operation"}) {
    EXPECT_NE(found.find(part), std::string::npos) << part << "\n" << found;
  }
  EXPECT_NE(complaints("{}").find("missing field"), std::string::npos);
}

TEST(MappingFile, ReportsBrokenRules) {
  MappedProgram program = distance_program();
  program.mapping.places[3] = program.mapping.places[4];
  const std::string found = complaints(print_mapped_program(program));
  EXPECT_NE(found.find("m.json (slot): 'along_x' and 'along_y' both use slot"), std::string::npos) << found;
  EXPECT_NE(found.find("(route): "), std::string::npos) << found;
}

TEST(MappingFile, SurvivesMutations) {
  const std::string text = print_mapped_program(distance_program());
  Random random(3);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string mutated = text;
    for (int64_t changes = random.between(1, 3); changes > 0; --changes) {
      const size_t at = size_t(random.between(0, int64_t(mutated.size()) - 1));
      if (random.chance(0.5))
        mutated[at] = char(random.between(32, 126));
      else if (random.chance(0.5))
        mutated.erase(at, size_t(random.between(1, 30)));
      else
        mutated.insert(at, text.substr(size_t(random.between(0, int64_t(text.size()) - 1)),
                                       size_t(random.between(1, 30))));
    }
    refused += !complaints(mutated).empty();
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace tilewright::cgra
