#include "tilewright/tune/sqlite_pages.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <span>
#include <system_error>

#include "tilewright/base/file.h"

namespace tilewright::tune {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t kFileHeader = 100, kLogHeader = 32, kFrameHeader = 24;
constexpr size_t kLongestRow = size_t{1} << 20;
enum PageKind : unsigned { kIndexInterior = 0x02, kIndexLeaf = 0x0A, kTableLeaf = 0x0D };

uint64_t big_endian(Bytes bytes) {
  uint64_t value = 0;
  for (const std::byte b : bytes) value = value << 8 | uint64_t(b);
  return value;
}

// Takes parts from the front of some bytes; nothing once they do not suffice.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }

  Bytes take(size_t count) {
    if (count > bytes_.size()) {
      ok_ = false;
      return {};
    }
    const Bytes part = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return part;
  }
  // Up to eight bytes with seven bits each, highest first; a ninth has eight.
  uint64_t variable_length() {
    uint64_t value = 0;
    for (int i = 0; i < 9; ++i) {
      const Bytes next = take(1);
      if (next.empty()) return 0;
      const auto byte = uint64_t(next[0]);
      if (i == 8) return value << 8 | byte;
      value = value << 7 | (byte & 0x7F);
      if (byte < 0x80) break;
    }
    return value;
  }

 private:
  Bytes bytes_;
  bool ok_ = true;
};

