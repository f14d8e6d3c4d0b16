#include "tilewright/flow/samples/samples.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tilewright {
namespace {

TEST(Samples, CutsInputsOfTheModelsShape) {
  const Samples images(Tensor::of<uint8_t>({3, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255}), 0, 0.5, "x");
  EXPECT_EQ(images.count_for({1, 1, 2, 2}), 3);
  EXPECT_EQ(images.count_for({3, 1, 2, 2}), 1);
  EXPECT_TRUE(images.cut(1, ElementType::kF32, {1, 1, 2, 2})
                  .identical(Tensor::of<float>({1, 1, 2, 2}, {2, 2.5f, 3, 3.5f})));
  EXPECT_TRUE(images.cut(2, ElementType::kU8, {4}).identical(Tensor::of<uint8_t>({4}, {8, 9, 10, 255})));
}

TEST(Samples, StacksAllInputs) {
  const Samples images(Tensor::of<uint8_t>({3, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255}), 2, 1, "x");
  EXPECT_TRUE(images.stack(ElementType::kF32, {1, 1, 2, 2})
                  .identical(Tensor::of<float>({2, 1, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7})));
}

TEST(Samples, StacksScalarsAndPackedInputs) {
  const Samples numbers(Tensor::of<int8_t>({3}, {1, -2, 3}), 0, 1, "x");
  EXPECT_TRUE(numbers.stack(ElementType::kI32, {}).identical(Tensor::of<int32_t>({3}, {1, -2, 3})));
  Tensor packed(ElementType::kI4, {3, 3});
  for (int64_t i = 0; i < 9; ++i) packed.set_integer(i, i - 4);
  const Tensor wide = packed.cast(ElementType::kI8);
  for (const Tensor& array : {packed, wide}) {
    const Samples samples(array, 0, 1, "x");
    EXPECT_TRUE(samples.stack(ElementType::kI4, {1, 3}).identical(packed));
    EXPECT_EQ(samples.cut(1, ElementType::kI4, {1, 3}).to_integers(), (std::vector<int64_t>{-1, 0, 1}));
  }
}

TEST(Samples, NamesBothShapesWhenTheyDoNotFit) {
  const Samples images(Tensor(ElementType::kF32, {3, 5}), 0, 1, "x.npy");
  try {
    images.count_for({1, 4});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "'x.npy' holds samples of 5 elements (array 3x5), the model wants 1x4; save samples of that "
                 "shape, one after the other along axis 0");
  }
  EXPECT_THROW(Samples(Tensor(ElementType::kF32, {3, 5}), 4, 1, "x.npy"), Error);
}

std::string sample_error(auto&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Samples, AxesMayBeFlatOrOneButNotInAnotherOrder) {
  const auto count = [](const Shape& array, const Shape& input) {
    return Samples(Tensor(ElementType::kF32, array), 0, 1, "x.npy").count_for(input);
  };
  EXPECT_EQ(count({6, 784}, {1, 1, 28, 28}), 6);
  EXPECT_EQ(count({6, 28, 28}, {1, 784}), 6);
  EXPECT_EQ(count({6, 28, 28, 1}, {2, 1, 28, 28}), 3);
  EXPECT_EQ(count({3, 4, 5}, {1, 3, 4, 5}), 1);
  EXPECT_EQ(count({4, 6}, {4, 2, 3}), 1);
  EXPECT_EQ(sample_error([&] {
              count({6, 8, 9, 3}, {1, 3, 8, 9});
            }),
            "'x.npy' holds as many elements per sample (array 6x8x9x3) as the model wants (1x3x8x9), but in "
            "other axes; transpose the array to the model's layout");
  EXPECT_NE(sample_error([&] { count({8, 9, 3}, {1, 3, 8, 9}); }), "no error");
  // Several samples do not make one of a larger input.
  EXPECT_EQ(sample_error([&] {
              count({8, 3, 8, 8}, {1, 3, 16, 8});
            }),
            "'x.npy' holds samples of 192 elements (array 8x3x8x8), the model wants 1x3x16x8; save samples "
            "of that shape, one after the other along axis 0");
  EXPECT_EQ(sample_error([&] {
              count({5, 3, 8, 8}, {2, 3, 8, 8});
            }),
            "'x.npy' holds 5 samples, no multiple of the model's batch of 2");
}

TEST(Samples, AnIntegerInputTakesOnlyWhatItCanHold) {
  const auto cut = [](float value) {
    Samples(Tensor::of<float>({1, 2}, {1, value}), 0, 1, "x.npy").cut(0, ElementType::kU8, {1, 2});
  };
  EXPECT_EQ(sample_error([&] { cut(255); }), "no error");
  for (const float value : {-1.0f, 256.0f, 0.5f, std::nanf("")}) {
    EXPECT_NE(
        sample_error([&] { cut(value); }).find("(element 1), which the model's input of type u8 cannot"),
        std::string::npos)
        << value;
  }
}

TEST(Samples, LabelsAreOneClassNumberPerSample) {
  const auto labels = [](Tensor array, int64_t count, bool may_be_longer = false) {
    return Samples(std::move(array), 0, 1, "l.npy").labels(count, 10, may_be_longer);
  };
  const Tensor three = Tensor::of<int64_t>({3}, {9, 0, 4});
  EXPECT_EQ(labels(three, 3), (std::vector<int64_t>{9, 0, 4}));
  EXPECT_EQ(labels(Tensor::of<float>({3, 1}, {9, 0, 4}), 3), (std::vector<int64_t>{9, 0, 4}));
  EXPECT_EQ(labels(three, 2, true), (std::vector<int64_t>{9, 0}));
  EXPECT_EQ(sample_error([&] { labels(three, 2); }),
            "labels 'l.npy': 3 labels for 2 samples; labels and inputs must match; or give a sample count");
  EXPECT_NE(sample_error([&] { labels(three, 4, true); }).find("3 labels for 4 samples"), std::string::npos);
  EXPECT_NE(sample_error([&] {
              labels(Tensor(ElementType::kF32, {3, 10}), 3);
            }).find("3x10 is not one number"),
            std::string::npos);
  for (const float value : {-1.0f, 10.0f, 0.5f, std::nanf("")}) {
    EXPECT_NE(
        sample_error([&] { labels(Tensor::of<float>({1}, {value}), 1); }).find("not a class label in 0..9"),
        std::string::npos)
        << value;
  }
}

TEST(Argmax, TakesTheFirstOfEquals) { EXPECT_EQ(argmax(Tensor::of<float>({4}, {1, 3, 3, 2})), 1); }

}  // namespace
}  // namespace tilewright
