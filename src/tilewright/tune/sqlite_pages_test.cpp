// Rows of databases that are whole come back as they were written, wherever the format splits them.
#include "tilewright/tune/sqlite_pages.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "random_seed.h"
#include "tilewright/base/random.h"
#include "tilewright/tune/records_testing.h"

namespace tilewright::tune {
namespace {

void run(sqlite3* database, const std::string& command) {
  ASSERT_EQ(sqlite3_exec(database, command.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << command.substr(0, 80) << ": " << sqlite3_errmsg(database);
}

// Lengths around those at which a row no longer fits its page, or one page more.
int64_t row_length(Random& random, int64_t page_bytes) {
  const int64_t pages = random.between(0, 3);
  return std::max<int64_t>(0, pages * (page_bytes - 4) + random.between(-60, page_bytes));
}

TEST(SqlitePagesClass, RowsOfEveryLengthComeBack) {
  const int64_t cases = test_cases(60);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    const TestFolder folder("pages", TestFolder::Place::kMemory);
    const int64_t page_bytes = int64_t{512} << random.between(0, 3);
    const bool rowids = random.chance(0.5);
    std::map<int64_t, std::string> written;
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((folder / "a.db").c_str(), &database), SQLITE_OK);
    run(database, fmt::format("PRAGMA page_size={}; CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT){};",
                              page_bytes, rowids ? "" : " WITHOUT ROWID"));
    const int64_t rows = random.between(1, 12);
    for (int64_t k = 1; k <= rows; ++k) {
      std::string text(size_t(row_length(random, page_bytes)), 'a');
      for (char& c : text) c = char('a' + random.between(0, 25));
      run(database, fmt::format("INSERT INTO t VALUES ({}, '{}');", k, text));
      written[k] = std::move(text);
    }
    sqlite3_close(database);
    const SqlitePages pages(folder / "a.db", size_t(page_bytes));
    std::map<int64_t, std::string> read;
    pages.visit_rows([&](const SqliteRow& row) {
      if (row.values.size() != 2 || !std::holds_alternative<std::string>(row.values[1])) return;
      // The key of a table with row numbers is that number, and null in the row.
      const std::optional<int64_t> key = row.rowid ? row.rowid
                                         : std::holds_alternative<int64_t>(row.values[0])
                                             ? std::optional(std::get<int64_t>(row.values[0]))
                                             : std::nullopt;
      if (key) read[*key] = std::get<std::string>(row.values[1]);
    });
    ASSERT_EQ(read, written) << page_bytes << " bytes a page" << (rowids ? "" : ", without row numbers");
  }
  RecordProperty("cases", int(cases));
}

}  // namespace
}  // namespace tilewright::tune
