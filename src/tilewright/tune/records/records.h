// The database of measured trials: one SQLite file, opened by the coordinator of a run alone. Records are
// facts: they are added, never changed or removed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/tune/records/record.h"

namespace tilewright::tune {

struct RecordStatistics {
  int64_t records = 0, failures = 0, workloads = 0, machines = 0, tools = 0;
  int64_t bytes = 0;            // of the files
  double measured_seconds = 0;  // of all records together
};

struct RecordStoreOptions {
  double lock_wait_s = 600;  // how long another process may write before that is an error
  // The name of the network file system that a path lies on, empty for a local one; nothing: asks the system.
  std::function<std::string(const std::filesystem::path&)> network_file_system;
};

// What a store did with a record.
struct AddedRecord {
  bool is_new = false;
  std::optional<Record> differs;  // what the store holds: an equal key, another cost
};
using TakeRecord = std::function<AddedRecord(const Record&)>;

// Several processes on one machine may have the same file open: writes queue up (WAL, busy waiting), nobody
// sees a lock error. One thread at a time. Errors of every call: (invalid input) the file is damaged, with
// how many records 'records recover' would save; no space, a failing disk; (infeasible) another process that
// writes for longer than the options allow. After an error the file holds what it held before the call.
class RecordStore {
 public:
  enum class Mode { kRead, kWrite };  // kWrite makes the file when there is none

  // Errors (invalid input): no such file (kRead), no database of records, one of a newer version, a file on a
  // network file system (why, and where to put it).
  RecordStore(const std::filesystem::path& path, Mode mode, const RecordStoreOptions& options = {});
  ~RecordStore();
  RecordStore(RecordStore&&) noexcept;
  RecordStore& operator=(RecordStore&&) noexcept;

  // Adds what is not there yet, all or nothing, and durable on return; returns how many were new. A record
  // whose key is there with another cost is not replaced: that is an error (internal) that names both. Errors
  // (invalid input): records that verify() refuses.
  int64_t add(std::span<const Record> records);
  // The same for records that `source` hands over one by one, each one that verify() accepts, and whose fate
  // it judges. `source` does nothing else with this store; an exception that leaves it undoes all.
  int64_t add_all(const std::function<void(const TakeRecord&)>& source);

  std::optional<Record> find(const TrialKey& key) const;
  // The one with the least cost (of equal ones the first by key). Nothing measured: nothing.
  std::optional<Record> best(const std::string& workload, const std::string& hardware,
                             const std::string& tool) const;
  // Failures included, by schedule and seed.
  std::vector<Record> all(const std::string& workload, const std::string& hardware,
                          const std::string& tool) const;
  // Every record, in the order of their keys, of one moment. `visit` does nothing else with this store.
  void each(const std::function<void(const Record&)>& visit) const;
  // best() of every workload, hardware and tool, in the order of their keys.
  std::vector<Record> all_best() const;
  RecordStatistics statistics() const;

 private:
  struct Database;
  std::unique_ptr<Database> database_;
};

// One JSON object a line; equal stores give equal bytes.
void export_records(const RecordStore& store, std::ostream& out);
// Adds the records of such a text, all or nothing; returns how many were new. Errors (invalid input): every
// bad line with its number, and every line whose key is there with another cost.
int64_t import_records(RecordStore& store, std::istream& in, const std::string& source_name);
// Adds the records of another store, all or nothing; returns how many were new. Errors (invalid input): every
// key that is in both with different costs.
int64_t merge_records(RecordStore& into, const RecordStore& from);

// Saves what can be read of a damaged database into a new file; returns how many records. Errors (invalid
// input): nothing can be read, `to` exists.
int64_t recover_records(const std::filesystem::path& from, const std::filesystem::path& to);
// How many records that would be. 0 for a file that cannot be read at all.
int64_t count_recoverable(const std::filesystem::path& from);

}  // namespace tilewright::tune
