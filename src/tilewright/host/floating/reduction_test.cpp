#include <gtest/gtest.h>

#include "tilewright/host/kernel_testing.h"

namespace tilewright {
namespace {

using testing::f32;
using testing::i64;
using testing::run_op;
using Integers = std::vector<int64_t>;

// Along the middle axis of 2x3x2 holding 1..12.
std::vector<float> reduced(const char* op, bool keep = false) {
  Tensor x(ElementType::kF32, Shape{2, 3, 2});
  for (int64_t i = 0; i < x.size(); ++i) x.set_number(i, double(i + 1));
  return run_op(op, {x}, {{"axes", Integers{-2}}, {"keepdims", int64_t{keep}}})[0].to_floats();
}

TEST(Reduction, AlongAMiddleAxis) {
  using Floats = std::vector<float>;
  EXPECT_EQ(reduced("ReduceSum"), (Floats{9, 12, 27, 30}));
  EXPECT_EQ(reduced("ReduceMean"), (Floats{3, 4, 9, 10}));
  EXPECT_EQ(reduced("ReduceMax"), (Floats{5, 6, 11, 12}));
  EXPECT_EQ(reduced("ReduceMin"), (Floats{1, 2, 7, 8}));
  EXPECT_EQ(reduced("ReduceProd"), (Floats{15, 48, 693, 960}));
  EXPECT_EQ(reduced("ReduceSumSquare"), (Floats{35, 56, 251, 308}));
  EXPECT_EQ(reduced("ReduceL1"), (Floats{9, 12, 27, 30}));
  EXPECT_FLOAT_EQ(reduced("ReduceL2")[0], 5.9160798f);
}

TEST(Reduction, AxesAndShapes) {
  const Tensor x(ElementType::kI32, Shape{2, 3, 4});
  EXPECT_EQ(run_op("ReduceSum", {x, i64({0, -1})})[0].shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(run_op("ReduceMax", {x}, {{"axes", Integers{0, 2}}, {"keepdims", int64_t{0}}})[0].shape(),
            (Shape{3}));
  EXPECT_EQ(run_op("ReduceSum", {x})[0].shape(), (Shape{1, 1, 1}));
  EXPECT_EQ(run_op("ReduceSum", {x, i64({})}, {{"noop_with_empty_axes", int64_t{1}}})[0].shape(), x.shape());
  EXPECT_EQ(run_op("ReduceMean", {Tensor::scalar(4.0f)})[0].number_at(0), 4);
  EXPECT_THROW(run_op("ReduceSum", {x, i64({3})}), Error);
  EXPECT_THROW(run_op("ReduceSum", {x, i64({1, -2})}), Error);
}

TEST(Reduction, EmptyAxes) {
  const Tensor x(ElementType::kF32, Shape{2, 0});
  EXPECT_EQ(run_op("ReduceSum", {x, i64({1})})[0].to_floats(), (std::vector<float>{0, 0}));
  EXPECT_EQ(run_op("ReduceProd", {x}, {{"axes", Integers{1}}})[0].to_floats(), (std::vector<float>{1, 1}));
  EXPECT_THROW(run_op("ReduceMax", {x}, {{"axes", Integers{1}}}), Error);
}

TEST(Reduction, IntegersAndNan) {
  const Tensor x = Tensor::of<int8_t>({3}, {-128, 1, 127});
  EXPECT_EQ(run_op("ReduceL1", {x})[0].integer_at(0), 0);  // 256 in eight bits
  EXPECT_EQ(run_op("ReduceMin", {x})[0].integer_at(0), -128);
  EXPECT_EQ(run_op("ReduceMean", {Tensor::of<uint8_t>({2}, {255, 254})})[0].integer_at(0), 254);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(run_op("ReduceMax", {f32({3}, {1, nan, 2})})[0].number_at(0)));
}

}  // namespace
}  // namespace tilewright
