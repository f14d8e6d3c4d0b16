// Asking. Rows lie in the order (workload, hardware, tool, schedule, seed) of the numbers of their texts, so
// what belongs to one workload and machine lies together; the best of it is found by reading it all, which
// saves an index as large as the table.
#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <tuple>
#include <utility>

#include "tilewright/tune/records/record_database.h"

namespace tilewright::tune {
namespace {

struct Group {
  int64_t workload = 0, hardware = 0, tool = 0;
};

// Seeds are unsigned, the column is not: those that look negative come last.
constexpr const char* kBySchedule = "schedule, seed < 0, seed";

int64_t file_bytes(const std::filesystem::path& path) {
  std::error_code failure;
  const auto bytes = std::filesystem::file_size(path, failure);
  return failure ? 0 : int64_t(bytes);
}

}  // namespace

const std::string& RecordStore::Database::text_of(int64_t number) {
  const auto known = texts.find(number);
  if (known != texts.end()) return known->second;
  SqliteStatement query(*connection, "SELECT text FROM texts WHERE id = ?");
  query.bind(1, number);
  if (!query.step()) throw SqliteDamage(fmt::format("text {} is missing", number));
  return texts[number] = query.text(0);
}

Record read_row(const SqliteStatement& row, std::string workload, std::string hardware, std::string tool) {
  Record record;
  record.key = {std::move(workload), std::move(hardware), row.text(0), std::move(tool),
                uint64_t(row.integer(1))};
  if (!row.is_null(2)) record.cost = row.real(2);
  record.failure = row.text(3);
  record.seconds = row.real(4);
  record.unix_time_s = row.integer(5);
  if (uint64_t(row.integer(6)) != checksum(record))
    throw SqliteDamage("a record does not match its checksum");
  return record;
}

std::optional<SqliteStatement> RecordStore::Database::select_group(const std::string& workload,
                                                                   const std::string& hardware,
                                                                   const std::string& tool,
                                                                   const std::string& rest) {
  const auto w = number_of(workload), h = number_of(hardware), t = number_of(tool);
  if (!w || !h || !t) return std::nullopt;
  SqliteStatement query(
      *connection, fmt::format("SELECT {} FROM trials WHERE workload = ? AND hardware = ? AND tool = ? {}",
                               kRecordColumns, rest));
  query.bind(1, *w).bind(2, *h).bind(3, *t);
  return query;
}

std::optional<Record> RecordStore::find(const TrialKey& key) const {
  return database_->guarded([&]() -> std::optional<Record> {
    auto query =
        database_->select_group(key.workload, key.hardware, key.tool, "AND schedule = ? AND seed = ?");
    if (!query) return std::nullopt;
    query->bind(4, std::string_view(key.schedule)).bind(5, stored_seed(key.seed));
    if (!query->step()) return std::nullopt;
    return read_row(*query, key.workload, key.hardware, key.tool);
  });
}

std::optional<Record> RecordStore::best(const std::string& workload, const std::string& hardware,
                                        const std::string& tool) const {
  return database_->guarded([&]() -> std::optional<Record> {
    auto query = database_->select_group(
        workload, hardware, tool, fmt::format("AND cost IS NOT NULL ORDER BY cost, {} LIMIT 1", kBySchedule));
    if (!query || !query->step()) return std::nullopt;
    return read_row(*query, workload, hardware, tool);
  });
}

std::vector<Record> RecordStore::all(const std::string& workload, const std::string& hardware,
                                     const std::string& tool) const {
  return database_->guarded([&] {
    std::vector<Record> records;
    auto query = database_->select_group(workload, hardware, tool, fmt::format("ORDER BY {}", kBySchedule));
    while (query && query->step()) records.push_back(read_row(*query, workload, hardware, tool));
    return records;
  });
}

// One query per workload and hardware: sorting all rows with their texts at once would take far more room
// than the file.
void RecordStore::each(const std::function<void(const Record&)>& visit) const {
  Database& data = *database_;
  const auto visit_pair = [&](const Group& pair) {
    const std::string workload = data.text_of(pair.workload), hardware = data.text_of(pair.hardware);
    // Without the tool's text a row would be dropped where texts is damaged: it is looked up below instead.
    SqliteStatement query(
        *data.connection,
        fmt::format("SELECT {}, tool FROM trials LEFT JOIN texts ON texts.id = tool WHERE workload "
                    "= ? AND hardware = ? ORDER BY schedule, texts.text, seed < 0, seed",
                    kRecordColumns));
    query.bind(1, pair.workload).bind(2, pair.hardware);
    while (query.step()) visit(read_row(query, workload, hardware, data.text_of(query.integer(7))));
  };
  const auto visit_all = [&] {
    std::vector<Group> pairs;
    SqliteStatement query(*data.connection, "SELECT DISTINCT workload, hardware FROM trials");
    while (query.step()) pairs.push_back({query.integer(0), query.integer(1), 0});
    std::sort(pairs.begin(), pairs.end(), [&](const Group& a, const Group& b) {
      return std::tie(data.text_of(a.workload), data.text_of(a.hardware)) <
             std::tie(data.text_of(b.workload), data.text_of(b.hardware));
    });
    for (const Group& pair : pairs) visit_pair(pair);
  };
  data.guarded([&] { data.connection->read(visit_all); });
}

std::vector<Record> RecordStore::all_best() const {
  Database& data = *database_;
  std::vector<Group> groups;
  std::vector<Record> records;
  data.guarded([&] {
    SqliteStatement query(*data.connection, "SELECT DISTINCT workload, hardware, tool FROM trials");
    while (query.step()) groups.push_back({query.integer(0), query.integer(1), query.integer(2)});
    for (const Group& group : groups) {
      std::optional<Record> found =
          best(data.text_of(group.workload), data.text_of(group.hardware), data.text_of(group.tool));
      if (found) records.push_back(std::move(*found));
    }
  });
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.key < b.key; });
  return records;
}

RecordStatistics RecordStore::statistics() const {
  RecordStatistics result;
  database_->guarded([&] {
    SqliteStatement query(*database_->connection,
                          "SELECT count(*), count(*) - count(cost), count(DISTINCT workload), count(DISTINCT "
                          "hardware), count(DISTINCT tool), coalesce(sum(seconds), 0) FROM trials");
    query.step();
    result = {query.integer(0), query.integer(1), query.integer(2), query.integer(3), query.integer(4), 0,
              query.real(5)};
  });
  result.bytes = file_bytes(database_->path) + file_bytes(database_->path.string() + "-wal");
  return result;
}

}  // namespace tilewright::tune
