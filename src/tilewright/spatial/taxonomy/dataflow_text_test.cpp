#include <gtest/gtest.h>

#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/spatial/taxonomy/dataflow_search.h"

namespace tilewright::study {
namespace {

const std::filesystem::path kDataflowFiles = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "dataflows";

constexpr const char* kSmall = R"(name: small
register_file_bytes: 4
variables:
  m: M
  p: min(M, J)
accesses:
  dram: {input: I*ceil(M/m), weight: K, output: O}
  array: {input: MAC}
constraints:
  capacity: m*C*R*S <= Q
  pes: p <= J
active_pes: p
)";

std::string problems(const std::string& text) {
  try {
    parse_dataflow(text, "test.yaml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const size_t at = text.find(from);
  return text.replace(at, from.size(), to);
}

TEST(DataflowText, ReadsTheShippedFiles) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kDataflowFiles)) {
    const Dataflow flow = read_dataflow(entry.path());
    EXPECT_EQ(flow.name, entry.path().stem().string());
    EXPECT_FALSE(flow.mapping.empty());
    EXPECT_FALSE(flow.constraints.empty());
    ++count;
  }
  EXPECT_GE(count, 8);
}

TEST(DataflowText, EveryMistakeHasItsMessage) {
  EXPECT_EQ(problems(kSmall), "");
  EXPECT_EQ(problems(with("m*C*R*S <= Q", "m*C*R*S <= Z")).substr(0, 86),
            "test.yaml:10 (constraints.capacity): column 12 of 'm*C*R*S <= Z': unknown name 'Z'; kn");
  EXPECT_EQ(problems(with("m*C*R*S <= Q", "m*C*R*S")),
            "test.yaml:10 (constraints.capacity): column 8 of 'm*C*R*S': a comparison is expected; one of <= "
            ">= < > ==");
  EXPECT_EQ(problems(with("dram:", "drum:")),
            "test.yaml:7 (accesses.drum): unknown level; dram, buffer, array or register_file");
  EXPECT_EQ(problems(with("{input: MAC}", "{inputs: MAC}")),
            "test.yaml:8 (accesses.array.inputs): unknown data type; input, weight or output");
  EXPECT_EQ(problems(with("  p: min", "  M: J\n  p: min")), "test.yaml:5 (variables.M): 'M' is taken");
  EXPECT_EQ(problems(with("m: M", "m: p")).substr(0, 67),
            "test.yaml:4 (variables.m): column 1 of 'p': unknown name 'p'; known");
  EXPECT_EQ(problems(with("  p: min", "  2x: M\n  p: min")),
            "test.yaml:5 (variables.2x): '2x' is not a name; letters, digits and underscores");
  EXPECT_EQ(problems(with("  p: min", "  ceil: M\n  p: min")),
            "test.yaml:5 (variables.ceil): 'ceil' is not a name; letters, digits and underscores");
  EXPECT_EQ(problems(with("active_pes: p", "active: p")),
            "2 problems\n  test.yaml (active_pes): an expression is expected\n  test.yaml:12 (active): "
            "unknown field; did you mean 'active_pes'? known "
            "fields: accesses, active_pes, constraints, let, mapping, name, objective, parameters, "
            "register_file_bytes, title, variables");
  EXPECT_EQ(
      problems(std::string(kSmall) + "mapping: [{level: dram, temporal: [X: m]}]\n"),
      "test.yaml:13 (mapping.dram.temporal): 'X' is not a dimension of a convolution; N, G, M, C, P, Q, R, "
      "S");
  EXPECT_EQ(problems(std::string(kSmall) + "parameters: {a: many}\n"),
            "test.yaml:13 (parameters.a): a number in -1e12..1e12 is expected");
}

TEST(DataflowText, ReportsAllMistakesAtOnce) {
  std::string text = with("m*C*R*S <= Q", "m*C*R*S <= Z");
  text.replace(text.find("MAC"), 3, "MAX");
  const std::string message = problems(text);
  EXPECT_NE(message.find("'Z'"), std::string::npos);
  EXPECT_NE(message.find("'MAX'"), std::string::npos);
}

// Files with random damage are read, or refused with an Error; searches in what was read end, too.
TEST(DataflowText, SurvivesDamage) {
  constexpr uint64_t kSeed = 41;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  const StudyMachine machine = parse_study_machine(
      "pes: 16\nbuffer_bytes: 4096\nenergy: {dram: 200, buffer: 6, array: 2, register_file: 1, alu: 1}\n",
      "m");
  const LayerShape layer = square_layer("layer", 1, 2, 7, 3, 4, 6, 2);
  const std::string original = read_text_file(kDataflowFiles / "rs.yaml");
  const std::string pieces = "mnfpqrtMNFCQRFJ0123456789+-*/()<>=,.:{} \n";
  int read = 0, refused = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = original;
    for (int64_t k = random.between(1, 3); k > 0; --k) {
      const size_t at = size_t(random.between(0, int64_t(text.size()) - 1));
      const char c = pieces[size_t(random.between(0, int64_t(pieces.size()) - 1))];
      if (random.chance(0.5)) {
        text[at] = c;
      } else if (random.chance(0.5)) {
        text.insert(at, 1, c);
      } else {
        text.erase(at, 1);
      }
    }
    try {
      const Dataflow flow = parse_dataflow(text, "damaged.yaml");
      ++read;
      SearchOptions options;
      options.limits.most_nodes = 200;
      best_mapping(flow, layer, machine, equal_area_storage(machine, flow.register_file_bytes), options);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(read, 300);
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace tilewright::study
