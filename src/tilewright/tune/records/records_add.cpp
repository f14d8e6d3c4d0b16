// Adding: one transaction per call. A key that is there already is left alone and its cost compared: equal
// keys must give equal results, so a difference means that a key leaves something out.
#include <fmt/format.h>

#include "tilewright/tune/records/record_database.h"

namespace tilewright::tune {

std::optional<int64_t> RecordStore::Database::number_of(const std::string& text) {
  const auto known = numbers.find(text);
  if (known != numbers.end()) return known->second;
  SqliteStatement query(*connection, "SELECT id FROM texts WHERE text = ?");
  query.bind(1, std::string_view(text));
  if (!query.step()) return std::nullopt;
  return numbers[text] = query.integer(0);
}

int64_t RecordStore::Database::intern(const std::string& text) {
  const std::optional<int64_t> known = number_of(text);
  if (known) return *known;
  SqliteStatement(*connection, "INSERT INTO texts (text) VALUES (?)").bind(1, std::string_view(text)).run();
  const std::optional<int64_t> number = number_of(text);
  if (!number) throw SqliteDamage("a text that was added is not found");
  return *number;
}

AddedRecord RecordStore::Database::insert(const Record& record) {
  if (!insert_trial) {
    insert_trial.emplace(*connection,
                         "INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    find_trial.emplace(*connection,
                       fmt::format("SELECT {} FROM trials WHERE workload = ? AND hardware = ? AND "
                                   "tool = ? AND schedule = ? AND seed = ?",
                                   kRecordColumns));
  }
  const TrialKey& key = record.key;
  const int64_t workload = intern(key.workload), hardware = intern(key.hardware), tool = intern(key.tool);
  const auto bind_key = [&](SqliteStatement& statement) -> SqliteStatement& {
    return statement.bind(1, workload)
        .bind(2, hardware)
        .bind(3, tool)
        .bind(4, std::string_view(key.schedule))
        .bind(5, stored_seed(key.seed));
  };
  SqliteStatement& row = bind_key(*insert_trial);
  if (record.cost) {
    row.bind(6, *record.cost + 0.0);  // minus zero becomes zero
  } else {
    row.bind_null(6);
  }
  row.bind(7, std::string_view(record.failure)).bind(8, record.seconds + 0.0).bind(9, record.unix_time_s);
  row.bind(10, int64_t(checksum(record))).run();
  if (connection->changes() > 0) return {true, std::nullopt};
  AddedRecord added;
  if (bind_key(*find_trial).step()) {
    Record there = read_row(*find_trial, key.workload, key.hardware, key.tool);
    if (there.cost != record.cost) added.differs = std::move(there);
  }
  find_trial->reset();
  return added;
}

int64_t RecordStore::add_all(const std::function<void(const TakeRecord&)>& source) {
  int64_t added = 0;
  const auto take = [&](const Record& record) {
    AddedRecord result = database_->insert(record);
    added += result.is_new;
    return result;
  };
  database_->guarded([&] {
    try {
      database_->connection->write([&] { source(take); });
    } catch (...) {
      database_->numbers.clear();  // of texts that are not there any more
      database_->texts.clear();
      database_->insert_trial.reset();
      database_->find_trial.reset();
      throw;
    }
  });
  return added;
}

int64_t RecordStore::add(std::span<const Record> records) {
  Diagnostics problems;
  for (const Record& record : records) verify(record, "record", problems);
  problems.raise_if_any();
  if (records.empty()) return 0;
  return add_all([&](const TakeRecord& take) {
    for (const Record& record : records) {
      const AddedRecord added = take(record);
      if (!added.differs) continue;
      throw Error(
          ErrorKind::kInternal,
          fmt::format("one trial has two results: {} now, {} in '{}'\n  {}", describe_result(record),
                      describe_result(*added.differs), database_->path.string(), describe(record.key)),
          "the measurement depends on something that the key does not contain");
    }
  });
}

}  // namespace tilewright::tune
