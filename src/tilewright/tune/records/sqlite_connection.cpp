// Locks: SQLite calls the busy handler in most cases, but not where it sees a deadlock coming or while
// another process repairs the write-ahead log; those come back as SQLITE_BUSY and are tried again here.
#include "tilewright/tune/records/sqlite_connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "tilewright/base/error.h"

namespace tilewright::tune {
namespace {

int64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

int primary(int result) { return result & 0xFF; }

// Whether another process is in the way, so that the same call may succeed later.
bool is_lock(int result) {
  return primary(result) == SQLITE_BUSY || primary(result) == SQLITE_LOCKED ||
         primary(result) == SQLITE_PROTOCOL;
}

// A path as SQLite's URIs want it.
std::string as_uri(const std::filesystem::path& path, const char* parameters) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const bool special = c == '%' || c == '?' || c == '#';
    uri += special ? fmt::format("%{:02X}", int(static_cast<unsigned char>(c))) : std::string(1, c);
  }
  return uri + parameters;
}

}  // namespace

void SqliteStatement::Finalizer::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

SqliteStatement::SqliteStatement(SqliteConnection& connection, const std::string& sql)
    : connection_(&connection) {
  sqlite3_stmt* statement = nullptr;
  int result = SQLITE_OK, attempt = 0;
  do {
    result =
        sqlite3_prepare_v2(connection.connection_.get(), sql.c_str(), int(sql.size()), &statement, nullptr);
  } while (connection.try_again(result, attempt++));
  check(result);
  statement_.reset(statement);
}

void SqliteStatement::check(int result) {
  if (result != SQLITE_OK) connection_->fail(result);
}

SqliteStatement& SqliteStatement::bind(int parameter, int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), parameter, value));
  return *this;
}

SqliteStatement& SqliteStatement::bind(int parameter, double value) {
  check(sqlite3_bind_double(statement_.get(), parameter, value));
  return *this;
}

SqliteStatement& SqliteStatement::bind(int parameter, std::string_view text) {
  check(sqlite3_bind_text64(statement_.get(), parameter, text.data(), text.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
  return *this;
}

SqliteStatement& SqliteStatement::bind_null(int parameter) {
  check(sqlite3_bind_null(statement_.get(), parameter));
  return *this;
}

bool SqliteStatement::step() {
  int result = SQLITE_OK, attempt = 0;
  do {
    result = sqlite3_step(statement_.get());
    if (is_lock(result)) sqlite3_reset(statement_.get());
    // After its first row a statement has its locks: nothing to wait for.
  } while (!running_ && connection_->try_again(result, attempt++));
  running_ = result == SQLITE_ROW;
  if (running_) return true;
  sqlite3_reset(statement_.get());
  if (result != SQLITE_DONE) connection_->fail(result);
  return false;
}

bool SqliteStatement::run() {
  const bool row = step();
  reset();
  return row;
}

void SqliteStatement::reset() {
  sqlite3_reset(statement_.get());
  running_ = false;
}

bool SqliteStatement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
int64_t SqliteStatement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double SqliteStatement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string SqliteStatement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (!text) return "";
  return {reinterpret_cast<const char*>(text), size_t(sqlite3_column_bytes(statement_.get(), column))};
}

void SqliteConnection::Closer::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

SqliteConnection::SqliteConnection(std::filesystem::path path, Access access, double lock_wait_s)
    : path_(std::move(path)), lock_wait_s_(lock_wait_s) {
  const int flags = SQLITE_OPEN_URI | (access == Access::kWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                                : SQLITE_OPEN_READONLY);
  const std::string uri = as_uri(path_, access == Access::kReadFrozen ? "?immutable=1" : "");
  sqlite3* connection = nullptr;
  const int result = sqlite3_open_v2(uri.c_str(), &connection, flags, nullptr);
  connection_.reset(connection);
  if (result != SQLITE_OK) fail(result);
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_handler(
      connection,
      [](void* self, int attempt) { return int(static_cast<SqliteConnection*>(self)->wait(attempt)); }, this);
}

bool SqliteConnection::wait(int attempt) {
  const int64_t now = now_ms();
  if (attempt == 0) wait_began_ms_ = now;
  waited_enough_ = double(now - wait_began_ms_) >= lock_wait_s_ * 1000;
  if (waited_enough_) return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(std::min(1 + attempt, 20)));
  return true;
}

bool SqliteConnection::try_again(int result, int attempt) {
  return is_lock(result) && !waited_enough_ && wait(attempt);
}

void SqliteConnection::fail(int result) {
  sqlite3* c = connection_.get();
  const std::string file = fmt::format("'{}'", path_.string());
  const std::string detail = c ? sqlite3_errmsg(c) : sqlite3_errstr(result);
  const int reason = c ? sqlite3_system_errno(c) : 0;
  const bool failed_io = primary(result) == SQLITE_IOERR || primary(result) == SQLITE_CANTOPEN;
  const bool no_space = failed_io && (reason == ENOSPC || reason == EDQUOT || reason == EFBIG);
  waited_enough_ = false;
  if (primary(result) == SQLITE_FULL || no_space) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("there is no space left to write {}", file),
                "nothing of this step was written: free some space and repeat it");
  }
  switch (primary(result)) {
    case SQLITE_NOMEM:
      throw std::bad_alloc();
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:       // a table or column that our statements name is not there
    case SQLITE_CONSTRAINT:  // an index does not know what its table holds
    case SQLITE_MISMATCH:
      throw SqliteDamage(detail);
    case SQLITE_IOERR:
      if (result == SQLITE_IOERR_SHORT_READ || result == SQLITE_IOERR_CORRUPTFS) throw SqliteDamage(detail);
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("{} cannot be read or written: {}", file,
                              reason ? std::strerror(reason) : detail.c_str()),
                  "nothing of this step was written: look at the disk, and at limits on the size of files");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      throw Error(ErrorKind::kInfeasible,
                  fmt::format("another process has been writing to {} for {} s", file, lock_wait_s_),
                  "end it, or wait for it, and try again");
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("cannot open {}: {}", file, reason ? std::strerror(reason) : detail.c_str()),
                  "do the file and its folder exist, and are they writable?");
    default:
      throw Error(ErrorKind::kInternal, fmt::format("{}: SQLite says: {}", file, detail));
  }
}

void SqliteConnection::execute(const std::string& sql) {
  const char* rest = sql.c_str();
  while (*rest != 0) {
    const char* end = std::strchr(rest, ';');
    const std::string one = end ? std::string(rest, end + 1) : std::string(rest);
    if (one.find_first_not_of(" \n;") != std::string::npos) SqliteStatement(*this, one).run();
    rest = end ? end + 1 : rest + one.size();
  }
}

int64_t SqliteConnection::number(const std::string& sql) {
  SqliteStatement query(*this, sql);
  return query.step() ? query.integer(0) : 0;
}

int64_t SqliteConnection::changes() const { return sqlite3_changes64(connection_.get()); }

void SqliteConnection::within(const char* begin, const std::function<void()>& body) {
  execute(begin);
  try {
    body();
    execute("COMMIT");
  } catch (...) {
    // Where SQLite has rolled back by itself there is no transaction any more.
    if (sqlite3_get_autocommit(connection_.get()) == 0)
      sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

void SqliteConnection::write(const std::function<void()>& body) { within("BEGIN IMMEDIATE", body); }
void SqliteConnection::read(const std::function<void()>& body) { within("BEGIN", body); }

}  // namespace tilewright::tune
