// Elements as text. Lists go through the same number-to-element functions in both directions, and a list that
// would not give back the same bits (odd booleans, set padding bits) is written as base64 instead.
#include "tilewright/graph/text/tensor_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "tilewright/graph/operators/operator_checks.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxListed = 64;
constexpr int64_t kMaxSplat = int64_t{1} << 20;
constexpr size_t kLineBytes = 72;  // 96 characters of base64
constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

uint64_t bits_at(const Tensor& tensor, int64_t index) {
  const size_t size = size_t(bit_width(tensor.type())) / 8;
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes().data() + size_t(index) * size, size);
  return bits;
}

void append_element(const Tensor& tensor, int64_t index, std::string& text) {
  auto out = std::back_inserter(text);
  if (!is_float(tensor.type())) {
    if (tensor.type() == ElementType::kU64) {
      fmt::format_to(out, "{}", bits_at(tensor, index));
    } else {
      fmt::format_to(out, "{}", tensor.integer_at(index));
    }
    return;
  }
  const double value = tensor.number_at(index);
  if (!std::isfinite(value)) {
    fmt::format_to(out, "0x{:x}", bits_at(tensor, index));
  } else if (tensor.type() == ElementType::kF64) {
    fmt::format_to(out, "{}", value);
  } else {
    fmt::format_to(out, "{}", float(value));
  }
}

template <typename T>
T parsed(TextScanner& scanner, const std::string& text, int base = 10) {
  T value{};
  const char* const end = text.data() + text.size();
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<T>) {
    result = std::from_chars(text.data(), end, value);
  } else {
    result = std::from_chars(text.data(), end, value, base);
  }
  if (result.ec != std::errc{} || result.ptr != end)
    scanner.fail(fmt::format("'{}' is not a valid number", text));
  return value;
}

void set_bits(Tensor& tensor, int64_t index, uint64_t bits) {
  const size_t size = size_t(bit_width(tensor.type())) / 8;
  std::memcpy(tensor.mutable_bytes().data() + size_t(index) * size, &bits, size);
}

void parse_element(TextScanner& scanner, Tensor& tensor, int64_t index) {
  const std::string text = scanner.number();
  const ElementType type = tensor.type();
  if (is_float(type)) {
    if (text.starts_with("0x")) {
      const uint64_t bits = parsed<uint64_t>(scanner, text.substr(2), 16);
      const int width = bit_width(type);
      if (width < 64 && bits >> width != 0) scanner.fail(fmt::format("'{}' has over {} bits", text, width));
      return set_bits(tensor, index, bits);
    }
    if (type == ElementType::kF64) return tensor.set_number(index, parsed<double>(scanner, text));
    return tensor.set_number(index, parsed<float>(scanner, text));
  }
  if (type == ElementType::kU64) return set_bits(tensor, index, parsed<uint64_t>(scanner, text));
  const int64_t value = parsed<int64_t>(scanner, text);
  if (value < lowest(type) || value > highest(type) || (type == ElementType::kBipolar && value == 0)) {
    scanner.fail(fmt::format("{} does not fit {}", value, name(type)));
  }
  tensor.set_integer(index, value);
}

// Whether the elements alone, written one by one, give back every bit of the buffer.
bool elements_tell_all(const Tensor& tensor) {
  if (bit_width(tensor.type()) >= 8 && tensor.type() != ElementType::kBool) return true;
  Tensor copy(tensor.type(), tensor.shape());
  for (int64_t i = 0; i < tensor.size(); ++i) copy.set_integer(i, tensor.integer_at(i));
  return copy.identical(tensor);
}

bool all_equal(const Tensor& tensor) {
  if (bit_width(tensor.type()) >= 8) {
    for (int64_t i = 1; i < tensor.size(); ++i) {
      if (bits_at(tensor, i) != bits_at(tensor, 0)) return false;
    }
    return true;
  }
  for (int64_t i = 1; i < tensor.size(); ++i) {
    if (tensor.integer_at(i) != tensor.integer_at(0)) return false;
  }
  return true;
}

