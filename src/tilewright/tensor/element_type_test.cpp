#include "tilewright/tensor/element_type.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tilewright {
namespace {

TEST(ElementType, NamesRoundTripAndRangesAreRight) {
  for (int i = 0; i < kElementTypeCount; ++i)
    EXPECT_EQ(parse_element_type(name(ElementType(i))), ElementType(i));
  EXPECT_FALSE(parse_element_type("int8"));
  EXPECT_EQ(lowest(ElementType::kI8), -128);
  EXPECT_EQ(highest(ElementType::kU4), 15);
  EXPECT_EQ(lowest(ElementType::kI1), -1);
  EXPECT_EQ(highest(ElementType::kI1), 0);
  EXPECT_EQ(highest(ElementType::kI64), INT64_MAX);
  EXPECT_EQ(lowest(ElementType::kI64), INT64_MIN);
  EXPECT_EQ(lowest(ElementType::kBipolar), -1);
}

TEST(Half, EveryBitPatternSurvivesTheWayThroughFloat) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const Half half{uint16_t(bits)};
    const float value = to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(to_float(to_half(value))));
    } else {
      ASSERT_EQ(to_half(value), half) << bits;
    }
  }
}

TEST(Half, RoundsToNearestEvenBetweenNeighbours) {
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const float low = to_float(Half{uint16_t(bits)}), high = to_float(Half{uint16_t(bits + 1)});
    const float middle = (low + high) / 2;
    ASSERT_EQ(to_half(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(to_half(std::nextafter(middle, high)).bits, bits + 1);
    ASSERT_EQ(to_half(std::nextafter(middle, low)).bits, bits);
  }
  EXPECT_EQ(to_half(65519.0f).bits, 0x7BFF);
  EXPECT_EQ(to_half(65520.0f).bits, 0x7C00);
}

TEST(BFloat16, EveryBitPatternSurvivesTheWayThroughFloat) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const BFloat16 stored{uint16_t(bits)};
    const float value = to_float(stored);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(to_float(to_bfloat16(value))));
    } else {
      ASSERT_EQ(to_bfloat16(value), stored) << bits;
    }
  }
}

TEST(BFloat16, RoundsToNearestEvenBetweenNeighbours) {
  for (uint32_t bits = 0; bits < 0x7F7F; ++bits) {
    const float low = to_float(BFloat16{uint16_t(bits)}), high = to_float(BFloat16{uint16_t(bits + 1)});
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(to_bfloat16(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(to_bfloat16(std::nextafter(middle, high)).bits, bits + 1);
    ASSERT_EQ(to_bfloat16(std::nextafter(middle, low)).bits, bits);
  }
}

}  // namespace
}  // namespace tilewright
