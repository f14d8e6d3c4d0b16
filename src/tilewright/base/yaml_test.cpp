#include "tilewright/base/yaml.h"

#include <gtest/gtest.h>

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
            "x.yaml:5 (d): a text is expected\n"
            "x.yaml:1 (missing): missing field; give a number in 0..1\n"
            "x.yaml:4 (extra): unknown field; known fields: a, b, c, d, missing, off\n");
}

TEST(Yaml, SyntaxErrorsHaveLineAndColumn) {
  try {
    parse_yaml("a: [1, 2\nb: }", "bad.yaml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).rfind("bad.yaml:2:", 0), 0u) << error.what();
  }
}

}  // namespace
}  // namespace tilewright
