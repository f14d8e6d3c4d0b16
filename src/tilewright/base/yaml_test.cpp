#include "tilewright/base/yaml.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/random_seed_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

TEST(YamlMap, ReportsEveryWrongFieldAtOnceWithItsLine) {
  Diagnostics diagnostics;
  YamlMap map(parse_yaml("a: 5\nb: big\nc: 700\nextra: 1\nd: [1]\n", "x.yaml"), "x.yaml", diagnostics);
  EXPECT_EQ(map.integer("a", 1, 10), 5);
  map.integer("b", 1, 10);
  map.integer("c", 1, 10);
  map.text("d");
  map.number("missing", 0, 1);
  EXPECT_EQ(map.boolean("off", false), false);
  map.finish();
  std::string all;
  for (const Diagnostic& d : diagnostics.errors()) all += to_string(d) + "\n";
  EXPECT_EQ(all,
            "x.yaml:2 (b): 'big' is not an integer in 1..10\n"
            "x.yaml:3 (c): '700' is not an integer in 1..10\n"
            "x.yaml:5 (d): a string is expected\n"
            "x.yaml:1 (missing): missing field; give a number in 0..1\n"
            "x.yaml:4 (extra): unknown field; known fields: a, b, c, d, missing, off\n");
}

TEST(YamlClass, QuotedTextsReadBackWhateverTheyHold) {
  Random random(test_seed());
  for (int64_t i = 0; i < test_cases(300); ++i) {
    std::string text;
    for (int64_t left = random.between(0, 9); left > 0; --left) text += char(random.between(1, 127));
    const YAML::Node read = parse_yaml("{name: " + yaml_quoted(text) + ", other: 1}", "the text");
    EXPECT_EQ(read["name"].Scalar(), text) << "seed " << test_seed();
  }
  EXPECT_EQ(yaml_quoted("a \"b\"\n"), "\"a \\\"b\\\"\\n\"");
}

TEST(YamlClass, NumbersAreTakenFromLowToHighInclusive) {
  for (int64_t low = -2; low <= 2; ++low) {
    for (int64_t high = low + 1; high <= 3; ++high) {
      for (int64_t value = -4; value <= 5; ++value) {
        const bool inside = low <= value && value <= high;
        Diagnostics diagnostics;
        YamlMap map(parse_yaml(fmt::format("i: {}\nn: {}.0", value, value), "x"), "x", diagnostics);
        EXPECT_EQ(map.integer("i", low, high), inside ? value : low);
        EXPECT_EQ(map.number("n", double(low), double(high)), double(inside ? value : low));
        ASSERT_EQ(diagnostics.errors().size(), inside ? 0u : 2u);
        if (inside) continue;
        EXPECT_EQ(diagnostics.errors()[0].message,
                  fmt::format("'{}' is not an integer in {}..{}", value, low, high));
        EXPECT_EQ(diagnostics.errors()[1].message,
                  fmt::format("'{}.0' is not a number in {}..{}", value, low, high));
      }
    }
  }
}

TEST(Yaml, FilesOfMoreThan16MibAreNotRead) {
  const auto path = std::filesystem::path(testing::TempDir()) / "tilewright_yaml_test.yaml";
  write_text_file(path, std::string((1 << 24) + 1, '#'));
  EXPECT_THROW(read_yaml_file(path), Error);
  std::filesystem::remove(path);
}

