// Accuracy and noise reports on small models whose figures are known.
#include "tilewright/quantize/report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/quantize/qdq_testing.h"

namespace tilewright {
namespace {

// y = x, or x rounded to multiples of `scale`.
Graph identity(double scale) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 3});
  const ValueId y = scale > 0 ? g.rounded(x, {float(scale), 0}) : g.node("Identity", {x}, {1, 3});
  g.graph.value(y).name = "y";
  g.graph.outputs = {y};
  return g.graph;
}

// Largest at 0, 1, 2, 2; coarse rounding to multiples of 1 makes the second sample a tie (0 wins) and keeps
// the rest.
const Tensor kSamples = Tensor::of<float>({4, 3}, {3, 1, 0, 0.8f, 1.2f, 0, 0, 0, 5, 1, 2, 3});

TEST(CompareAccuracy, CountsAgreementsAndRightAnswers) {
  const AccuracyReport report = compare_accuracy(identity(0), identity(1), {kSamples}, {0, 1, 2, 0}, 2);
  EXPECT_EQ(report.samples, 4);
  EXPECT_EQ(report.float_correct, 3);
  EXPECT_EQ(report.quantized_correct, 2);
  EXPECT_EQ(report.agreements, 3);
  EXPECT_EQ(to_string(report),
            "4 samples, 3 (75.00%) with the same answer in float and quantised\n"
            "accuracy: float 75.00%, quantised 50.00% (-25.00 points)\n");
  EXPECT_EQ(compare_accuracy(identity(0), identity(1), {kSamples}, {}, 1).labelled, 0);
}

// The index of the largest of `x`, or of `x` rounded.
Graph class_number(double scale) {
  QdqGraphBuilder g;
  g.graph = identity(scale);
  g.graph.outputs = {g.node("ArgMax", {g.graph.outputs[0]}, {1},
                            {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}}, ElementType::kI64)};
  return g.graph;
}

// A model that ends in ArgMax gives the same report as one that gives the scores.
TEST(CompareAccuracy, TakesTheClassNumberItself) {
  EXPECT_EQ(classify(class_number(0), {kSamples}, 2), (std::vector<int64_t>{0, 1, 2, 2}));
  EXPECT_EQ(classify(class_number(1), {kSamples}, 1), (std::vector<int64_t>{0, 0, 2, 2}));
  EXPECT_EQ(to_string(compare_accuracy(class_number(0), class_number(1), {kSamples}, {0, 1, 2, 0}, 2)),
            to_string(compare_accuracy(identity(0), identity(1), {kSamples}, {0, 1, 2, 0}, 2)));
}

TEST(Classes, AreScoresOrNumbersOrNothing) {
  EXPECT_EQ(classes_in(kSamples, 4), (std::vector<int64_t>{0, 1, 2, 2}));
  EXPECT_EQ(classes_in(kSamples, 2), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(classes_in(Tensor::of<int8_t>({2, 2}, {-1, -1, 3, 4}), 2), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(classes_in(Tensor::of<int8_t>({3}, {7, -2, 0}), 3), (std::vector<int64_t>{7, -2, 0}));
  EXPECT_EQ(classes_in(Tensor::of<float>({2}, {7, 8}), 2), (std::vector<int64_t>{0, 0}));
  for (const int64_t samples : {0, 2})
    EXPECT_TRUE(classes_in(Tensor(ElementType::kF32, {samples, 0}), samples).empty());
  EXPECT_EQ(class_count(ElementType::kI64, 1), int64_t{1} << 31);
  EXPECT_EQ(class_count(ElementType::kF32, 1), 1);
  EXPECT_EQ(class_count(ElementType::kI8, 10), 10);
}

TEST(CompareAccuracyRejects, WrongNumberOfLabels) {
  try {
    compare_accuracy(identity(0), identity(1), {kSamples}, {1}, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("1 labels were given for 4 samples"), std::string::npos)
        << error.what();
  }
}

TEST(MeasureNoise, ComparesValuesByName) {
  const std::vector<ValueNoise> noise = measure_noise(identity(0), identity(1), {kSamples});
  ASSERT_EQ(noise.size(), 1u);
  EXPECT_EQ(noise[0].value, "y");
  EXPECT_NEAR(noise[0].largest_error, 0.2, 1e-6);
  EXPECT_EQ(noise[0].largest_magnitude, 5);
  const double signal = 9 + 1 + 0.64 + 1.44 + 25 + 1 + 4 + 9, error = 2 * 0.04;
  EXPECT_NEAR(noise[0].sqnr_db, 10 * std::log10(signal / error), 1e-4);
  EXPECT_NE(to_string(noise).find("y"), std::string::npos);
}

// x -> a -> b -> c; b is not quantised, d joins x and c.
TEST(LargestLoss, IsAgainstTheNearestKnownValues) {
  QdqGraphBuilder g;
  const ValueId x = g.graph.add_input("x", ElementType::kF32, {1, 3});
  const ValueId a = g.node("Relu", {x}, {1, 3}), b = g.node("Relu", {a}, {1, 3});
  const ValueId c = g.node("Relu", {b}, {1, 3}), d = g.node("Add", {x, c}, {1, 3});
  int number = 0;
  for (ValueId v : {a, b, c, d}) g.graph.value(v).name = std::string(1, "abcd"[number++]);
  g.graph.outputs = {d};
  const auto found = largest_loss(g.graph, {{"x", 40}, {"a", 38}, {"c", 25}, {"d", 24}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, 2u);
  EXPECT_EQ(found->loss_db, 13);
  // An input that happens to be exact is no better than 8 bits can be.
  const auto exact = largest_loss(g.graph, {{"x", 130}, {"a", 40}, {"c", 25}});
  ASSERT_TRUE(exact.has_value());
  EXPECT_EQ(exact->value, 2u);
  EXPECT_FALSE(largest_loss(g.graph, {{"x", 30}, {"c", 35}}));
}

}  // namespace
}  // namespace tilewright
