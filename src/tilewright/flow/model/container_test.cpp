#include "tilewright/flow/model/container.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

Sections example() {
  Sections sections;
  sections["empty"] = {};
  Random random(1);
  for (int i = 0; i < 1000; ++i) sections["noise"].push_back(std::byte(random.between(0, 255)));
  return sections;
}

std::string error_of(std::span<const std::byte> bytes) {
  try {
    parse_container(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Container, RoundTrips) { EXPECT_EQ(parse_container(format_container(example())), example()); }

TEST(Container, EveryChangedBitAndEveryTruncationIsFound) {
  const std::vector<std::byte> bytes = format_container(example());
  for (size_t bit = 0; bit < bytes.size() * 8; bit += 3) {
    std::vector<std::byte> damaged = bytes;
    damaged[bit / 8] ^= std::byte(1 << (bit % 8));
    EXPECT_NE(error_of(damaged), "no error") << bit;
  }
  for (size_t length = 0; length < bytes.size(); length += 7) {
    EXPECT_NE(error_of(std::span(bytes).first(length)), "no error") << length;
  }
}

TEST(Container, SaysWhatIsWrong) {
  std::vector<std::byte> bytes = format_container(example());
  EXPECT_EQ(error_of(std::span(bytes).first(4)),
            "not a Tilewright bundle; make one with 'tilewright compile'");
  std::vector<std::byte> newer = bytes;
  newer[8] = std::byte(9);
  EXPECT_EQ(error_of(newer),
            "bundle version 9 is not the known 1; compile the model again with this version of Tilewright");
  std::vector<std::byte> twice =
      bytes;  // "empty" stands where "noise" does: both together are longer than the file
  const size_t first = 8 + 4 + 4 + 4 + 5, second = first + 8 + 8 + 4 + 4 + 5, sums = second + 20;
  std::copy_n(twice.begin() + std::ptrdiff_t(second), 20, twice.begin() + std::ptrdiff_t(first));
  const auto sum = uint32_t(crc32_z(0, reinterpret_cast<const Bytef*>(twice.data()), sums));
  for (size_t i = 0; i < 4; ++i) twice[sums + i] = std::byte(sum >> (8 * i));
  EXPECT_EQ(error_of(twice), "section 'noise' of the bundle overlaps with others");
  bytes.back() ^= std::byte(1);
  EXPECT_EQ(error_of(bytes), "section 'noise' of the bundle is damaged (checksum)");
}

}  // namespace
}  // namespace tilewright
