#include "tilewright/tensor/npy.h"

#include <gtest/gtest.h>

#include <string>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

TEST(Npy, RoundTripsEveryByteSizedType) {
  Random random(1);
  for (int t = 0; t < kElementTypeCount; ++t) {
    const ElementType type = ElementType(t);
    if (bit_width(type) < 8 || type == ElementType::kBF16) continue;
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0}, Shape{2, 3, 5}}) {
      Tensor tensor(type, shape);
      for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_integer(i, random.between(-100, 100));
      EXPECT_TRUE(parse_npy(format_npy(tensor)).identical(tensor)) << name(type) << to_string(shape);
    }
  }
}

TEST(Npy, RejectsDamageWithAReason) {
  std::vector<std::byte> bytes = format_npy(Tensor::of<float>({2}, {1, 2}));
  EXPECT_THROW(parse_npy(std::span(bytes).first(bytes.size() - 1)), Error);
  EXPECT_THROW(parse_npy(std::span(bytes).first(9)), Error);
  Random random(2);
  for (int i = 0; i < 5000; ++i) {  // any damage is an Error or a tensor, never a crash
    std::vector<std::byte> damaged = bytes;
    for (int k = 0; k < 3; ++k) damaged[size_t(random.between(0, 100))] = std::byte(random.between(0, 255));
    try {
      parse_npy(damaged);
    } catch (const Error&) {
    }
  }
}

// numpy.save of [[1.5, -2, 0.25]], and of the int64 column order of [[1, 2], [3, 4]], byte by byte:
// version 1.0, a header that spaces and a line break fill up to 128 bytes.
TEST(Npy, ReadsWhatNumpyWrites) {
  const auto file = [](std::string header, const std::vector<std::byte>& data) {
    header.resize(117, ' ');
    const std::string text = "\x93NUMPY" + std::string("\x01\x00\x76\x00", 4) + header + "\n";
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    std::vector<std::byte> bytes(begin, begin + text.size());
    bytes.insert(bytes.end(), data.begin(), data.end());
    return bytes;
  };
  const auto bytes_of = [](const Tensor& tensor) {
    return std::vector<std::byte>(tensor.bytes().begin(), tensor.bytes().end());
  };
  const Tensor row = Tensor::of<float>({1, 3}, {1.5f, -2, 0.25f});
  EXPECT_TRUE(parse_npy(file("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }", bytes_of(row)))
                  .identical(row));
  const Tensor stored = Tensor::of<int64_t>({4}, {1, 3, 2, 4});
  EXPECT_TRUE(parse_npy(file("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 2), }", bytes_of(stored)))
                  .identical(Tensor::of<int64_t>({2, 2}, {1, 2, 3, 4})));
}

}  // namespace
}  // namespace tilewright
