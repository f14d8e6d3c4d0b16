// Mapped programs as files: round trips, complaints, mutations.
#include "tilewright/cgra/problem/mapping_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/damaged_text_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/cgra/configure/configure.h"
#include "tilewright/cgra/exact/exact_mapper.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/route/route_places.h"

namespace tilewright::cgra {
namespace {

const std::string kMappingSource = TILEWRIGHT_SOURCE_DIR;

MappedProgram distance_program() {
  MappedProgram program;
  program.problem.graph = read_graph_file(kMappingSource + "/models/cgra/distance.json").graph;
  program.problem.fabric = find_fabric("streaming-engine", kMappingSource + "/hardware");
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
    program.problem.fabric = find_fabric(name, kMappingSource + "/hardware");
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
        "(mood): unknown field", "'dz' is not a node of the graph", "none of 'dx'", "columns",
        "'absent' is not an operation"}) {
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
    refused += !complaints(damaged_text(text, random, "0123456789{}[]\",:-")).empty();
  }
  EXPECT_GT(refused, 500);
}

TEST(MappingFile, RefusesAMakespanThatIsNotTheMappings) {
  const std::string text = print_mapped_program(distance_program());
  EXPECT_NE(complaints(replaced(text, "\"makespan_cycles\": 15", "\"makespan_cycles\": 14"))
                .find("(makespan_cycles): is 14, that of the places is 15"),
            std::string::npos);
  EXPECT_NE(complaints(replaced(text, "\"lower_bound_cycles\": 15", "\"lower_bound_cycles\": 16"))
                .find("(lower_bound_cycles): is 16, the mapping takes 15"),
            std::string::npos);
}

// Routes are what the device is set from, whether the rules ask for them or not.
TEST(MappingFile, ChecksRoutesThatNobodyAskedFor) {
  MappedProgram program = distance_program();
  program.problem.rules.routed = false;
  EXPECT_EQ(complaints(print_mapped_program(program)), "");
  program.mapping.routes[0].pop_back();
  EXPECT_NE(complaints(print_mapped_program(program)).find("m.json (route): the route from"),
            std::string::npos);
}

TEST(MappingFile, RefusesStoresOutOfOrder) {
  MappedProgram program;
  program.problem.graph.arrays = {{"y"}};
  for (const char* name : {"a", "b"}) {
    program.problem.graph.nodes.push_back(
        {.name = name, .op = Opcode::kStore, .operands = {{.kind = OperandKind::kThread}}, .array = 0});
  }
  program.problem.fabric = find_fabric("mesh-4x4", kMappingSource + "/hardware");
  program.problem.ii = 2;
  program.mapping = {2, {{0, 3}, {1, 2}}, {}};
  EXPECT_NE(
      complaints(print_mapped_program(program)).find("m.json (store order): 'a' (clock 3) may overwrite"),
      std::string::npos);
  program.mapping.places[1].time = 4;
  EXPECT_EQ(complaints(print_mapped_program(program)), "");
}

// Any characters of Unicode, control characters and words that mean something in YAML among them.
std::string random_name(Random& random) {
  static const std::vector<std::string> words = {"true",
                                                 "null",
                                                 "~",
                                                 "17",
                                                 "-3",
                                                 "1e3",
                                                 "no",
                                                 "- a",
                                                 "a: b",
                                                 "#",
                                                 "'",
                                                 "\"",
                                                 "\\",
                                                 "&a",
                                                 "*a",
                                                 "!t",
                                                 "%",
                                                 "@",
                                                 "`",
                                                 "{",
                                                 "[",
                                                 "|",
                                                 ">",
                                                 "?",
                                                 ": ",
                                                 " ",
                                                 "\n",
                                                 "\t",
                                                 "\r",
                                                 "\xc2\x85",
                                                 "\xe2\x80\xa8",
                                                 "\xef\xbb\xbf",
                                                 "\xf0\x9f\x98\x80",
                                                 "\x7f",
                                                 "\\u0041",
                                                 "---",
                                                 "..."};
  std::string name;
  for (int64_t i = random.between(1, 6); i > 0; --i) {
    if (random.chance(0.6)) {
      name += words[size_t(random.between(0, int64_t(words.size()) - 1))];
    } else {
      name += char(random.between(1, 127));
    }
  }
  return name;
}

TEST(MappingFileClass, NamesOfEveryCharacterReadBack) {
  const uint64_t seed = test_seed();
  const int64_t cases = test_cases(300);
  Random random(seed);
  for (int64_t i = 0; i < cases; ++i) {
    MappedProgram program;
    program.problem.fabric = find_fabric("mesh-1x3", "/nowhere");
    program.problem.fabric.name = random_name(random);
    program.problem.graph.name = random_name(random);
    program.problem.graph.arrays = {{"x" + random_name(random)}};
    const std::string node = random_name(random), store = "s" + random_name(random);
    program.problem.graph.nodes = {
        {.name = node, .op = Opcode::kCopy, .operands = {{.kind = OperandKind::kThread}}},
        {.name = store,
         .op = Opcode::kStore,
         .operands = {{.kind = OperandKind::kNode, .index = 0}},
         .array = 0}};
    if (node == store) continue;
    program.problem.rules.routed = true;
    program.mapping = {1, {{0, 0}, {1, 1}}, {{{0, 1}, {1, 1}}}};
    const std::string text = print_mapped_program(program);
    ASSERT_EQ(complaints(text), "") << "seed " << seed << " case " << i << "\n" << text;
    const MappedProgram back = parse_mapped_program(text, "m.json");
    ASSERT_EQ(back.problem.graph, program.problem.graph) << "seed " << seed << " case " << i << "\n" << text;
    ASSERT_EQ(back.problem.fabric, program.problem.fabric) << "seed " << seed << " case " << i << "\n"
                                                           << text;
    ASSERT_EQ(back.mapping, program.mapping);
    const Configuration made = configure(program.problem, program.mapping);
    ASSERT_EQ(parse_configuration(print_configuration(made), "c.json"), made)
        << "seed " << seed << " case " << i;
  }
  RecordProperty("cases", int(cases));
}