TEST(Yaml, SyntaxErrorsHaveLineAndColumn) {
  try {
    parse_yaml("a: [1, 2\nb: }", "bad.yaml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).rfind("bad.yaml:2:", 0), 0u) << error.what();
  }
  try {
    parse_yaml("a: 1\nb: {c: 2}}", "bad.yaml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).rfind("bad.yaml:2:10:", 0), 0u) << error.what();
  }
}

std::string error_of(const std::string& text) {
  try {
    parse_yaml(text, "x.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    return error.what();
  }
  return "no error";
}

TEST(Yaml, AliasesStandForWhatTheyName) {
  const YAML::Node root = parse_yaml("a: &one {x: [1, 2]}\nb: *one\nc: [*one, *one]\n", "x.yaml");
  EXPECT_EQ(root["b"]["x"][1].as<int>(), 2);
  EXPECT_EQ(root["c"][1]["x"][0].as<int>(), 1);
}

TEST(Yaml, ANodeThatContainsItselfIsRefused) {
  for (const char* text : {"&a [*a, *a]", "&a {k: *a}", "- &a\n  - &b [*a]\n", "&a {*a : 1}"}) {
    EXPECT_NE(error_of(text).find(": an alias inside the node that it refers to; write it out"),
              std::string::npos)
        << text << ": " << error_of(text);
  }
}

TEST(Yaml, SizeAndDepthHaveLimits) {
  std::string doubled = "a0: &a0 [x]\n", chain = "a0: &a0 [x]\n";
  for (int i = 1; i < 60; ++i) {
    doubled += fmt::format("a{0}: &a{0} [*a{1}, *a{1}]\n", i, i - 1);
    chain += fmt::format("a{0}: &a{0} [[*a{1}]]\n", i, i - 1);
  }
  EXPECT_EQ(error_of(doubled), "x.yaml:19:12: more than 1048576 values, aliases expanded; split the file");
  EXPECT_NE(error_of(chain).find("nested deeper than 64"), std::string::npos) << error_of(chain);
  EXPECT_NE(error_of(std::string(100000, '[')).find("nested deeper than 64"), std::string::npos)
      << error_of(std::string(100000, '['));
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "- ";
  EXPECT_NE(error_of(lines + "x").find("nested deeper than 64"), std::string::npos);
  EXPECT_EQ(error_of(std::string(63, '[') + "1" + std::string(63, ']')), "no error");
}

TEST(YamlMap, AWrongNodeLeavesTheDocumentAsItIs) {
  const YAML::Node root = parse_yaml("a: &a [1]\nb: *a\n", "x.yaml");
  Diagnostics diagnostics;
  YamlMap(root["a"], "x.yaml", diagnostics).finish();
  EXPECT_EQ(diagnostics.errors().size(), 1u);
  EXPECT_TRUE(root["b"].IsSequence());
}

// A random document: nodes, anchors, aliases to anything that has been named so far.
std::string random_node(Random& random, int depth, std::vector<std::string>& anchors) {
  const int64_t kind = random.between(0, depth > 5 ? 1 : 5);
  if (kind == 1 && !anchors.empty())
    return "*" + anchors[size_t(random.between(0, int64_t(anchors.size()) - 1))];
  std::string text;
  if (random.chance(0.4)) {
    anchors.push_back("n" + std::to_string(random.chance(0.2) ? 0 : int64_t(anchors.size())));
    text = "&" + anchors.back() + " ";
  }
  if (kind <= 1) return text + std::to_string(random.between(0, 99));
  const bool map = kind >= 4;
  text += map ? "{" : "[";
  const int64_t count = random.between(0, 4);
  for (int64_t i = 0; i < count; ++i) {
    text += (i ? ", " : "") + (map ? "k" + std::to_string(i) + ": " : std::string());
    text += random_node(random, depth + 1, anchors);
  }
  return text + (map ? " }" : " ]");
}

size_t walk(const YAML::Node& node) {
  size_t count = 1;
  if (node.IsSequence())
    for (const auto& entry : node) count += walk(entry);
  if (node.IsMap())
    for (const auto& entry : node) count += walk(entry.first) + walk(entry.second);
  return count;
}

// Whatever stands in a document: it is refused, or a tree of at most the stated size that can be walked and
// read.
TEST(YamlClass, EveryDocumentIsAFiniteTreeOrRefused) {
  Random random(test_seed());
  const int64_t cases = test_cases(3000);
  RecordProperty("cases", int(cases));
  int64_t accepted = 0;
  for (int64_t i = 0; i < cases; ++i) {
    std::vector<std::string> anchors;
    const std::string text = random_node(random, 0, anchors);
    try {
      const YAML::Node root = parse_yaml(text, "x.yaml");
      ASSERT_LE(walk(root), size_t{1} << 20) << text;
      Diagnostics diagnostics;
      for (const auto& entry : root)
        YamlMap(entry.IsDefined() ? entry : entry.second, "x", diagnostics).finish();
      ASSERT_LE(walk(root), size_t{1} << 20) << text;
      ++accepted;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kInvalidInput) << text;
    }
  }
  EXPECT_GT(accepted, cases / 5) << "seed " << test_seed();
  EXPECT_LT(accepted, cases) << "seed " << test_seed();
}

}  // namespace
}  // namespace tilewright
