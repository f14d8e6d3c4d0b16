// The database of measured trials: one SQLite file, opened by the coordinator of a run alone.
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

#include "tilewright/tune/record.h"

namespace tilewright::tune {

struct RecordStatistics {
  int64_t records = 0, failures = 0, workloads = 0, machines = 0, bytes = 0;
  double measured_seconds = 0;
};

// Several processes on one machine may have the same file open: writes queue up (WAL, busy waiting), nobody
// sees a lock error.
class RecordStore {
 public:
  enum class Mode { kRead, kWrite };  // kWrite makes the file when there is none

  // Errors (invalid input): no such file (kRead), no database of records, a damaged one (says what was tried
  // and what `records recover` could save), one of a newer version, a file on a network file system (why, and
  // where to put it); (infeasible) no space.
  RecordStore(const std::filesystem::path& path, Mode mode);
  ~RecordStore();
  RecordStore(RecordStore&&) noexcept;
  RecordStore& operator=(RecordStore&&) noexcept;

  // Adds what is not there yet, all or nothing, and durable on return; returns how many were new. A record
  // whose key is there with another cost is not replaced: that is an error (internal) that names both.
  int64_t add(std::span<const Record> records);
  std::optional<Record> find(const TrialKey& key) const;
  // Of the given workload, hardware and tool; failures included in `all`. Nothing measured: nothing.
  std::optional<Record> best(const std::string& workload, const std::string& hardware,
                             const std::string& tool) const;
  std::vector<Record> all(const std::string& workload, const std::string& hardware,
                          const std::string& tool) const;
  // Every record, in the order of their keys.
  void each(const std::function<void(const Record&)>& visit) const;
  RecordStatistics statistics() const;

 private:
  struct Database;
  std::unique_ptr<Database> database_;
};

// One JSON object a line; equal stores give equal bytes.
void export_records(const RecordStore& store, std::ostream& out);
// Adds the records of such a text, all or nothing; returns how many were new. Errors (invalid input): every
// bad line with its number.
int64_t import_records(RecordStore& store, std::istream& in, const std::string& source_name);
// Saves what can be read of a damaged database into a new file; returns how many records. Errors (invalid
// input): nothing can be read, `to` exists.
int64_t recover_records(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace tilewright::tune
