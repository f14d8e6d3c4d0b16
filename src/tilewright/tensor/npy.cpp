// The header is a Python dictionary literal with the keys descr, fortran_order and shape, padded with spaces.
#include "tilewright/tensor/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "tilewright/base/file.h"

namespace tilewright {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct Descriptor {
  const char* text;
  ElementType type;
};
constexpr Descriptor kDescriptors[] = {
    {"<f4", ElementType::kF32}, {"<f8", ElementType::kF64}, {"<f2", ElementType::kF16},
    {"<i8", ElementType::kI64}, {"<i4", ElementType::kI32}, {"<i2", ElementType::kI16},
    {"|i1", ElementType::kI8},  {"<u8", ElementType::kU64}, {"<u4", ElementType::kU32},
    {"<u2", ElementType::kU16}, {"|u1", ElementType::kU8},  {"|b1", ElementType::kBool}};

[[noreturn]] void npy_fail(const std::string& message) {
  throw Error(ErrorKind::kInvalidInput, "not a readable .npy file: " + message);
}

// The text after "'key':" in the header.
std::string_view field(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) npy_fail(fmt::format("its header has no '{}'", key));
  header.remove_prefix(at + key.size() + 3);
  header.remove_prefix(std::min(header.size(), header.find_first_not_of(' ')));
  return header;
}

Shape parse_shape(std::string_view text) {
  if (text.empty() || text[0] != '(') npy_fail("its shape is not a tuple");
  std::vector<int64_t> dims;
  const char* at = text.data() + 1;
  const char* end = text.data() + text.size();
  while (true) {
    while (at < end && (*at == ' ' || *at == ',')) ++at;
    if (at < end && *at == ')') return Shape(std::move(dims));
    int64_t size = 0;
    const auto result = std::from_chars(at, end, size);
    if (result.ec != std::errc() || size < 0) npy_fail("its shape is not a tuple of sizes");
    at = result.ptr;
    dims.push_back(size);
  }
}

// Elements stored first-axis-fastest, put into row-major order.
Tensor from_fortran_order(const Tensor& stored, const Shape& shape) {
  Tensor result(stored.type(), shape);
  const size_t width = size_t(bit_width(stored.type())) / 8;
  const std::byte* source = stored.bytes().data();
  std::byte* target = result.mutable_bytes().data();
  const std::vector<int64_t> strides = shape.strides();
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0);
  for (int64_t i = 0; i < stored.size(); ++i) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) offset += index[axis] * strides[axis];
    std::memcpy(target + size_t(offset) * width, source + size_t(i) * width, width);
    for (size_t axis = 0; axis < index.size() && ++index[axis] == shape[int(axis)]; ++axis) index[axis] = 0;
  }
  return result;
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.size() < 12 || text.substr(0, 6) != kMagic) npy_fail("the magic bytes are missing");
  const int version = uint8_t(text[6]);
  if (version < 1 || version > 3) npy_fail(fmt::format("unknown version {}", version));
  size_t length = uint8_t(text[8]) + size_t{256} * uint8_t(text[9]);
  if (version >= 2) length += (size_t{1} << 16) * uint8_t(text[10]) + (size_t{1} << 24) * uint8_t(text[11]);
  const size_t start = version >= 2 ? 12 : 10;
  if (length > text.size() - start) npy_fail("it is truncated in the header");
  const std::string_view header = text.substr(start, length);

  const std::string_view descr = field(header, "descr");
  const Descriptor* found = nullptr;
  for (const Descriptor& d : kDescriptors) {
    if (descr.size() > 4 && descr.substr(1, 3) == d.text) found = &d;
  }
  if (!found) {
    npy_fail(fmt::format("element type {} is not supported; save it as a little-endian number type",
                         descr.substr(0, std::min<size_t>(descr.find(','), 24))));
  }
  const Shape shape = parse_shape(field(header, "shape"));
  const size_t needed = size_t(shape.element_count()) * size_t(bit_width(found->type)) / 8;
  const size_t present = text.size() - start - length;
  if (needed > present) npy_fail(fmt::format("{} data bytes are needed, {} are there", needed, present));
  Tensor tensor(found->type, shape);
  std::memcpy(tensor.mutable_bytes().data(), text.data() + start + length, needed);
  const bool fortran = field(header, "fortran_order").substr(0, 4) == "True";
  return fortran && shape.rank() > 1 ? from_fortran_order(tensor, shape) : tensor;
}

Tensor read_npy(const std::filesystem::path& path) {
  return with_context(fmt::format("file '{}'", path.string()), [&] { return parse_npy(read_file(path)); });
}

std::vector<std::byte> format_npy(const Tensor& input) {
  const bool packed = bit_width(input.type()) < 8;
  const Tensor tensor = packed ? input.cast(is_signed(input.type()) ? ElementType::kI8 : ElementType::kU8)
                        : input.type() == ElementType::kBF16 ? input.cast(ElementType::kF32)
                                                             : input;
  const char* descr = nullptr;
  for (const Descriptor& d : kDescriptors) {
    if (d.type == tensor.type()) descr = d.text;
  }
  std::string dims;
  for (int64_t size : tensor.shape()) dims += fmt::format("{}, ", size);
  if (tensor.shape().rank() > 1) dims.resize(dims.size() - 2);
  if (tensor.shape().rank() == 1) dims.pop_back();
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, dims);
  header.append(63 - (10 + header.size()) % 64, ' ');
  header.push_back('\n');
  std::string file(kMagic);
  file += {char(1), char(0), char(header.size() & 255), char(header.size() >> 8)};
  file += header;
  std::vector<std::byte> bytes(file.size() + tensor.size_bytes());
  std::memcpy(bytes.data(), file.data(), file.size());
  std::memcpy(bytes.data() + file.size(), tensor.bytes().data(), tensor.size_bytes());
  return bytes;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  write_file(path, format_npy(tensor));
}

}  // namespace tilewright
