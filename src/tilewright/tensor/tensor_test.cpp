#include "tilewright/tensor/tensor.h"

#include <gtest/gtest.h>

#include <array>

namespace tilewright {
namespace {

TEST(Tensor, CopiesShareUntilOneIsWritten) {
  Tensor a = Tensor::of<int32_t>({2, 2}, {1, 2, 3, 4});
  Tensor b = a;
  EXPECT_TRUE(a.shares_buffer_with(b));
  b.mutable_data<int32_t>()[0] = 9;
  EXPECT_EQ(a.data<int32_t>()[0], 1);
  EXPECT_EQ(b.data<int32_t>()[0], 9);
  EXPECT_FALSE(a.identical(b));
  EXPECT_TRUE(a.identical(Tensor::of<int32_t>({2, 2}, {1, 2, 3, 4})));
}

TEST(Tensor, EveryIntegerTypeStoresItsWholeRangePacked) {
  for (int t = 0; t < kElementTypeCount; ++t) {
    const ElementType type = ElementType(t);
    if (!is_integer(type) || bit_width(type) > 8) continue;
    const int64_t low = lowest(type), high = highest(type);
    Tensor tensor(type, {37});
    EXPECT_EQ(tensor.size_bytes(), size_t(37 * bit_width(type) + 7) / 8);
    for (int64_t i = 0; i < 37; ++i) tensor.set_integer(i, low + (i * 7) % (high - low + 1));
    for (int64_t i = 0; i < 37; ++i) {
      const int64_t value = low + (i * 7) % (high - low + 1);
      if (type == ElementType::kBipolar && value == 0) continue;  // bipolar has no zero
      EXPECT_EQ(tensor.integer_at(i), value) << name(type);
    }
    tensor.set_integer(0, 1000);
    EXPECT_EQ(tensor.integer_at(0), high);
  }
}

TEST(Tensor, PacksFromTheLeastSignificantBit) {
  Tensor tensor(ElementType::kI4, {3});
  tensor.set_integer(0, 1);
  tensor.set_integer(1, -2);
  tensor.set_integer(2, 7);
  EXPECT_EQ(int(tensor.bytes()[0]), 0xE1);
  EXPECT_EQ(int(tensor.bytes()[1]), 0x07);
}

TEST(Tensor, CastRoundsToEvenAndSaturates) {
  const Tensor floats = Tensor::of<float>({5}, {0.5f, 1.5f, -300.f, 1e9f, -2.5f});
  EXPECT_EQ(floats.cast(ElementType::kI8).to_integers(), (std::vector<int64_t>{0, 2, -128, 127, -2}));
  EXPECT_EQ(floats.cast(ElementType::kF16).cast(ElementType::kF32).to_floats()[2], -300.f);
}

TEST(Tensor, OverForeignMemoryNeverWritesToIt) {
  int freed = 0;
  std::array<std::byte, 4> memory{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  {
    Tensor tensor =
        Tensor::over(ElementType::kI8, {2, 2}, {memory.data(), [&](const std::byte*) { ++freed; }});
    EXPECT_EQ(tensor.bytes().data(), memory.data());
    Tensor moved = std::move(tensor).reshaped({4});
    EXPECT_EQ(moved.bytes().data(), memory.data());
    moved.set_integer(0, 9);
    EXPECT_EQ(moved.to_integers(), (std::vector<int64_t>{9, 2, 3, 4}));
    EXPECT_EQ(memory[0], std::byte{1});
    const std::byte* const own = moved.bytes().data();
    moved.set_integer(1, 8);  // its own by now
    EXPECT_EQ(moved.bytes().data(), own);
  }
  EXPECT_EQ(freed, 1);
}

TEST(Tensor, RefusesWhatCannotFit) {
  EXPECT_THROW(Tensor(ElementType::kF32, Shape{int64_t{1} << 42}), Error);
  EXPECT_EQ(to_string(ElementType::kF32, {1, 3}), "f32[1x3]");
}

}  // namespace
}  // namespace tilewright