// Every value of a document, as ways of keys and positions.
void collect_ways(const nlohmann::json& value, const nlohmann::json::json_pointer& way,
                  std::vector<nlohmann::json::json_pointer>& ways) {
  if (!way.empty()) ways.push_back(way);
  if (value.is_object()) {
    for (const auto& entry : value.items()) collect_ways(entry.value(), way / entry.key(), ways);
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) collect_ways(value[i], way / i, ways);
  }
}

nlohmann::json odd_value(Random& random) {
  static const nlohmann::json values = {nullptr,
                                        true,
                                        false,
                                        0,
                                        1,
                                        -1,
                                        2,
                                        3,
                                        16,
                                        63,
                                        64,
                                        65,
                                        4095,
                                        4096,
                                        4097,
                                        65535,
                                        65536,
                                        1 << 20,
                                        1 << 24,
                                        1 << 28,
                                        2147483647,
                                        -2147483648LL,
                                        4294967296LL,
                                        9223372036854775807LL,
                                        1.5,
                                        1e300,
                                        "",
                                        "thread",
                                        "a",
                                        "off",
                                        "flows",
                                        "none",
                                        "load",
                                        "store",
                                        nlohmann::json::array(),
                                        nlohmann::json::object(),
                                        nlohmann::json::array({1, 2}),
                                        nlohmann::json::array({nlohmann::json::array()}),
                                        nlohmann::json{{"node", "a"}},
                                        std::string(100, 'x')};
  return values[size_t(random.between(0, int64_t(values.size()) - 1))];
}

// Fields removed, retyped, out of range, doubled and exchanged: an error of the input, or a program that
// runs.
TEST(MappingFileClass, DamagedFilesGiveErrors) {
  const uint64_t seed = test_seed();
  const int64_t cases = test_cases(200);
  Random random(seed);
  MappedProgram carried;
  carried.problem.graph = read_graph_file(kMappingSource + "/models/cgra/ifft.json").graph;
  carried.problem.fabric = find_fabric("streaming-engine", kMappingSource + "/hardware");
  carried.problem.ii = 4;
  carried.problem.rules = usual_rules(carried.problem.fabric);
  carried.mapping = map_exact(carried.problem, {}).mapping.value();
  const std::vector<nlohmann::json> originals = {
      nlohmann::json::parse(print_mapped_program(distance_program())),
      nlohmann::json::parse(print_mapped_program(carried))};
  int64_t accepted = 0, refused = 0;
  for (int64_t i = 0; i < cases; ++i) {
    nlohmann::json document = originals[size_t(i) % 2];
    for (int64_t changes = random.between(1, 2); changes > 0; --changes) {
      std::vector<nlohmann::json::json_pointer> ways;
      collect_ways(document, nlohmann::json::json_pointer(), ways);
      const auto draw = [&] { return ways[size_t(random.between(0, int64_t(ways.size()) - 1))]; };
      const nlohmann::json::json_pointer way = draw();
      nlohmann::json& parent = document[way.parent_pointer()];
      const int64_t kind = random.between(0, 4);
      if (kind == 0 && parent.is_object()) {
        parent.erase(way.back());
      } else if (kind == 0) {
        parent.erase(size_t(std::stoul(way.back())));
      } else if (kind == 1) {
        const nlohmann::json other = document[draw()];
        document[way] = other;
      } else if (kind == 2 && document[way].is_number_integer()) {
        document[way] = document[way].get<int64_t>() + random.between(-2, 2);
      } else if (kind == 3 && parent.is_object()) {
        parent[way.back() + "s"] = odd_value(random);
      } else {
        document[way] = odd_value(random);
      }
      if (!document.is_object()) break;
    }
    const std::string text = document.dump();
    try {
      const MappedProgram program = parse_mapped_program(text, "m.json");
      ++accepted;
      if (!program.mapping.routes.empty()) configure(program.problem, program.mapping);
    } catch (const Error& error) {
      ASSERT_NE(error.kind(), ErrorKind::kInternal)
          << "seed " << seed << " case " << i << ": " << error.what() << "\n"
          << text;
      ++refused;
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << " case " << i << ": " << error.what() << "\n" << text;
    }
  }
  RecordProperty("cases", int(cases));
  EXPECT_GT(accepted, 0);  // few changes leave a program
  EXPECT_GT(refused, cases / 2);
}

}  // namespace
}  // namespace tilewright::cgra
