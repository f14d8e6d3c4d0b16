#include "tilewright/tensor/idx.h"

#include <gtest/gtest.h>

#include "tilewright/base/gzip.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int value : values) bytes.push_back(std::byte(value));
  return bytes;
}

TEST(Idx, ReadsBigEndianElementsPlainAndCompressed) {
  const auto file = bytes_of({0, 0, 0x0B, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0x01, 0x02, 0xFF, 0xFE});
  const Tensor expected = Tensor::of<int16_t>({1, 2}, {0x0102, -2});
  EXPECT_TRUE(parse_idx(file).identical(expected));
  EXPECT_TRUE(parse_idx(gzip(file)).identical(expected));
}

TEST(Idx, BothMagicBytesAreZero) {
  for (const size_t at : {0, 1}) {
    auto file = bytes_of({0, 0, 0x08, 1, 0, 0, 0, 3, 1, 2, 3});
    file[at] = std::byte{1};
    EXPECT_THROW(parse_idx(file), Error) << at;
  }
}

TEST(Idx, DamageIsAnErrorNeverACrash) {
  const auto file = bytes_of({0, 0, 0x08, 1, 0, 0, 0, 3, 1, 2, 3});
  try {
    parse_idx(std::span(file).first(10));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "not a readable idx file: 3 data bytes are needed for 3, 2 are there");
  }
  const auto compressed = gzip(file);
  Random random(11);
  for (int i = 0; i < 3000; ++i) {
    auto damaged = i % 2 ? file : compressed;
    damaged[size_t(random.between(0, int64_t(damaged.size()) - 1))] = std::byte(random.between(0, 255));
    damaged.resize(size_t(random.between(0, int64_t(damaged.size()))));
    try {
      parse_idx(damaged);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace tilewright
