// The pages of the file and then the frames of the log go into one table by page number. Leaves, and the
// interior pages of indexes, which hold rows as well, are read cell by cell through their pointers. A row is
// a header of serial types, then the values.
#include "tilewright/tune/records/sqlite_pages.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <system_error>

#include "tilewright/base/file.h"
#include "tilewright/base/integer_math.h"

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
  while (!header.at_end()) {
    if (values.size() == kMostColumns) return std::nullopt;
    const uint64_t type = header.variable_length();
    const std::optional<size_t> size = value_bytes(type);
    if (!header.ok() || !size) return std::nullopt;
    const Bytes bytes = body.take(*size);
    if (!body.ok()) return std::nullopt;
    values.push_back(value_of(type, bytes));
  }
  return values;
}

}  // namespace

SqlitePages::SqlitePages(const std::filesystem::path& path, size_t page_bytes)
    : page_bytes_(page_bytes), file_(read_file(path)) {
  const std::filesystem::path log = path.string() + "-wal";
  std::error_code ignored;
  if (std::filesystem::exists(log, ignored)) log_ = read_file(log);
  // Versions from old to new. Frames without the salts of the log's header are left from before the log began
  // again, which it does when all of them are in the file: what they hold is older than that.
  const size_t frame = kFrameHeader + page_bytes;
  const auto add_frames = [&](bool current) {
    for (size_t at = kLogHeader; at + frame <= log_.size(); at += frame) {
      const Bytes bytes = Bytes(log_).subspan(at, frame);
      if (std::ranges::equal(bytes.subspan(8, 8), Bytes(log_).subspan(16, 8)) != current) continue;
      pages_[size_t(big_endian(bytes.first(4)))].push_back(bytes.subspan(kFrameHeader));
    }
  };
  add_frames(false);
  // A truncated file may end within a page; the rest of that page reads as zeros.
  file_.resize(round_up(file_.size(), page_bytes));
  for (size_t at = 0; at < file_.size(); at += page_bytes)
    pages_[at / page_bytes + 1].push_back(Bytes(file_).subspan(at, page_bytes));
  add_frames(true);
}

void SqlitePages::visit_rows(const Visit& visit) const {
  for (const auto& [number, versions] : pages_) {
    for (const Bytes page : versions) visit_page(page, number == 1 ? kFileHeader : 0, visit);
  }
}

void SqlitePages::visit_page(Bytes page, size_t begin, const Visit& visit) const {
  const auto kind = unsigned(page[begin]);
  if (kind != kIndexInterior && kind != kIndexLeaf && kind != kTableLeaf) return;
  const size_t cells = size_t(big_endian(page.subspan(begin + 3, 2)));
  const size_t pointers = begin + (kind == kIndexInterior ? 12 : 8);
  for (size_t i = 0; i < cells && pointers + 2 * i + 2 <= page.size(); ++i) {
    const size_t at = size_t(big_endian(page.subspan(pointers + 2 * i, 2)));
    if (at < page.size()) visit_cell(page.subspan(at), kind, visit);
  }
}

void SqlitePages::visit_cell(Bytes cell, unsigned kind, const Visit& visit) const {
  Cursor cursor(cell);
  if (kind == kIndexInterior) cursor.take(4);  // the page of what lies before
  const uint64_t payload_bytes = cursor.variable_length();
  SqliteRow row;
  if (kind == kTableLeaf) row.rowid = int64_t(cursor.variable_length());
  if (!cursor.ok() || payload_bytes > kLongestRow) return;
  const size_t whole = size_t(payload_bytes), here = bytes_in_cell(whole, kind);
  const Bytes local = cursor.take(here);
  const Bytes next = here < whole ? cursor.take(4) : Bytes();
  if (!cursor.ok()) return;
  for (const bool newest : {true, false}) {
    std::vector<std::byte> payload(local.begin(), local.end());
    if (here < whole && !collect(payload, size_t(big_endian(next)), whole, newest)) continue;
    std::optional<std::vector<SqliteValue>> values = parse_values(payload);
    if (!values) continue;
    row.values = std::move(*values);
    visit(row);
    if (here == whole) return;
  }
}

// How much of a payload lies on its first page (section 1.6 of the format).
size_t SqlitePages::bytes_in_cell(size_t payload, unsigned kind) const {
  const size_t most = kind == kTableLeaf ? page_bytes_ - 35 : (page_bytes_ - 12) * 64 / 255 - 23;
  if (payload <= most) return payload;
  const size_t least = (page_bytes_ - 12) * 32 / 255 - 23;
  const size_t some = least + (payload - least) % (page_bytes_ - 4);
  return some <= most ? some : least;
}

// Appends what the chain of further pages holds; `newest`: in their last versions, else in their first.
bool SqlitePages::collect(std::vector<std::byte>& payload, size_t page, size_t whole, bool newest) const {
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

}  // namespace tilewright::tune
