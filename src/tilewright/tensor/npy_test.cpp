#include "tilewright/tensor/npy.h"

#include <gtest/gtest.h>

#include <cstring>
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

// A file as other programs write them: header padded to any length, versions 1 to 3, either order.
std::vector<std::byte> npy_file(int version, size_t header_bytes, bool fortran, const std::string& data) {
  std::string header =
      "{'descr': '<i2', 'fortran_order': " + std::string(fortran ? "True" : "False") + ", 'shape': (2, 3), }";
  header.resize(header_bytes - 1, ' ');
  header += '\n';
  std::string file = "\x93NUMPY";
  file += {char(version), char(0), char(header_bytes & 255), char(header_bytes >> 8 & 255)};
  if (version >= 2) file += {char(header_bytes >> 16 & 255), char(header_bytes >> 24 & 255)};
  file += header + data;
  std::vector<std::byte> bytes(file.size());
  std::memcpy(bytes.data(), file.data(), file.size());
  return bytes;
}

TEST(NpyClass, HeadersOfAnyLengthVersionAndOrder) {
  std::string data;
  for (int i = 1; i <= 6; ++i) data += {char(i), char(i)};  // i * 257
  const auto scaled = [](std::vector<int64_t> values) {
    for (int64_t& value : values) value *= 257;
    return values;
  };
  for (int version = 1; version <= 3; ++version) {
    for (const size_t bytes : {size_t{80}, size_t{255}, size_t{256}, size_t{257}, size_t{1000}, size_t{65535},
                               size_t{65536}, size_t{200000}}) {
      if (version == 1 && bytes > 65535) continue;
      EXPECT_EQ(parse_npy(npy_file(version, bytes, false, data)).to_integers(), scaled({1, 2, 3, 4, 5, 6}));
      EXPECT_EQ(parse_npy(npy_file(version, bytes, true, data)).to_integers(), scaled({1, 3, 5, 2, 4, 6}));
    }
  }
  for (const int version : {0, 4}) {
    try {
      parse_npy(npy_file(version, 80, false, data));
      FAIL() << "version " << version;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                "not a readable .npy file: unknown version " + std::to_string(version));
    }
  }
}

TEST(Npy, NamesTheTypeThatItCannotRead) {
  std::vector<std::byte> bytes = npy_file(1, 80, false, std::string(12, '\0'));
  for (size_t i = 0; i + 3 < bytes.size(); ++i) {
    if (std::memcmp(&bytes[i], "<i2", 3) == 0) std::memcpy(&bytes[i], ">i2", 3);
  }
  try {
    parse_npy(bytes);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "not a readable .npy file: element type '>i2' is not supported; save it as a "
                 "little-endian number type");
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