// The bytes of a value by its serial type; nothing for the reserved ones.
std::optional<size_t> value_bytes(uint64_t type) {
  constexpr size_t kFixed[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
  if (type < 10) return kFixed[type];
  if (type < 12) return std::nullopt;
  return size_t((type - 12) / 2);
}

SqliteValue value_of(uint64_t type, Bytes bytes) {
  if (type == 0) return {};
  if (type == 7) return std::bit_cast<double>(big_endian(bytes));
  if (type == 8 || type == 9) return int64_t(type - 8);
  if (type >= 12) return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const int unused = 64 - 8 * int(bytes.size());
  return int64_t(big_endian(bytes) << unused) >> unused;  // signed
}

std::optional<std::vector<SqliteValue>> parse_values(Bytes payload) {
  constexpr size_t kMostColumns = 64;
  Cursor all(payload);
  const uint64_t header_bytes = all.variable_length();
  if (!all.ok() || header_bytes == 0 || header_bytes > payload.size()) return std::nullopt;
  Cursor header(payload.first(size_t(header_bytes))), body(payload.subspan(size_t(header_bytes)));
  header.variable_length();
  std::vector<SqliteValue> values;
  while (values.size() < kMostColumns) {
    if (header.at_end()) return values;
    const uint64_t type = header.variable_length();
    const std::optional<size_t> size = value_bytes(type);
    if (!header.ok() || !size) return std::nullopt;
    const Bytes bytes = body.take(*size);
    if (!body.ok()) return std::nullopt;
    values.push_back(value_of(type, bytes));
  }
  return std::nullopt;
}

class PageScanner {
 public:
  PageScanner(Bytes file, Bytes log, size_t page_bytes, const std::function<void(const SqliteRow&)>& visit)
      : page_bytes_(page_bytes), visit_(visit) {
    for (size_t at = 0; at + page_bytes <= file.size(); at += page_bytes)
      add(at / page_bytes + 1, file.subspan(at, page_bytes));
    // A cut file ends within a page; what is there of it is padded with nothing.
    last_.assign(page_bytes, std::byte{0});
    const size_t rest = file.size() % page_bytes;
    std::copy_n(file.end() - std::ptrdiff_t(rest), rest, last_.begin());
    add(file.size() / page_bytes + 1, last_);
    for (size_t at = kLogHeader; at + kFrameHeader + page_bytes <= log.size();
         at += kFrameHeader + page_bytes)
      add(size_t(big_endian(log.subspan(at, 4))), log.subspan(at + kFrameHeader, page_bytes));
  }

  void run() const {
    for (const auto& [number, versions] : pages_) {
      for (const Bytes page : versions) scan(page, number == 1 ? kFileHeader : 0);
    }
  }

 private:
  void add(size_t number, Bytes page) { pages_[number].push_back(page); }

  void scan(Bytes page, size_t begin) const {
    const auto kind = unsigned(page[begin]);
    if (kind != kIndexInterior && kind != kIndexLeaf && kind != kTableLeaf) return;
    const size_t cells = size_t(big_endian(page.subspan(begin + 3, 2)));
    const size_t pointers = begin + (kind == kIndexInterior ? 12 : 8);
    for (size_t i = 0; i < cells && pointers + 2 * i + 2 <= page.size(); ++i) {
      const size_t at = size_t(big_endian(page.subspan(pointers + 2 * i, 2)));
      if (at < page.size()) read_cell(page.subspan(at), kind);
    }
  }

  void read_cell(Bytes cell, unsigned kind) const {
    Cursor cursor(cell);
    if (kind == kIndexInterior) cursor.take(4);  // the page of what lies before
    const uint64_t payload_bytes = cursor.variable_length();
    SqliteRow row;
    if (kind == kTableLeaf) row.rowid = int64_t(cursor.variable_length());
    if (!cursor.ok() || payload_bytes > kLongestRow) return;
    const size_t whole = size_t(payload_bytes), here = bytes_in_cell(whole, kind);
    const Bytes local = cursor.take(here);
    if (!cursor.ok()) return;
    std::vector<std::byte> payload(local.begin(), local.end());
    if (here == whole) {
      finish(std::move(row), payload);
      return;
    }
    const Bytes next = cursor.take(4);
    if (!cursor.ok()) return;
    const size_t first = size_t(big_endian(next));
    if (collect(payload, first, whole, true)) finish(row, payload);
    payload.assign(local.begin(), local.end());
    if (collect(payload, first, whole, false)) finish(row, payload);
  }

  // How much of a payload lies on its first page (section 1.6 of the format).
  size_t bytes_in_cell(size_t payload, unsigned kind) const {
    const size_t most = kind == kTableLeaf ? page_bytes_ - 35 : (page_bytes_ - 12) * 64 / 255 - 23;
    if (payload <= most) return payload;
    const size_t least = (page_bytes_ - 12) * 32 / 255 - 23;
    const size_t some = least + (payload - least) % (page_bytes_ - 4);
    return some <= most ? some : least;
  }

  // Appends what the chain of further pages holds, from their newest or their oldest versions.
  bool collect(std::vector<std::byte>& payload, size_t page, size_t whole, bool newest) const {
    while (payload.size() < whole) {
      const auto found = pages_.find(page);
      if (found == pages_.end()) return false;
      const Bytes bytes = newest ? found->second.back() : found->second.front();
      const Bytes part = bytes.subspan(4, std::min(page_bytes_ - 4, whole - payload.size()));
      payload.insert(payload.end(), part.begin(), part.end());
      page = size_t(big_endian(bytes.first(4)));
    }
    return true;
  }

  void finish(SqliteRow row, Bytes payload) const {
    std::optional<std::vector<SqliteValue>> values = parse_values(payload);
    if (!values) return;
    row.values = std::move(*values);
    visit_(row);
  }

  size_t page_bytes_;
  const std::function<void(const SqliteRow&)>& visit_;
  std::vector<std::byte> last_;
  std::map<size_t, std::vector<Bytes>> pages_;
};

}  // namespace

void scan_sqlite_pages(const std::filesystem::path& path, size_t page_bytes,
                       const std::function<void(const SqliteRow&)>& visit) {
  const std::filesystem::path log_path = path.string() + "-wal";
  std::error_code ignored;
  const std::vector<std::byte> file = read_file(path);
  std::vector<std::byte> log;
  if (std::filesystem::exists(log_path, ignored)) log = read_file(log_path);
  PageScanner(file, log, page_bytes, visit).run();
}

}  // namespace tilewright::tune
