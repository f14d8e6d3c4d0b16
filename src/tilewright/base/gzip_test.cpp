#include "tilewright/base/gzip.h"

#include <gtest/gtest.h>

#include "tilewright/base/error.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

std::vector<std::byte> random_bytes(size_t count, int64_t highest) {
  Random random(count + 1);
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes) b = std::byte(random.between(0, highest));
  return bytes;
}

TEST(Gzip, GivesBackWhatItTook) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{65536}, size_t{300000}}) {
    for (const int64_t highest : {3, 255}) {
      const std::vector<std::byte> bytes = random_bytes(count, highest), packed = gzip(bytes);
      EXPECT_TRUE(is_gzip(packed));
      EXPECT_EQ(gunzip(packed), bytes);
      EXPECT_EQ(gzip(bytes), packed);
      EXPECT_LT(packed.size(), (highest == 3 ? count / 3 : count) + 100);
    }
  }
  EXPECT_FALSE(is_gzip(random_bytes(2, 0)));
}

TEST(Gzip, IsKnownByItsFirstTwoBytes) {
  const auto known = [](std::vector<int> values) {
    std::vector<std::byte> bytes;
    for (int value : values) bytes.push_back(std::byte(value));
    return is_gzip(bytes);
  };
  EXPECT_TRUE(known({0x1F, 0x8B, 8}));
  EXPECT_FALSE(known({0x1F, 0x8B}));
  EXPECT_FALSE(known({0x1F, 0x8C, 8}));
  EXPECT_FALSE(known({0x1E, 0x8B, 8}));
}

TEST(Gzip, FilesBehindEachOtherAreOne) {
  const std::vector<std::byte> a = random_bytes(1000, 7), b = random_bytes(500, 7);
  std::vector<std::byte> both = a, packed = gzip(a);
  both.insert(both.end(), b.begin(), b.end());
  const std::vector<std::byte> second = gzip(b);
  packed.insert(packed.end(), second.begin(), second.end());
  EXPECT_EQ(gunzip(packed), both);
}

TEST(Gzip, DamageIsAnError) {
  const std::vector<std::byte> packed = gzip(random_bytes(2000, 7));
  for (size_t size = 1; size < packed.size(); ++size)
    EXPECT_THROW(gunzip(std::span(packed).first(size)), Error) << size;
  std::vector<std::byte> longer = packed;
  longer.push_back(std::byte{7});
  EXPECT_THROW(gunzip(longer), Error);
  std::vector<std::byte> wrong_sum = packed;
  wrong_sum[packed.size() - 6] ^= std::byte{1};
  EXPECT_THROW(gunzip(wrong_sum), Error);
  try {
    gunzip(packed, 1999);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "it is too large: more than 1999 bytes unpacked");
  }
}

}  // namespace
}  // namespace tilewright
