// Files that are no databases, lie where they must not, or were damaged.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>

#include "tilewright/base/file.h"
#include "tilewright/tune/fleet/child_process_testing.h"
#include "tilewright/tune/records/network_file_system.h"
#include "tilewright/tune/records/record_database.h"
#include "tilewright/tune/records/records_testing.h"
#include "tilewright/tune/records/sqlite_connection.h"

namespace tilewright::tune {
namespace {

using Mode = RecordStore::Mode;
namespace fs = std::filesystem;

TEST(RecordFiles, WhatIsNoDatabaseOfRecordsIsRefused) {
  const TestFolder folder("foreign");
  write_text_file(folder / "text", std::string(5000, 'x'));
  write_text_file(folder / "empty", "");
  {
    SqliteConnection other(folder / "other.db", SqliteConnection::Access::kWrite, 1);
    other.execute("CREATE TABLE a (b)");
    SqliteConnection newer(folder / "newer.db", SqliteConnection::Access::kWrite, 1);
    newer.execute("CREATE TABLE a (b); PRAGMA user_version = 2; PRAGMA application_id = " +
                  std::to_string(kRecordsApplicationId));
  }
  const std::vector<std::byte> before = read_file(folder / "other.db");
  const auto refusal = [&](const std::string& name, Mode mode) {
    return message_of([&] { RecordStore(folder / name, mode); });
  };
  const auto named = [&](const std::string& name) { return "'" + (folder / name).string() + "'"; };
  for (const Mode mode : {Mode::kRead, Mode::kWrite}) {
    EXPECT_EQ(refusal("text", mode),
              named("text") +
                  " is damaged, or not a database of records (file is not a database); no record can be "
                  "read from it: restore it from a copy or an export");
    EXPECT_EQ(refusal("other.db", mode),
              named("other.db") + " is a database of another program; give a database of records");
    EXPECT_EQ(refusal("newer.db", mode),
              named("newer.db") +
                  " was made by a newer tilewright: its format is 2, this one knows 1; update this "
                  "one, or export there and import here");
    EXPECT_EQ(refusal(".", mode), named(".") + " is not a file; give the path of a database of records");
  }
  EXPECT_EQ(refusal("empty", Mode::kRead), named("empty") + " is empty, not a database of records");
  EXPECT_EQ(refusal("empty", Mode::kWrite), "");
  EXPECT_EQ(read_file(folder / "other.db"), before);
  EXPECT_NE(refusal("nowhere/a.db", Mode::kWrite).find("cannot open"), std::string::npos);
}

TEST(RecordFiles, OddNamesAreNames) {
  const TestFolder folder("names");
  for (const char* name : {"a?b.db", "50%41.db", "a#b.db", "file:x.db", ":memory:", "a b.db"}) {
    { RecordStore(folder / name, Mode::kWrite).add(std::vector{numbered_record(1)}); }
    EXPECT_TRUE(fs::exists(folder / name)) << name;
    EXPECT_EQ(RecordStore(folder / name, Mode::kRead).statistics().records, 1) << name;
  }
}

TEST(RecordFiles, NetworkFileSystemsAreRefusedWithTheReason) {
  EXPECT_EQ(network_file_system(0x6969, "nfs4"), "NFS");
  EXPECT_EQ(network_file_system(int64_t(int32_t(0xFF534D42)), "cifs"), "CIFS");  // a signed word in statfs
  EXPECT_EQ(network_file_system(0xFE534D42, "smb3"), "SMB");
  EXPECT_EQ(network_file_system(0x0BD00BD0, "lustre"), "Lustre");
  EXPECT_EQ(network_file_system(0x65735546, "fuse.sshfs"), "fuse.sshfs");
  EXPECT_EQ(network_file_system(0x65735546, "fuse.gocryptfs"), "");
  EXPECT_EQ(network_file_system(0x65735546, "fuseblk"), "");
  for (const int64_t local : {0xEF53, 0x58465342, 0x01021994, 0x794C7630}) {  // ext, xfs, tmpfs, overlay
    EXPECT_EQ(network_file_system(local, ""), "");
  }
  const TestFolder folder("network");
  RecordStoreOptions options;
  fs::path asked;
  options.network_file_system = [&](const fs::path& path) {
    asked = path;
    return std::string("NFS");
  };
  EXPECT_EQ(
      message_of([&] { RecordStore(folder / "a.db", Mode::kWrite, options); }),
      "'" + (folder / "a.db").string() +
          "' lies on a network file system (NFS), where the locks of a database do not hold: records would "
          "be lost or the file damaged; keep it on a local disk of the machine that coordinates; workers "
          "deliver their results as files");
  EXPECT_EQ(asked, folder / "a.db");
  EXPECT_FALSE(fs::exists(folder / "a.db"));
}

TEST(RecordFiles, AForeignTableIsDamageNotABug) {
  const TestFolder folder("schema");
  {
    SqliteConnection other(folder / "a.db", SqliteConnection::Access::kWrite, 1);
    other.execute("CREATE TABLE texts (b); PRAGMA user_version = 1; PRAGMA application_id = " +
                  std::to_string(kRecordsApplicationId));
  }
  EXPECT_NE(message_of([&] {
              RecordStore(folder / "a.db", Mode::kRead).all_best();
            }).find("is damaged, or not a database of records (no such table: trials)"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              RecordStore(folder / "a.db", Mode::kWrite).add(std::vector{numbered_record(1)});
            }).find("is damaged"),
            std::string::npos);
}

TEST(RecordFiles, AFrozenFileIsReadWithoutFilesBesideIt) {
  const TestFolder folder("frozen");
  { RecordStore(folder / "a.db", Mode::kWrite).add(std::vector{numbered_record(1)}); }
  SqliteConnection connection(folder / "a.db", SqliteConnection::Access::kReadFrozen, 1);
  EXPECT_EQ(connection.number("SELECT count(*) FROM trials"), 1);
  EXPECT_FALSE(fs::exists(folder / "a.db-wal"));
  EXPECT_FALSE(fs::exists(folder / "a.db-shm"));
}

// The files of a database of `count` records whose last changes are still in the write-ahead log, by name.
using Files = std::map<std::string, std::vector<std::byte>>;
Files files_with_log(const TestFolder& folder, int64_t count) {
  const pid_t child = start_child([&] {  // ends without closing the database
    RecordStore store(folder / "a.db", Mode::kWrite);
    std::vector<Record> records;
    for (int64_t i = 0; i < count; ++i) {
      records.push_back(numbered_record(i));
      if (i % 97 == 0) records.back().key.workload += std::string(6000, 'w');  // needs further pages
      if (i % 50 != 49) continue;
      store.add(records);
      records.clear();
    }
    store.add(records);
    std::fflush(nullptr);
    ::_exit(0);
  });
  EXPECT_EQ(wait_for_child(child), 0);
  return {{"a.db", read_file(folder / "a.db")}, {"a.db-wal", read_file(folder / "a.db-wal")}};
}

Files files_without_log(const TestFolder& folder, int64_t count) {
  files_with_log(folder, count);
  { RecordStore(folder / "a.db", Mode::kWrite).statistics(); }
  EXPECT_FALSE(fs::exists(folder / "a.db-wal"));
  return {{"a.db", read_file(folder / "a.db")}};
}

struct DamageReport {
  int refused = 0, read = 0, nothing_saved = 0;
  int64_t saved = 0, possible = 0;
};

// Opens, reads and writes a damaged database, and saves what is left of it. Whatever comes of that: no record
// may have another content than it was added with.
void use_damaged(const fs::path& file, const fs::path& rescue, const std::map<TrialKey, Record>& originals,
                 DamageReport& report) {
  const auto check = [&](const Record& record) {
    const auto original = originals.find(record.key);
    ASSERT_NE(original, originals.end()) << describe(record.key);
    EXPECT_EQ(record, original->second);
  };
  const Files damaged = {{"a.db", read_file(file)},
                         {"a.db-wal", fs::exists(file.string() + "-wal") ? read_file(file.string() + "-wal")
                                                                         : std::vector<std::byte>{}}};
  const std::string message = message_of([&] {
    RecordStore store(file, Mode::kWrite);
    store.each(check);
    for (const Record& record : store.all_best()) check(record);
    if (const auto found = store.find(numbered_record(3).key)) check(*found);
    store.add(std::vector{numbered_record(1000000)});
  });
  ++(message.empty() ? report.read : report.refused);
  if (!message.empty()) {
    EXPECT_NE(message.find(file.filename().string()), std::string::npos) << message;
  }
  for (const auto& [name, bytes] : damaged) write_file(file.parent_path() / name, bytes);
  const std::string failure = message_of([&] {
    const int64_t saved = recover_records(file, rescue);
    RecordStore(rescue, Mode::kRead).each(check);
    report.saved += saved;
    EXPECT_EQ(count_recoverable(file), saved);
  });
  report.nothing_saved += !failure.empty();
  if (!failure.empty()) {
    EXPECT_NE(failure.find("no record can be read from"), std::string::npos) << failure;
  }
  report.possible += int64_t(originals.size());
  fs::remove(rescue);
}

DamageReport damage_at_random(const std::string& name, bool with_log, bool cut, int cases) {
  constexpr int64_t kRecords = 600;
  const TestFolder folder(name, TestFolder::Place::kMemory), work(name + "_work", TestFolder::Place::kMemory);
  const Files files = with_log ? files_with_log(folder, kRecords) : files_without_log(folder, kRecords);
  std::map<TrialKey, Record> originals;
  for (int64_t i = 0; i < kRecords; ++i) {
    Record record = numbered_record(i);
    if (i % 97 == 0) record.key.workload += std::string(6000, 'w');
    originals[record.key] = record;
  }
  DamageReport report;
  Random random(name.size());
  for (int i = 0; i < cases; ++i) {
    const std::string victim = with_log && i % 2 == 0 ? "a.db-wal" : "a.db";
    for (const char* end : {"a.db", "a.db-wal", "a.db-shm"}) fs::remove(work / end);
    for (const auto& [file, bytes] : files) {
      std::vector<std::byte> damaged = bytes;
      if (file == victim && cut) {
        damaged.resize(size_t(random.between(0, int64_t(damaged.size()) - 1)));
      } else if (file == victim) {
        for (int64_t flips = random.between(1, 8); flips > 0; --flips)
          damaged[size_t(random.between(0, int64_t(damaged.size()) - 1))] = std::byte(random.between(0, 255));
      }
      write_file(work / file, damaged);
    }
    use_damaged(work / "a.db", work / "rescue.db", originals, report);
  }
  return report;
}

TEST(RecordDamage, ACutFileIsRefusedAndItsRestSaved) {
  const DamageReport report = damage_at_random("cut", false, true, 50);
  EXPECT_GE(report.refused, 49);  // a file cut to nothing is an empty one
  EXPECT_GT(double(report.saved), 0.3 * double(report.possible));
}

TEST(RecordDamage, ACutLogLosesOnlyItsEnd) {
  const DamageReport report = damage_at_random("log", true, true, 40);
  EXPECT_GT(report.read, 10);
  EXPECT_GT(double(report.saved), 0.5 * double(report.possible));
}

TEST(RecordDamage, WrongBytesAreNeverOtherResults) {
  const DamageReport plain = damage_at_random("bytes", false, false, 60);
  EXPECT_GT(plain.refused, 20);
  EXPECT_EQ(plain.nothing_saved, 0);
  EXPECT_GT(double(plain.saved), 0.9 * double(plain.possible));
  const DamageReport logged = damage_at_random("bytes_and_log", true, false, 40);
  EXPECT_GT(double(logged.saved), 0.9 * double(logged.possible));
}

TEST(RecordDamage, TheMessageSaysWhatCanBeSaved) {
  const TestFolder folder("message");
  files_without_log(folder, 600);
  fs::resize_file(folder / "a.db", fs::file_size(folder / "a.db") - 5000);
  const std::string message = message_of([&] { RecordStore(folder / "a.db", Mode::kRead); });
  const int64_t saved = count_recoverable(folder / "a.db");
  EXPECT_GT(saved, 400);
  EXPECT_EQ(message, "'" + (folder / "a.db").string() +
                         "' is damaged, or not a database of records (database disk image is malformed); " +
                         std::to_string(saved) + " records can still be read: 'tilewright records recover " +
                         (folder / "a.db").string() + " -o NEW' saves them");
  EXPECT_EQ(recover_records(folder / "a.db", folder / "b.db"), saved);
  EXPECT_EQ(message_of([&] { recover_records(folder / "a.db", folder / "b.db"); }),
            "'" + (folder / "b.db").string() + "' exists already; give the name of a new file");
}

}  // namespace
}  // namespace tilewright::tune
