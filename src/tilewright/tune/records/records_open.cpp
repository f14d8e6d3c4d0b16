// Opening: where the file lies, whose it is, which version, whether its pages are in order, and, for a new
// one, its tables. The write-ahead log lets readers go on while one process writes; with synchronous=FULL a
// transaction is on the disk when it returns. Tables are made in one transaction, so that several processes
// may do it at once.
#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "tilewright/tune/records/network_file_system.h"
#include "tilewright/tune/records/record_database.h"

namespace tilewright::tune {
namespace {

constexpr const char* kTables = R"(
  CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE trials (
    workload INTEGER NOT NULL, hardware INTEGER NOT NULL, tool INTEGER NOT NULL,
    schedule TEXT NOT NULL, seed INTEGER NOT NULL,
    cost REAL, failure TEXT NOT NULL, seconds REAL NOT NULL, unix_time_s INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (workload, hardware, tool, schedule, seed)) STRICT, WITHOUT ROWID;
)";

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw Error(ErrorKind::kInvalidInput, message, hint);
}

void refuse_network(const std::filesystem::path& path, const RecordStoreOptions& options) {
  const std::string network =
      options.network_file_system ? options.network_file_system(path) : network_file_system_of(path);
  if (network.empty()) return;
  refuse(fmt::format("'{}' lies on a network file system ({}), where the locks of a database do not hold: "
                     "records would be lost or the file damaged",
                     path.string(), network),
         "keep it on a local disk of the machine that coordinates; workers deliver their results as files");
}

// SQLite makes files beside a database, even to read it. Where that cannot be, a database without unfinished
// writes can be read as it is.
bool must_be_frozen(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::absolute(path, ignored).parent_path();
  const std::filesystem::path log = path.string() + "-wal";
  if (::access(folder.c_str(), W_OK) == 0 || std::filesystem::exists(log, ignored)) return false;
  return true;
}

}  // namespace

RecordStore::Database::Database(const std::filesystem::path& file, Mode mode,
                                const RecordStoreOptions& options)
    : path(file) {
  std::error_code ignored;
  const bool there = std::filesystem::exists(path, ignored);
  if (there && !std::filesystem::is_regular_file(path, ignored))
    refuse(fmt::format("'{}' is not a file", path.string()), "give the path of a database of records");
  if (!there && mode == Mode::kRead)
    refuse(fmt::format("there is no file '{}'", path.string()),
           "'tilewright tune' and 'records import' create one");
  refuse_network(path, options);
  const bool frozen = mode == Mode::kRead && must_be_frozen(path);
  using Access = SqliteConnection::Access;
  const Access access = mode == Mode::kWrite ? Access::kWrite : frozen ? Access::kReadFrozen : Access::kRead;
  connection = std::make_unique<SqliteConnection>(path, access, options.lock_wait_s);
  guarded([&] { open(mode); });
}

void RecordStore::Database::open(Mode mode) {
  connection->execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
  const bool filled = has_tables();
  if (mode == Mode::kRead) {
    if (!filled) refuse(fmt::format("'{}' is empty, not a database of records", path.string()), "");
    return;
  }
  if (!filled)
    connection->execute(fmt::format("PRAGMA page_size = {}; PRAGMA encoding = 'UTF-8'", kRecordsPageBytes));
  SqliteStatement log(*connection, "PRAGMA journal_mode = WAL");
  if (log.step() && log.text(0) != "wal")
    refuse(fmt::format("'{}' is on a file system without shared memory", path.string()),
           "keep it on a local disk");
  log.reset();
  connection->execute("PRAGMA synchronous = FULL");
  if (!filled) {
    connection->write([&] {
      if (!has_tables()) make_tables();
    });
  }
  SqliteStatement check(*connection, "PRAGMA quick_check(1)");
  if (check.step() && check.text(0) != "ok") throw SqliteDamage(check.text(0));
}

bool RecordStore::Database::has_tables() {
  // Another process may make them between two of these, all at once: who sees its tables sees its number too.
  const int64_t tables = connection->number("SELECT count(*) FROM sqlite_schema");
  const int64_t application = connection->number("PRAGMA application_id");
  const int64_t version = connection->number("PRAGMA user_version");
  if (tables == 0 && application == 0) return false;
  if (application != kRecordsApplicationId)
    refuse(fmt::format("'{}' is a database of another program", path.string()), "give a database of records");
  if (version > kRecordsVersion)
    refuse(fmt::format("'{}' was made by a newer tilewright: its format is {}, this one knows {}",
                       path.string(), version, kRecordsVersion),
           "update this one, or export there and import here");
  return true;
}

void RecordStore::Database::make_tables() {
  connection->execute(kTables);
  connection->execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                  kRecordsApplicationId, kRecordsVersion));
}

void RecordStore::Database::raise_damaged(const std::string& detail) {
  insert_trial.reset();
  find_trial.reset();
  connection.reset();
  const int64_t saved = count_recoverable(path);
  const std::string what =
      fmt::format("'{}' is damaged, or not a database of records ({})", path.string(), detail);
  if (saved == 0) {
    refuse(what, "no record can be read from it: restore it from a copy or an export");
  }
  refuse(what, fmt::format("{} records can still be read: 'tilewright records recover {} -o NEW' saves them",
                           saved, path.string()));
}

RecordStore::RecordStore(const std::filesystem::path& path, Mode mode, const RecordStoreOptions& options)
    : database_(std::make_unique<Database>(path, mode, options)) {}
RecordStore::~RecordStore() = default;
RecordStore::RecordStore(RecordStore&&) noexcept = default;
RecordStore& RecordStore::operator=(RecordStore&&) noexcept = default;

}  // namespace tilewright::tune
