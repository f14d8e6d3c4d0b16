// Against writing and reading every element by its number, for all types.
#include "tilewright/tensor/tensor_parts.h"

#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

TEST(TensorPartsClass, RunsOfEveryTypeGoInAndOut) {
  const int64_t cases = test_cases(400);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    const auto type = ElementType(random.between(0, kElementTypeCount - 1));
    const int64_t low = is_float(type) ? 0 : lowest(type), high = is_float(type) ? 1 : highest(type);
    const auto flipped = [&](int64_t value) { return value == low ? high : low; };
    Tensor all(type, Shape{random.between(0, 40)});
    for (int64_t k = 0; k < all.size(); ++k) all.set_integer(k, random.chance(0.5) ? low : high);
    const int64_t first = random.between(0, all.size()), size = random.between(0, all.size() - first);
    const Tensor before = all, part = elements_from(all, first, Shape{1, size});
    ASSERT_EQ(part.shape(), (Shape{1, size}));
    Tensor other(type, Shape{size});
    for (int64_t k = 0; k < size; ++k) {
      EXPECT_EQ(part.integer_at(k), before.integer_at(first + k));
      other.set_integer(k, flipped(part.integer_at(k)));
    }
    set_elements(all, first, other);
    for (int64_t k = 0; k < all.size(); ++k) {
      const bool inside = k >= first && k < first + size;
      EXPECT_EQ(all.integer_at(k), inside ? flipped(before.integer_at(k)) : before.integer_at(k))
          << name(type);
    }
  }
  RecordProperty("cases", int(cases));
}

}  // namespace
}  // namespace tilewright
