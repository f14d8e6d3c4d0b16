#include "tilewright/base/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

std::string parse_error(const std::string& text) {
  try {
    parse_json(text, "file");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Json, NamesThePlaceOfASyntaxError) {
  EXPECT_NE(parse_error("{\n \"a\": ]}").find("file:2:7: no JSON"), std::string::npos)
      << parse_error("{\n \"a\": ]}");
  EXPECT_NE(parse_error("").find("no JSON"), std::string::npos);
}

// A bracket too many anywhere in a text of several lines: the place is counted from its own characters.
TEST(JsonClass, TheReportedPlaceIsThatOfTheWrongCharacter) {
  Random random(test_seed());
  const int64_t cases = test_cases(200);
  RecordProperty("cases", int(cases));
  for (int64_t i = 0; i < cases; ++i) {
    std::string text = "[";
    for (int64_t k = random.between(0, 12); k > 0; --k) text += random.chance(0.3) ? '\n' : ' ';
    text += "]";
    for (int64_t k = random.between(0, 12); k > 0; --k) text += random.chance(0.3) ? '\n' : ' ';
    const size_t start = text.rfind('\n');
    const auto line = 1 + std::count(text.begin(), text.end(), '\n');
    const size_t column = text.size() - (start == std::string::npos ? 0 : start + 1) + 1;
    const std::string expected = fmt::format("file:{}:{}: no JSON", line, column);
    ASSERT_NE(parse_error(text + "]").find(expected), std::string::npos)
        << "seed " << test_seed() << ": " << text << "]: " << parse_error(text + "]") << ", not " << expected;
  }
}

TEST(JsonClass, IntegersAreTakenFromLowToHighInclusive) {
  for (int64_t low = -2; low <= 2; ++low) {
    for (int64_t high = low; high <= 3; ++high) {
      for (int64_t value = -4; value <= 5; ++value) {
        const std::optional<int64_t> read = json_integer(nlohmann::json(value), low, high);
        EXPECT_EQ(read.has_value(), low <= value && value <= high) << value << " in " << low << ".." << high;
        EXPECT_EQ(read.value_or(value), value);
      }
    }
  }
  EXPECT_EQ(json_integer(nlohmann::json(uint64_t(INT64_MAX)), 0, INT64_MAX), INT64_MAX);
  EXPECT_FALSE(json_integer(nlohmann::json(uint64_t(INT64_MAX) + 1), 0, INT64_MAX));
}

TEST(Json, RefusesDeepNestingDoubleFieldsAndHugeNumbers) {
  EXPECT_NE(parse_error(std::string(100000, '[')).find("nested deeper than 64"), std::string::npos);
  EXPECT_NE(parse_error(R"({"a": 1, "b": {"a": 2}, "a": 3})").find("\"a\" is given twice"),
            std::string::npos);
  EXPECT_EQ(parse_error(R"({"a": [{"a": 1}, {"a": 1}]})"), "");
  EXPECT_NE(parse_error("[1e999]").find("out of range"), std::string::npos);
}

TEST(Json, SizeHasALimit) {
  std::string text = "[0";
  for (int i = 1; i < 1 << 24; ++i) text += ",0";
  try {
    parse_json(text + "]", "x.json");
    FAIL() << "as many values as a file may have bytes";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "x.json: more than 16777216 values; split the file");
  }
}

TEST(Json, ReportsEveryWrongField) {
  const nlohmann::json value = parse_json(
      R"({"n": 70, "t": 5, "b": 1, "l": {}, "f": 1.5, "u": 18446744073709551615, "extra": 1})", "file");
  Diagnostics diagnostics;
  JsonMap map(value, "file", diagnostics);
  EXPECT_EQ(map.integer("n", 0, 64, 3), 3);
  EXPECT_EQ(map.integer("f", 0, 64, 4), 4);
  EXPECT_EQ(map.integer("u", -1, 64, 5), 5);
  EXPECT_EQ(map.text("t", "x"), "x");
  EXPECT_TRUE(map.boolean("b", true));
  EXPECT_EQ(map.list("l"), nullptr);
  EXPECT_EQ(map.list("absent"), nullptr);
  map.integer("missing", 1, 2);
  map.text("missing");
  map.boolean("missing");
  map.finish();
  ASSERT_EQ(diagnostics.errors().size(), 10u);
  EXPECT_EQ(diagnostics.errors()[0].message, "70 is not an integer in 0..64");
  EXPECT_EQ(diagnostics.errors()[1].message, "1.5 is not an integer in 0..64");
  EXPECT_EQ(diagnostics.errors()[3].message, "5 is not a string");
  EXPECT_EQ(diagnostics.errors()[4].message, "true or false is expected");
  EXPECT_EQ(diagnostics.errors()[5].message, "... is not a list [...]");
  EXPECT_EQ(diagnostics.errors()[6].message, "missing field");
  EXPECT_EQ(diagnostics.errors()[6].hint, "give an integer in 1..2");
  EXPECT_EQ(diagnostics.errors()[9].op, "extra");
}

// Texts of any bytes can be printed and read back; those that are UTF-8 are the same then.
TEST(JsonClass, TextsOfAnyBytesCanBePrinted) {
  Random random(test_seed());
  for (int64_t i = 0; i < test_cases(300); ++i) {
    std::string text;
    const bool ascii = random.chance(0.3);
    for (int64_t left = random.between(0, 9); left > 0; --left)
      text += char(random.between(0, ascii ? 127 : 255));
    const nlohmann::json value = {{"name", text}};
    for (const int indent : {-1, 2}) {
      const nlohmann::json read = parse_json(json_text(value, indent), "the text");
      EXPECT_EQ(parse_json(json_text(nlohmann::ordered_json(value), indent), "the text"), read);
      EXPECT_TRUE(!ascii || read == value) << "seed " << test_seed() << ": " << text;
      EXPECT_EQ(json_text(read, indent), json_text(value, indent)) << "seed " << test_seed();
    }
  }
  EXPECT_EQ(json_text(nlohmann::json("caf\xe9")), "\"caf\xef\xbf\xbd\"");
  EXPECT_EQ(json_quoted("\"caf\xc3\xa9\"\n"), "\"\\\"caf\xc3\xa9\\\"\\n\"");
  EXPECT_EQ(ascii_json_quoted("caf\xc3\xa9 \xe9"), "\"caf\\u00e9 \\ufffd\"");
}

TEST(Json, ReportsAValueThatIsNoObject) {
  Diagnostics diagnostics;
  const nlohmann::json value = parse_json("[1]", "file");
  JsonMap map(value, "file", diagnostics);
  map.finish();
  ASSERT_EQ(diagnostics.errors().size(), 1u);
  EXPECT_EQ(diagnostics.errors()[0].message, "an object {...} is expected");
}

}  // namespace
}  // namespace tilewright
