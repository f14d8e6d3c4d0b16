// The header's checksum is verified before any offset in it is used, and each section's before its bytes are
// handed out.
#include "tilewright/flow/model/container.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

constexpr std::string_view kMagic = "TWBUNDLE";
constexpr uint32_t kVersion = 1;
constexpr uint32_t kMaxSections = 1000, kMaxName = 1000;

uint32_t checksum(std::span<const std::byte> bytes) {
  return uint32_t(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <typename T>
void put(std::vector<std::byte>& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out.push_back(std::byte(uint64_t(value) >> (8 * i)));
}

// Reads little-endian numbers and texts, never past the end.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <typename T>
  T number() {
    T value = 0;
    const auto field = take(sizeof(T));
    for (size_t i = 0; i < sizeof(T); ++i) value = T(value | T(T(field[i]) << (8 * i)));
    return value;
  }
  std::string text(size_t length) {
    const auto field = take(length);
    return {reinterpret_cast<const char*>(field.data()), field.size()};
  }
  size_t position() const { return position_; }

 private:
  std::span<const std::byte> take(size_t count) {
    if (count > bytes_.size() - position_) throw Error(ErrorKind::kInvalidInput, "the bundle is truncated");
    position_ += count;
    return bytes_.subspan(position_ - count, count);
  }
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
};

}  // namespace

std::vector<std::byte> format_container(const Sections& sections) {
  size_t header_bytes = kMagic.size() + 4 + 4 + 4;
  for (const auto& [name, content] : sections) header_bytes += 4 + name.size() + 8 + 8 + 4;
  std::vector<std::byte> out;
  size_t total = header_bytes;
  for (const auto& [name, content] : sections) total += content.size();
  out.reserve(total);
  for (char c : kMagic) out.push_back(std::byte(c));
  put(out, kVersion);
  put(out, uint32_t(sections.size()));
  uint64_t offset = header_bytes;
  for (const auto& [name, content] : sections) {
    put(out, uint32_t(name.size()));
    for (char c : name) out.push_back(std::byte(c));
    put(out, offset);
    put(out, uint64_t(content.size()));
    put(out, checksum(content));
    offset += content.size();
  }
  put(out, checksum(out));
  for (const auto& [name, content] : sections) out.insert(out.end(), content.begin(), content.end());
  return out;
}

Sections parse_container(std::span<const std::byte> bytes) {
  if (bytes.size() < kMagic.size() || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    throw Error(ErrorKind::kInvalidInput, "not a Tilewright bundle", "make one with 'tilewright compile'");
  }
  Reader reader(bytes);
  reader.text(kMagic.size());
  const uint32_t version = reader.number<uint32_t>();
  if (version != kVersion) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("bundle version {} is not the known {}", version, kVersion),
                "compile the model again with this version of Tilewright");
  }
  const uint32_t count = reader.number<uint32_t>();
  struct Entry {
    std::string name;
    uint64_t offset, size;
    uint32_t crc;
  };
  std::vector<Entry> entries;
  for (uint32_t i = 0; i < count && count <= kMaxSections; ++i) {
    const uint32_t length = reader.number<uint32_t>();
    if (length > kMaxName) throw Error(ErrorKind::kInvalidInput, "the bundle's header is damaged");
    Entry entry;
    entry.name = reader.text(length);
    entry.offset = reader.number<uint64_t>();
    entry.size = reader.number<uint64_t>();
    entry.crc = reader.number<uint32_t>();
    entries.push_back(std::move(entry));
  }
  const size_t header_bytes = reader.position();
  if (count > kMaxSections || reader.number<uint32_t>() != checksum(bytes.first(header_bytes))) {
    throw Error(ErrorKind::kInvalidInput, "the bundle's header is damaged (checksum)");
  }
  Sections sections;
  size_t room = bytes.size();  // sections that overlap could come to any number of bytes
  for (const Entry& entry : entries) {
    if (entry.offset > bytes.size() || entry.size > bytes.size() - entry.offset) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("the bundle is truncated in section '{}'", entry.name),
                  "make it again with 'tilewright compile'");
    }
    if (entry.size > room) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("section '{}' of the bundle overlaps with others", entry.name));
    }
    room -= entry.size;
    const auto content = bytes.subspan(entry.offset, entry.size);
    if (checksum(content) != entry.crc) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("section '{}' of the bundle is damaged (checksum)", entry.name));
    }
    sections[entry.name].assign(content.begin(), content.end());
  }
  return sections;
}

bool is_container(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;  // reading a pipe would empty it
  char start[8] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  return std::memcmp(start, "TWBUNDLE", sizeof start) == 0;
}

}  // namespace tilewright