void append_base64(std::span<const std::byte> bytes, std::string& text) {
  text += "base64\n";
  text.reserve(text.size() + bytes.size() / 3 * 4 + bytes.size() / kLineBytes * 3 + 64);
  for (size_t begin = 0; begin < bytes.size(); begin += kLineBytes) {
    const size_t end = std::min(begin + kLineBytes, bytes.size());
    text += "  ";
    for (size_t i = begin; i < end; i += 3) {
      const size_t count = std::min<size_t>(end - i, 3);
      uint32_t group = 0;
      for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? uint32_t(bytes[i + k]) : 0u);
      for (size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
    text += '\n';
  }
  text += "  ;";
}

constexpr std::array<int8_t, 256> decoding_table() {
  std::array<int8_t, 256> table{};
  for (int8_t& digit : table) digit = -1;
  for (int i = 0; i < 64; ++i) table[uint8_t(kDigits[i])] = int8_t(i);
  return table;
}

Tensor parse_base64(TextScanner& scanner, ElementType type, const Shape& shape) {
  const std::string_view text = scanner.until(';');
  const size_t needed = size_t(packed_bytes(shape.element_count(), type));
  if (text.size() / 4 < needed / 3) scanner.fail("the constant has too few bytes");
  constexpr std::array<int8_t, 256> table = decoding_table();
  Tensor tensor(type, shape);
  const std::span<std::byte> bytes = tensor.mutable_bytes();
  size_t written = 0, groups = 0;
  uint32_t group = 0;
  int digits = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    const int digit = c == '=' ? 0 : table[uint8_t(c)];
    if (digit < 0) scanner.fail("a character that is not base64");
    group = group << 6 | uint32_t(digit);
    if (++digits < 4) continue;
    for (int shift = 16; shift >= 0 && written < needed; shift -= 8)
      bytes[written++] = std::byte(group >> shift);
    group = 0;
    digits = 0;
    ++groups;
  }
  if (groups != (needed + 2) / 3 || digits != 0) {
    scanner.fail(fmt::format("the constant has {} groups of 3 bytes, {} bytes are needed", groups, needed));
  }
  return tensor;
}

}  // namespace

void print_elements(const Tensor& tensor, int64_t& splat_budget, std::string& text) {
  const int64_t count = tensor.size();
  const bool listed = count <= kMaxListed;
  const bool splat = !listed && count <= std::min(kMaxSplat, splat_budget) && all_equal(tensor);
  if (!(listed || splat) || !elements_tell_all(tensor)) {
    return append_base64(tensor.bytes(), text);
  }
  if (splat) {
    splat_budget -= count;
    text += "splat ";
    return append_element(tensor, 0, text);
  }
  text += '[';
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    append_element(tensor, i, text);
  }
  text += ']';
}

Tensor parse_elements(TextScanner& scanner, int64_t& splat_budget, ElementType type, const Shape& shape) {
  for (int64_t size : shape) {
    if (size < 0) scanner.fail("a constant with a negative size");
  }
  const int64_t count = saturating_count(shape);
  if (count > int64_t{1} << 37) scanner.fail("a constant of over 2^37 elements");
  if (scanner.take("base64")) return parse_base64(scanner, type, shape);
  if (scanner.take("splat")) {
    if (count > kMaxSplat) scanner.fail("splat of over 2^20 elements");
    if (count > splat_budget) scanner.fail("splats of over 2^25 elements together");
    splat_budget -= count;
    Tensor one(type, {1});
    parse_element(scanner, one, 0);
    Tensor tensor(type, shape);
    for (int64_t i = 0; i < count; ++i) {
      if (bit_width(type) >= 8) {
        set_bits(tensor, i, bits_at(one, 0));
      } else {
        tensor.set_integer(i, one.integer_at(0));
      }
    }
    return tensor;
  }
  scanner.expect("[");
  // An element takes a character at least, so that a short text cannot ask for a lot of memory.
  if (count > int64_t(scanner.remaining())) scanner.fail("the constant has too few elements");
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) scanner.expect(",");
    parse_element(scanner, tensor, i);
  }
  scanner.expect("]");
  return tensor;
}

std::string print_type(ElementType type, const Shape& shape) {
  return fmt::format("{}[{}]", name(type), fmt::join(shape.dims(), "x"));
}

void parse_type(TextScanner& scanner, ElementType& type, Shape& shape) {
  const std::string text = scanner.word();
  const std::optional<ElementType> found = parse_element_type(text);
  if (!found) scanner.fail(fmt::format("'{}' is not an element type", text));
  type = *found;
  scanner.expect("[");
  std::vector<int64_t> dims;
  while (!scanner.take("]")) {
    if (!dims.empty()) scanner.expect("x");
    dims.push_back(scanner.integer());
  }
  shape = Shape(std::move(dims));
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c < ' ' || c > '~') {
      result += fmt::format("\\x{:02x}", uint8_t(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace tilewright
