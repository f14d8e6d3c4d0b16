// Interpolation between points, and expressions of parameters.
#include "tilewright/hardware/memory_curve.h"

#include <gtest/gtest.h>

#include "tilewright/hardware/array_parameters.h"

namespace tilewright {
namespace {

TEST(MemoryCurve, PowerLawBetweenPoints) {
  const MemoryCurve curve{{{512, 1}, {131072, 6}}};
  EXPECT_EQ(curve.problem(), "");
  EXPECT_EQ(curve.at(512), 1);
  EXPECT_EQ(curve.at(131072), 6);
  // 8192 = 512 * 16 lies half way to 131072 = 512 * 256.
  EXPECT_NEAR(curve.at(8192) * curve.at(8192), 6, 1e-12);
}

TEST(MemoryCurve, LinearPerByte) {
  const MemoryCurve curve{{{2, 100}, {4, 180}, {8, 160}}, false, true};
  EXPECT_EQ(curve.at(3), 3 * 140);
  EXPECT_EQ(curve.at(6), 6 * 170);
  EXPECT_EQ(curve.at(8), 8 * 160);
}

TEST(MemoryCurve, ZeroIsFineOnPlainAxesOnly) {
  EXPECT_EQ((MemoryCurve{{{1, 0}, {2, 4}}, false}).problem(), "");
  EXPECT_NE((MemoryCurve{{{1, 0}, {2, 4}}, true}).problem(), "");
  EXPECT_NE((MemoryCurve{}).problem(), "");
}

std::string evaluated(const std::string& text) {
  std::string problem;
  const std::map<std::string, double> names{{"a", 6}, {"b_2", 4}};
  const std::optional<double> value = evaluate_expression(text, names, problem);
  return value ? std::to_string(*value) : problem;
}

TEST(Expressions, ValuesAndProblems) {
  EXPECT_EQ(evaluated("a + b_2 * 2"), "14.000000");
  EXPECT_EQ(evaluated("(a + b_2) * 2 / 5 - -1"), "5.000000");
  EXPECT_EQ(evaluated("12 / a / 2"), "1.000000");
  EXPECT_EQ(evaluated("1e3 - a"), "994.000000");
  EXPECT_EQ(evaluated("c"), "there is no parameter 'c'");
  EXPECT_EQ(evaluated("a / (b_2 - 4)"), "division by zero");
  EXPECT_EQ(evaluated("a a"), "'a' is not expected here");
  EXPECT_EQ(evaluated("(a"), "')' is expected");
  EXPECT_EQ(evaluated(""), "the expression ends too early");
  EXPECT_EQ(evaluated("1e308 * 1e308"), "the value is not finite");
  EXPECT_EQ(evaluated(std::string(100000, '(')), "nested deeper than 100");
}

}  // namespace
}  // namespace tilewright
