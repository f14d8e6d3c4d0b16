// Rows of databases that are whole come back as they were written, wherever the format splits them.
#include "tilewright/tune/records/sqlite_pages.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>

#include "support/random_seed_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/tune/records/records_testing.h"

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

std::vector<SqliteRow> rows_of(const std::filesystem::path& path, size_t page_bytes) {
  std::vector<SqliteRow> rows;
  SqlitePages(path, page_bytes).visit_rows([&](const SqliteRow& row) { rows.push_back(row); });
  return rows;
}

TEST(SqlitePages, ValuesOfEveryKindComeBack) {
  const TestFolder folder("kinds", TestFolder::Place::kMemory);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "a.db").c_str(), &database), SQLITE_OK);
  run(database, "PRAGMA page_size=1024; CREATE TABLE t (a,b,c,d,e,f,g,h,i,j,k,l);");
  run(database,
      "INSERT INTO t VALUES (NULL, 0, 1, 2, -2, 300, -70000, 5000000000, -1099511627776000, 2.5, '', x'');");
  sqlite3_close(database);
  const std::vector<SqliteValue> expected{SqliteValue(),
                                          int64_t{0},
                                          int64_t{1},
                                          int64_t{2},
                                          int64_t{-2},
                                          int64_t{300},
                                          int64_t{-70000},
                                          int64_t{5000000000},
                                          int64_t{-1099511627776000},
                                          2.5,
                                          std::string(),
                                          std::string()};
  const std::vector<SqliteRow> rows = rows_of(folder / "a.db", 1024);
  EXPECT_EQ(
      std::count_if(rows.begin(), rows.end(), [&](const SqliteRow& row) { return row.values == expected; }),
      1);
}

TEST(SqlitePages, RowsHaveUpTo64Columns) {
  for (const int columns : {63, 64, 65}) {
    const TestFolder folder("columns", TestFolder::Place::kMemory);
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((folder / "a.db").c_str(), &database), SQLITE_OK);
    std::string names, values;
    for (int i = 0; i < columns; ++i) {
      names += fmt::format("{}c{}", i == 0 ? "" : ",", i);
      values += fmt::format("{}{}", i == 0 ? "" : ",", i + 1000);
    }
    run(database,
        "PRAGMA page_size=4096; CREATE TABLE t (" + names + "); INSERT INTO t VALUES (" + values + ");");
    sqlite3_close(database);
    const std::vector<SqliteRow> rows = rows_of(folder / "a.db", 4096);
    EXPECT_EQ(std::count_if(rows.begin(), rows.end(),
                            [&](const SqliteRow& row) { return int(row.values.size()) == columns; }),
              columns <= 64 ? 1 : 0);
  }
}

// Rows that are written again and again, with the log put into the file and begun again at any moment: what a
// process that dies leaves behind still gives the last version of every row.
TEST(SqlitePagesClass, ALogThatBeganAgainGivesTheLastVersions) {
  const int64_t cases = test_cases(40);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    const TestFolder folder("log", TestFolder::Place::kMemory);
    const int64_t page_bytes = int64_t{512} << random.between(0, 2);
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((folder / "a.db").c_str(), &database), SQLITE_OK);
    run(database, fmt::format("PRAGMA page_size={}; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; "
                              "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT);",
                              page_bytes));
    std::map<int64_t, std::string> written;
    for (int64_t step = random.between(1, 30); step > 0; --step) {
      const int64_t key = random.between(1, 3);
      std::string text(size_t(row_length(random, page_bytes)), 'a');
      for (char& c : text) c = char('a' + random.between(0, 25));
      run(database, fmt::format("REPLACE INTO t VALUES ({}, '{}');", key, text));
      written[key] = std::move(text);
      if (random.chance(0.15)) run(database, "PRAGMA wal_checkpoint(RESTART);");
    }
    for (const char* name : {"a.db", "a.db-wal"}) {  // as they lie there while the process lives
      std::filesystem::copy_file(folder / name, folder / (std::string("copy-") + name));
    }
    std::filesystem::rename(folder / "copy-a.db-wal", folder / "copy.db-wal");
    std::filesystem::rename(folder / "copy-a.db", folder / "copy.db");
    sqlite3_close(database);
    std::map<int64_t, std::vector<std::string>> read;
    for (const SqliteRow& row : rows_of(folder / "copy.db", size_t(page_bytes))) {
      if (row.rowid && row.values.size() == 2 && std::holds_alternative<std::string>(row.values[1]))
        read[*row.rowid].push_back(std::get<std::string>(row.values[1]));
    }
    for (const auto& [key, text] : written) {
      EXPECT_NE(std::find(read[key].begin(), read[key].end(), text), read[key].end()) << "row " << key;
    }
  }
  RecordProperty("cases", int(cases));
}

// A page that says it has more cells than fit on it gives those that are there.
TEST(SqlitePages, DamagedCountsOfCellsLeadNowhere) {
  const TestFolder folder("counts", TestFolder::Place::kMemory);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "a.db").c_str(), &database), SQLITE_OK);
  run(database, "PRAGMA page_size=512; CREATE TABLE t (a); INSERT INTO t VALUES (77);");
  sqlite3_close(database);
  std::string bytes = read_text_file(folder / "a.db");
  for (const size_t page : {size_t{100}, size_t{512}}) bytes[page + 3] = bytes[page + 4] = char(0xFF);
  write_text_file(folder / "a.db", bytes);
  bool found = false;
  for (const SqliteRow& row : rows_of(folder / "a.db", 512))
    found = found || row.values == std::vector<SqliteValue>{int64_t{77}};
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace tilewright::tune
