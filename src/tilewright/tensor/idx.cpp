// The format is the one that the web page of the MNIST data describes (LeCun, Cortes, Burges). Elements are
// byte-swapped to little-endian; missing and trailing bytes are both errors.
#include "tilewright/tensor/idx.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/file.h"
#include "tilewright/base/gzip.h"

namespace tilewright {
namespace {

[[noreturn]] void idx_fail(const std::string& message) {
  throw Error(ErrorKind::kInvalidInput, "not a readable idx file: " + message);
}

ElementType element_type(uint8_t code) {
  switch (code) {
    case 0x08:
      return ElementType::kU8;
    case 0x09:
      return ElementType::kI8;
    case 0x0B:
      return ElementType::kI16;
    case 0x0C:
      return ElementType::kI32;
    case 0x0D:
      return ElementType::kF32;
    case 0x0E:
      return ElementType::kF64;
    default:
      idx_fail(fmt::format("unknown element type 0x{:02x}", code));
  }
}

}  // namespace

Tensor parse_idx(std::span<const std::byte> bytes) {
  std::vector<std::byte> unpacked;
  if (is_gzip(bytes)) {
    unpacked = with_context("not a readable idx file", [&] { return gunzip(bytes); });
    bytes = unpacked;
  }
  if (bytes.size() < 4 || bytes[0] != std::byte{0} || bytes[1] != std::byte{0})
    idx_fail("the magic bytes are missing");
  const ElementType type = element_type(uint8_t(bytes[2]));
  const size_t rank = size_t(bytes[3]);
  if (bytes.size() < 4 + 4 * rank) idx_fail("it is truncated in the header");
  std::vector<int64_t> dims;
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t size = 0;
    for (size_t i = 0; i < 4; ++i) size = size * 256 + int64_t(bytes[4 + 4 * axis + i]);
    dims.push_back(size);
  }
  const Shape shape(std::move(dims));
  const std::span<const std::byte> data = bytes.subspan(4 + 4 * rank);
  const size_t width = size_t(bit_width(type)) / 8;
  if (data.size() != size_t(shape.element_count()) * width) {
    idx_fail(fmt::format("{} data bytes are needed for {}, {} are there",
                         size_t(shape.element_count()) * width, to_string(shape), data.size()));
  }
  Tensor tensor(type, shape);
  std::byte* target = tensor.mutable_bytes().data();
  for (size_t i = 0; i < data.size(); i += width) {
    std::reverse_copy(data.begin() + ptrdiff_t(i), data.begin() + ptrdiff_t(i + width), target + i);
  }
  return tensor;
}

Tensor read_idx(const std::filesystem::path& path) {
  return with_context(fmt::format("file '{}'", path.string()), [&] { return parse_idx(read_file(path)); });
}

}  // namespace tilewright
