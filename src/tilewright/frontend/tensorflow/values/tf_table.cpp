// The last 48 bytes of the file say where the index block is; its values say where the data blocks are. A
// block is a run of entries, each of which states how much of its key it shares with the one before, then a
// list of places to start searching from, which reading from the front does not need. After a block come a
// byte for its compression and a checksum of both.
// Source: the description of the table format in LevelDB's documentation.
#include "tilewright/frontend/tensorflow/values/tf_table.h"

#include <fmt/format.h>

#include <cstdint>

#include "tilewright/base/error.h"
#include "tilewright/frontend/tensorflow/values/tf_checksum.h"

namespace tilewright {
namespace {

using TableBytes = std::span<const std::byte>;

[[noreturn]] void damaged_table(const std::string& what) {
  throw Error(ErrorKind::kInvalidInput, "is damaged: " + what, "export the model again");
}

// Reads numbers and keys from the front of a block, never past its end.
class TableCursor {
 public:
  explicit TableCursor(TableBytes bytes) : bytes_(bytes) {}
  bool at_end() const { return bytes_.empty(); }
  TableBytes take(uint64_t count) {
    if (count > bytes_.size()) damaged_table("an entry is longer than its block");
    const TableBytes taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  // Seven bits per byte, the lowest first; the highest bit says that more follow.
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = uint64_t(take(1)[0]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    damaged_table("a number has over ten bytes");
  }
  template <typename T>
  T fixed() {
    T value = 0;
    const TableBytes field = take(sizeof(T));
    for (size_t i = 0; i < sizeof(T); ++i) value |= T(field[i]) << (8 * i);
    return value;
  }

 private:
  TableBytes bytes_;
};

std::string text_of(TableBytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

struct BlockPlace {
  uint64_t offset = 0, size = 0;
};

BlockPlace block_place(TableCursor& cursor) {
  const uint64_t offset = cursor.varint();
  return {offset, cursor.varint()};
}

class SortedTable {
 public:
  explicit SortedTable(TableBytes bytes) : bytes_(bytes), key_bytes_left_(kMostKeyBytes + 8 * bytes.size()) {}

  std::map<std::string, std::string> read() {
    constexpr uint64_t kFooterBytes = 48, kMagicBytes = 8, kMagic = 0xdb4775248b80fb57;
    if (bytes_.size() < kFooterBytes) damaged_table("it is too short for an index");
    if (TableCursor(bytes_.last(kMagicBytes)).fixed<uint64_t>() != kMagic) {
      damaged_table("it does not end as an index does");
    }
    TableCursor footer(bytes_.last(kFooterBytes));
    block_place(footer);  // of blocks about the table, which checkpoints leave empty
    std::map<std::string, std::string> result;
    uint64_t end = 0;
    for (const auto& [last_key, value] : entries(block(block_place(footer)))) {
      TableCursor cursor(TableBytes(reinterpret_cast<const std::byte*>(value.data()), value.size()));
      const BlockPlace place = block_place(cursor);
      if (place.offset < end) damaged_table("its blocks overlap");
      result.merge(entries(block(place)));
      end = place.offset + place.size;
    }
    return result;
  }

 private:
  // The entries of a block, whose checksum is verified.
  TableBytes block(const BlockPlace& place) {
    constexpr uint64_t kTrailerBytes = 5;
    if (place.offset > bytes_.size() || bytes_.size() - place.offset < kTrailerBytes ||
        place.size > bytes_.size() - place.offset - kTrailerBytes) {
      damaged_table("a block lies outside the file");
    }
    const TableBytes checked = bytes_.subspan(place.offset, place.size + 1);
    const auto stated = TableCursor(bytes_.subspan(place.offset + place.size + 1)).fixed<uint32_t>();
    if (masked_checksum(crc32c(checked)) != stated) damaged_table("the checksum of a block does not fit");
    if (checked.back() != std::byte{0}) {
      throw Error(ErrorKind::kUnsupported, "has compressed blocks",
                  "export the model with TensorFlow itself, which does not compress them");
    }
    const TableBytes content = checked.first(place.size);
    constexpr uint64_t kCountBytes = 4;
    if (content.size() < kCountBytes) damaged_table("a block is too short");
    const uint64_t restarts = TableCursor(content.last(kCountBytes)).fixed<uint32_t>();
    if (restarts > (content.size() - kCountBytes) / kCountBytes) damaged_table("a block is too short");
    return content.first(content.size() - kCountBytes * (restarts + 1));
  }

  std::map<std::string, std::string> entries(TableBytes block) {
    std::map<std::string, std::string> result;
    std::string key;
    TableCursor cursor(block);
    for (bool is_first = true; !cursor.at_end(); is_first = false) {
      const uint64_t shared = cursor.varint(), rest = cursor.varint(), value_bytes = cursor.varint();
      if (shared > key.size()) damaged_table("a key shares more than the one before it has");
      std::string next = key.substr(0, shared) + text_of(cursor.take(rest));
      if (!is_first && next <= key) damaged_table("its keys are out of order");
      if (next.size() > key_bytes_left_) damaged_table("its keys are many times longer than the file");
      key_bytes_left_ -= next.size();
      key = std::move(next);
      result.emplace_hint(result.end(), key, text_of(cursor.take(value_bytes)));
    }
    return result;
  }

  static constexpr uint64_t kMostKeyBytes = uint64_t{16} << 20;
  TableBytes bytes_;
  uint64_t key_bytes_left_;
};

}  // namespace

std::map<std::string, std::string> read_sorted_table(std::span<const std::byte> bytes) {
  return SortedTable(bytes).read();
}

}  // namespace tilewright
