#include "tilewright/flow/samples.h"

#include <gtest/gtest.h>

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

TEST(Samples, NamesBothShapesWhenTheyDoNotFit) {
  const Samples images(Tensor(ElementType::kF32, {3, 5}), 0, 1, "x.npy");
  try {
    images.count_for({1, 4});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "'x.npy' holds samples of 5 elements (array 3x5), the model wants 1x4");
  }
  EXPECT_THROW(Samples(Tensor(ElementType::kF32, {3, 5}), 4, 1, "x.npy"), Error);
}

TEST(Argmax, TakesTheFirstOfEquals) { EXPECT_EQ(argmax(Tensor::of<float>({4}, {1, 3, 3, 2})), 1); }

}  // namespace
}  // namespace tilewright
