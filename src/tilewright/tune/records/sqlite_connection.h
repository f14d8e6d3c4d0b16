// One connection to an SQLite file, its statements and transactions, with SQLite's results as our errors.
// Waits for other processes instead of reporting their locks.
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace tilewright::tune {

class SqliteConnection;

// Thrown by every call below: the file's pages contradict each other, or it is no database at all. Also
// throws Error: (invalid input) the file cannot be opened or written, no space, a disk that fails;
// (infeasible) a lock that another process holds for too long.
class SqliteDamage : public std::exception {
 public:
  explicit SqliteDamage(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

class SqliteStatement {
 public:
  SqliteStatement(SqliteConnection& connection, const std::string& sql);

  // Parameters count from 1, columns from 0.
  SqliteStatement& bind(int parameter, int64_t value);
  SqliteStatement& bind(int parameter, double value);
  SqliteStatement& bind(int parameter, std::string_view text);
  SqliteStatement& bind_null(int parameter);

  // Goes to the next row; false: there is none, and the statement may be bound and run again.
  bool step();
  // step() of a statement that gives no rows, or whose further rows are of no interest.
  bool run();
  void reset();

  bool is_null(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  void check(int result);

  SqliteConnection* connection_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  bool running_ = false;
};

class SqliteConnection {
 public:
  enum class Access {
    kRead,
    kReadFrozen,  // no other process writes the file: works where no file can be made beside it
    kWrite,       // makes the file when there is none
  };
  // `lock_wait_s`: how long to wait for a lock.
  SqliteConnection(std::filesystem::path path, Access access, double lock_wait_s);
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  // Every statement of `sql`; no rows.
  void execute(const std::string& sql);
  // Of a query with one row of one number.
  int64_t number(const std::string& sql);
  int64_t changes() const;
  // Runs `body` as one transaction that no other process can interrupt: what it wrote is durable afterwards,
  // or, when anything leaves it, not there.
  void write(const std::function<void()>& body);
  // Runs `body` on one state of the database, whatever others write meanwhile.
  void read(const std::function<void()>& body);

 private:
  friend class SqliteStatement;
  struct Closer {
    void operator()(sqlite3* connection) const;
  };
  void within(const char* begin, const std::function<void()>& body);
  // Sleeps a little; false when the wait that began with attempt 0 has been long enough.
  bool wait(int attempt);
  // Whether `result` is a lock of another process that may be gone by now. Waits.
  bool try_again(int result, int attempt);
  [[noreturn]] void fail(int result);

  std::filesystem::path path_;
  double lock_wait_s_;
  int64_t wait_began_ms_ = 0;
  bool waited_enough_ = false;
  std::unique_ptr<sqlite3, Closer> connection_;
};

}  // namespace tilewright::tune
