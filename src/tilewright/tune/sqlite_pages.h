// Rows read from the pages of an SQLite file without its b-trees: what is left when those are damaged.
// Format: sqlite.org/fileformat2.html, sections 1.5 to 2.1 and 4.1. Nothing is trusted: rows may be stale
// copies, come from pages that no longer belong to a table, or be nonsense that looks like a row; the caller
// tells them apart.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
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

// Visits every row on any page of the database and of the write-ahead log beside it, in no order; of a row
// whose end lies on further pages that may be this one or that one, each possibility. Errors (invalid input):
// the file cannot be read.
void scan_sqlite_pages(const std::filesystem::path& path, size_t page_bytes,
                       const std::function<void(const SqliteRow&)>& visit);

}  // namespace tilewright::tune
