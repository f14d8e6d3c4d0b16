#include "tilewright/flow/target/output_preview.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace tilewright {
namespace {

RunReport scores(std::vector<float> values, const Shape& shape, std::vector<int64_t> classes) {
  RunReport report;
  Tensor tensor(ElementType::kF32, shape);
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>().begin());
  report.outputs.emplace_back("scores", tensor);
  report.classes = std::move(classes);
  return report;
}

TEST(OutputPreview, ShowsTheBestClassesOfTheFirstInputs) {
  const RunReport report = scores({1, 3, 2, 0, 9, -1, -2, 8}, {2, 4}, {1, 0});
  const Answer plain = output_preview(report, {});
  EXPECT_EQ(plain.text, "input 0: class 1 (3), 2 (2), 0 (1)\ninput 1: class 0 (9), 3 (8), 1 (-1)\n");
  const nlohmann::json json = nlohmann::json::parse(plain.json);
  EXPECT_EQ(json["top"][1][0], (nlohmann::json{{"class", 0}, {"score", 9.0}}));
  EXPECT_EQ(json["outputs"][0]["type"], "f32[2x4]");
  EXPECT_EQ(
      output_preview(report, {1, 3}).text,
      "input 0: class 1 (3), 2 (2), 0 (1); label 1\ninput 1: class 0 (9), 3 (8), 1 (-1); label 3, wrong\n");
}

TEST(OutputPreview, ShowsTheFirstValuesOfOtherOutputs) {
  RunReport report = scores(std::vector<float>(12, 0.5F), {1, 3, 2, 2}, {0});
  report.outputs[0].second.mutable_data<float>()[1] = std::numeric_limits<float>::infinity();
  const Answer answer = output_preview(report, {});
  EXPECT_EQ(answer.text, "scores: f32[1x3x2x2] = 0.5, inf, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, ...\n");
  EXPECT_EQ(nlohmann::json::parse(answer.json)["outputs"][0]["first"][1], "inf");
}

TEST(OutputPreview, TellsOfMoreInputsThanItShows) {
  const Answer answer =
      output_preview(scores(std::vector<float>(20, 1), {10, 2}, std::vector<int64_t>(10, 0)), {});
  EXPECT_NE(answer.text.find("... and 5 more inputs\n"), std::string::npos);
}

TEST(OutputPreview, SaysNothingOfNothing) { EXPECT_EQ(output_preview({}, {}).text, ""); }

}  // namespace
}  // namespace tilewright
