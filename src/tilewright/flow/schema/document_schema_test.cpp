// What a schema learns from a small reader of every kind of field.
#include "tilewright/flow/schema/document_schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"
#include "tilewright/base/yaml.h"

namespace tilewright {
namespace {

using Schema = nlohmann::ordered_json;

// In YAML every plain scalar is a text for a reader that wants one.
const Schema kPlain = {{"type", {"boolean", "number", "string"}}};

// {name, size: 1..8, rate: a number or the word fast, parts: a list of {weight}, colours: any key to a text}
void read_example(const std::string& text) {
  Diagnostics problems;
  YamlMap map(parse_yaml(text, "example"), "example", problems);
  map.text("name");
  map.integer("size", 1, 8, 4);
  map.boolean("wide", false);
  double rate = 0;
  const YAML::Node given = map.child("rate");
  if (given.IsDefined() && !YAML::convert<double>::decode(given, rate) && given.Scalar() != "fast")
    map.error("rate", "a number or fast is expected");
  const YAML::Node parts = map.child("parts");
  if (parts.IsDefined() && !parts.IsSequence()) map.error("parts", "a list is expected");
  if (parts.IsDefined() && parts.IsSequence()) {
    for (const YAML::Node& node : parts) {
      YamlMap part(node, "example", problems);
      part.number("weight", 0, 1);
      part.finish();
    }
  }
  const YAML::Node colours = map.child("colours");
  if (colours.IsDefined() && !colours.IsMap()) map.error("colours", "a map is expected");
  if (colours.IsDefined() && colours.IsMap()) {
    for (const auto& entry : colours)
      if (!entry.second.IsScalar()) map.error("colours", "a text is expected");
  }
  map.finish();
  problems.raise_if_any();
}

TEST(DocumentSchema, HasWhatTheReaderAsksFor) {
  const Schema schema =
      document_schema(read_example, {"name: a\nrate: fast\ncolours: {sky: blue}\n", "name: b\nrate: 2.5\n"});
  EXPECT_EQ(schema["type"], "object");
  EXPECT_EQ(schema["required"], Schema({"name"}));
  EXPECT_EQ(schema["additionalProperties"], false);
  const Schema& fields = schema["properties"];
  EXPECT_EQ(fields["size"], (Schema{{"type", "integer"}, {"minimum", 1}, {"maximum", 8}}));
  EXPECT_EQ(fields["wide"], (Schema{{"type", "boolean"}}));
  EXPECT_EQ(fields["rate"], kPlain);
  EXPECT_EQ(fields["colours"]["type"], "object");
  EXPECT_EQ(fields["colours"]["additionalProperties"], kPlain);
}

// A reader that minds the order of a map: every value is a number that is not less than the one before it.
void read_rising(const std::string& text) {
  Diagnostics problems;
  YamlMap map(parse_yaml(text, "example"), "example", problems);
  double least = 0, value = 0;
  const YAML::Node steps = map.child("steps");
  if (!steps.IsDefined() || !steps.IsMap()) throw Error(ErrorKind::kInvalidInput, "steps: a map is expected");
  for (const auto& entry : steps) {
    if (!YAML::convert<double>::decode(entry.second, value) || value < least)
      map.error("steps", "a number is expected, and none below the one before it");
    least = value;
  }
  map.finish();
  problems.raise_if_any();
}

TEST(DocumentSchema, TriesWhatStandsInMapsOfAnyKeys) {
  const Schema schema = document_schema(read_rising, {"steps: {z: 1, a: 2, k: 3}\n"});
  EXPECT_EQ(schema["properties"]["steps"]["additionalProperties"], (Schema{{"type", "number"}}));
}

// No specimen has parts: that they are a list of maps is found by trying.
TEST(DocumentSchema, FindsMapsThatNoSpecimenHas) {
  const Schema schema = document_schema(read_example, {"name: a\n"});
  const Schema& parts = schema["properties"]["parts"];
  EXPECT_EQ(parts["type"], "array");
  EXPECT_EQ(parts["items"]["required"], Schema({"weight"}));
  EXPECT_EQ(parts["items"]["additionalProperties"], false);
  EXPECT_EQ(parts["items"]["properties"]["weight"],
            (Schema{{"type", "number"}, {"minimum", 0}, {"maximum", 1}}));
}

TEST(DocumentSchema, RefusesASpecimenThatIsWrong) {
  EXPECT_THROW(document_schema(read_example, {"size: 9\n"}), Error);
}

TEST(DocumentJson, KnowsTheTypesOfPlainScalars) {
  const nlohmann::ordered_json json =
      document_json("a: 1\nb: 2.5e-3\nc: true\nd: \"7\"\ne: text\nf: [1, {g: x}]\n");
  EXPECT_EQ(json, nlohmann::ordered_json::parse(
                      R"({"a":1,"b":0.0025,"c":true,"d":"7","e":"text","f":[1,{"g":"x"}]})"));
}

}  // namespace
}  // namespace tilewright
