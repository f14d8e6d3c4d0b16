#include <gtest/gtest.h>

#include "tilewright/host/kernel_testing.h"

namespace tilewright {
namespace {

using testing::f32;
using testing::i64;
using testing::run_op;

Shape reshaped(Shape from, std::initializer_list<int64_t> to, int64_t allowzero = 0) {
  return run_op("Reshape", {Tensor(ElementType::kF32, std::move(from)), i64(to)},
                {{"allowzero", allowzero}})[0]
      .shape();
}

TEST(ShapeKernels, ReshapeCopiesInfersAndAllowsZero) {
  EXPECT_EQ(reshaped({2, 3, 4}, {0, -1}), (Shape{2, 12}));
  EXPECT_EQ(reshaped({2, 3, 4}, {-1}), (Shape{24}));
  EXPECT_EQ(reshaped({0, 3}, {3, 0}, 1), (Shape{3, 0}));
  EXPECT_EQ(reshaped({0, 3}, {0, -1}, 0), (Shape{0, 0}));
}

TEST(ShapeKernels, ReshapeRejectsWhatDoesNotFit) {
  EXPECT_THROW(reshaped({2, 3}, {4, -1}), Error);
  EXPECT_THROW(reshaped({2, 3}, {-1, -1}), Error);
  EXPECT_THROW(reshaped({2, 3}, {2, 3, 0}), Error);
  EXPECT_THROW(reshaped({2, 3}, {-2, 3}), Error);
  EXPECT_THROW(reshaped({2, 3}, {int64_t{1} << 40, int64_t{1} << 40}), Error);
}

TEST(ShapeKernels, FlattenSqueezeUnsqueeze) {
  const Tensor data(ElementType::kI8, Shape{1, 2, 1, 3});
  EXPECT_EQ(run_op("Flatten", {data}, {{"axis", int64_t{-2}}})[0].shape(), (Shape{2, 3}));
  EXPECT_EQ(run_op("Flatten", {data}, {{"axis", int64_t{4}}})[0].shape(), (Shape{6, 1}));
  EXPECT_EQ(run_op("Squeeze", {data})[0].shape(), (Shape{2, 3}));
  EXPECT_EQ(run_op("Squeeze", {data, i64({-2})})[0].shape(), (Shape{1, 2, 3}));
  EXPECT_THROW(run_op("Squeeze", {data, i64({1})}), Error);
  EXPECT_EQ(run_op("Unsqueeze", {data, i64({5, 0})})[0].shape(), (Shape{1, 1, 2, 1, 3, 1}));
  EXPECT_THROW(run_op("Unsqueeze", {data, i64({0, 0})}), Error);
}

TEST(ShapeKernels, ShapeAndSize) {
  const Tensor data(ElementType::kF16, Shape{3, 4, 5});
  EXPECT_EQ(run_op("Shape", {data})[0].to_integers(), (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(run_op("Shape", {data}, {{"start", int64_t{-2}}, {"end", int64_t{9}}})[0].to_integers(),
            (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(run_op("Size", {data})[0].integer_at(0), 60);
}

TEST(ShapeKernels, DropoutPassesThroughAndRefusesTraining) {
  const Tensor data = f32({3}, {1, 2, 3});
  const auto outputs = run_op("Dropout", {data}, {}, 2);
  EXPECT_TRUE(outputs[0].identical(data));
  EXPECT_EQ(outputs[1].to_integers(), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_THROW(run_op("Dropout", {data, Tensor::scalar(0.5f), Tensor::scalar(true)}), Error);
}

TEST(ConstantKernels, MakeWhatTheySay) {
  EXPECT_EQ(run_op("Constant", {}, {{"value_ints", std::vector<int64_t>{4, 5}}})[0].to_integers(),
            (std::vector<int64_t>{4, 5}));
  const Tensor filled =
      run_op("ConstantOfShape", {i64({2, 2})}, {{"value", Tensor::of<int32_t>({1}, {7})}})[0];
  EXPECT_EQ(filled.type(), ElementType::kI32);
  EXPECT_EQ(filled.to_integers(), (std::vector<int64_t>{7, 7, 7, 7}));
  EXPECT_EQ(run_op("ConstantOfShape", {i64({0})})[0].size(), 0);
  EXPECT_THROW(run_op("ConstantOfShape", {i64({1 << 20, 1 << 20})}), Error);
  EXPECT_EQ(run_op("Range",
                   {Tensor::scalar<int32_t>(10), Tensor::scalar<int32_t>(4), Tensor::scalar<int32_t>(-3)})[0]
                .to_integers(),
            (std::vector<int64_t>{10, 7}));
  EXPECT_THROW(run_op("Range", {Tensor::scalar(0.f), Tensor::scalar(1.f), Tensor::scalar(0.f)}), Error);
}

}  // namespace
}  // namespace tilewright
