// The open database of a RecordStore: the connection, the numbers of texts, and the conversion of table rows
// to records.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "tilewright/tune/records/records.h"
#include "tilewright/tune/records/sqlite_connection.h"

namespace tilewright::tune {

// The tables:
//   texts   every text of a workload, a hardware or a tool once, by number
//   trials  one row per record, in the order of its key; `checksum` is that of record.h
inline constexpr int64_t kRecordsApplicationId = 0x54575244;  // "TWRD", in the file's header
inline constexpr int64_t kRecordsVersion = 1;
inline constexpr int64_t kRecordsPageBytes = 4096;

struct RecordStore::Database {
  Database(const std::filesystem::path& file, Mode mode, const RecordStoreOptions& options);

  // Runs `body`; damage that it meets becomes an Error that says what can be done.
  template <typename Body>
  decltype(auto) guarded(Body&& body) {
    if (!connection) raise_damaged("as was found before");
    try {
      return body();
    } catch (const SqliteDamage& damage) {
      raise_damaged(damage.what());
    }
  }
  // Closes the database first: reading its file beside SQLite would end SQLite's locks on it.
  [[noreturn]] void raise_damaged(const std::string& detail);

  // The number of a text; nothing where the database does not have it. intern() adds it.
  std::optional<int64_t> number_of(const std::string& text);
  int64_t intern(const std::string& text);
  // Errors (SqliteDamage): there is none.
  const std::string& text_of(int64_t number);
  // A query of kRecordColumns from the trials of one group, with `rest` after its condition; further
  // parameters count from 4. Nothing where the database does not know one of the texts.
  std::optional<SqliteStatement> select_group(const std::string& workload, const std::string& hardware,
                                              const std::string& tool, const std::string& rest);
  // Inside a write transaction.
  AddedRecord insert(const Record& record);

  std::filesystem::path path;
  std::unique_ptr<SqliteConnection> connection;
  // Only numbers that are committed, or belong to the transaction that runs.
  std::unordered_map<std::string, int64_t> numbers;
  std::unordered_map<int64_t, std::string> texts;
  std::optional<SqliteStatement> insert_trial, find_trial;

 private:
  void open(Mode mode);
  // Whether tables are there. Errors (invalid input): those of another program or version.
  bool has_tables();
  void make_tables();
};

// The columns that read_row() takes, from the table trials.
inline constexpr const char* kRecordColumns = "schedule, seed, cost, failure, seconds, unix_time_s, checksum";
// The record in the current row of a query that begins with these columns. Errors (SqliteDamage): it does not
// match its checksum.
Record read_row(const SqliteStatement& row, std::string workload, std::string hardware, std::string tool);

// How a trial's numbers lie in the tables: seeds count as signed there.
inline int64_t stored_seed(uint64_t seed) { return int64_t(seed); }

}  // namespace tilewright::tune
