// What can be saved of a damaged database. Records are facts that never change, and each has a checksum over
// all of its texts and numbers; so any row found on any page is taken when its checksum holds, whichever way
// the page was reached and whether or not the transaction that wrote it was ended.
#include <fmt/format.h>

#include <set>
#include <system_error>
#include <unordered_map>

#include "tilewright/tune/records/record_database.h"
#include "tilewright/tune/records/sqlite_pages.h"

namespace tilewright::tune {
namespace {

using Texts = std::unordered_map<int64_t, std::set<std::string>>;  // damage may give a number several ones

template <typename T>
const T* as(const SqliteRow& row, size_t column) {
  return std::get_if<T>(&row.values[column]);
}

// Columns of type REAL hold whole numbers as integers.
std::optional<double> number(const SqliteRow& row, size_t column) {
  if (const auto* real = as<double>(row, column)) return *real;
  if (const auto* integer = as<int64_t>(row, column)) return double(*integer);
  return std::nullopt;
}

// A row of the table `texts`, or an entry of its index.
void collect_text(const SqliteRow& row, Texts& texts) {
  if (row.values.size() != 2) return;
  if (row.rowid && as<std::string>(row, 1)) texts[*row.rowid].insert(*as<std::string>(row, 1));
  if (!row.rowid && as<std::string>(row, 0) && as<int64_t>(row, 1))
    texts[*as<int64_t>(row, 1)].insert(*as<std::string>(row, 0));
}

// The record of a row of the table `trials`, with whichever texts its checksum confirms.
std::optional<Record> trial_of(const SqliteRow& row, const Texts& texts) {
  if (row.rowid || row.values.size() != 10) return std::nullopt;
  const auto *schedule = as<std::string>(row, 3), *failure = as<std::string>(row, 6);
  const auto *seed = as<int64_t>(row, 4), *time = as<int64_t>(row, 8), *sum = as<int64_t>(row, 9);
  const std::optional<double> seconds = number(row, 7);
  if (!schedule || !failure || !seed || !time || !sum || !seconds) return std::nullopt;
  Record record{{"", "", *schedule, "", uint64_t(*seed)}, number(row, 5), *failure, *seconds, *time};
  const auto texts_of = [&](size_t column) -> const std::set<std::string>& {
    static const std::set<std::string> none;
    const auto* id = as<int64_t>(row, column);
    const auto found = id ? texts.find(*id) : texts.end();
    return found == texts.end() ? none : found->second;
  };
  for (const std::string& workload : texts_of(0)) {
    for (const std::string& hardware : texts_of(1)) {
      for (const std::string& tool : texts_of(2)) {
        record.key.workload = workload;
        record.key.hardware = hardware;
        record.key.tool = tool;
        if (checksum(record) != uint64_t(*sum)) continue;
        Diagnostics problems;
        verify(record, "", problems);
        if (problems.ok()) return record;
      }
    }
  }
  return std::nullopt;
}

void visit_intact(const std::filesystem::path& path, const std::function<void(const Record&)>& visit) {
  const SqlitePages pages(path, size_t(kRecordsPageBytes));
  Texts texts;
  pages.visit_rows([&](const SqliteRow& row) { collect_text(row, texts); });
  pages.visit_rows([&](const SqliteRow& row) {
    const std::optional<Record> record = trial_of(row, texts);
    if (record) visit(*record);
  });
}

void remove_database(const std::filesystem::path& path) {
  std::error_code ignored;
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + end, ignored);
}

}  // namespace

int64_t count_recoverable(const std::filesystem::path& from) {
  std::set<TrialKey> keys;
  try {
    visit_intact(from, [&](const Record& record) { keys.insert(record.key); });
  } catch (const Error&) {
    return 0;
  }
  return int64_t(keys.size());
}

int64_t recover_records(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code ignored;
  if (std::filesystem::exists(to, ignored)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' exists already", to.string()),
                "give the name of a new file");
  }
  const std::filesystem::path unfinished = to.string() + ".unfinished";
  remove_database(unfinished);
  try {
    int64_t saved = 0;
    {
      RecordStore store(unfinished, RecordStore::Mode::kWrite);
      saved = store.add_all([&](const TakeRecord& take) { visit_intact(from, take); });
      if (saved == 0) {
        throw Error(ErrorKind::kInvalidInput, fmt::format("no record can be read from '{}'", from.string()),
                    "restore it from a copy or an export");
      }
    }
    std::filesystem::rename(unfinished, to);
    return saved;
  } catch (...) {
    remove_database(unfinished);
    throw;
  }
}

}  // namespace tilewright::tune
