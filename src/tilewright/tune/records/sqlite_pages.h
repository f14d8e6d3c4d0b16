// Rows read from the pages of an SQLite file without its b-trees, for when those are damaged.
// Format: sqlite.org/fileformat2.html, sections 1.5 to 2.1 and 4.1. Nothing is trusted: rows may be stale
// copies, come from pages that no longer belong to a table, or be nonsense that looks like a row; the caller
// tells them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tilewright::tune {

// Null, integer, real, text (blobs too).
using SqliteValue = std::variant<std::monostate, int64_t, double, std::string>;

struct SqliteRow {
  std::optional<int64_t>
      rowid;  // of a table that has them; entries of an index and of other tables have none
  std::vector<SqliteValue> values;
};

// The pages of a database and of the write-ahead log beside it, in memory.
class SqlitePages {
 public:
  // Errors (invalid input): the file cannot be read.
  SqlitePages(const std::filesystem::path& path, size_t page_bytes);
  SqlitePages(const SqlitePages&) = delete;
  SqlitePages& operator=(const SqlitePages&) = delete;

  // Visits every row on any page, in no order. A row that continues on further pages is visited twice:
  // with the last version of each of those pages, and with the first.
  void visit_rows(const std::function<void(const SqliteRow&)>& visit) const;

 private:
  using Bytes = std::span<const std::byte>;
  using Visit = std::function<void(const SqliteRow&)>;
  void visit_page(Bytes page, size_t begin, const Visit& visit) const;
  void visit_cell(Bytes cell, unsigned kind, const Visit& visit) const;
  size_t bytes_in_cell(size_t payload, unsigned kind) const;
  bool collect(std::vector<std::byte>& payload, size_t page, size_t whole, bool newest) const;

  size_t page_bytes_;
  std::vector<std::byte> file_, log_;
  std::map<size_t, std::vector<Bytes>> pages_;  // by number, every version of each
};

}  // namespace tilewright::tune
