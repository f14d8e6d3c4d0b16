// Several processes on one database, processes killed while they write, and disks without room.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "tilewright/base/file.h"
#include "tilewright/tune/fleet/child_process_testing.h"
#include "tilewright/tune/records/records_testing.h"
#include "tilewright/tune/records/sqlite_connection.h"

namespace tilewright::tune {
namespace {

using Mode = RecordStore::Mode;

// Adds the records first..end-1 in batches of random sizes.
void add_range(const std::filesystem::path& file, int64_t first, int64_t end, uint64_t seed) {
  Random random(seed);
  RecordStore store(file, Mode::kWrite);
  while (first < end) {
    std::vector<Record> batch;
    for (int64_t i = random.between(1, 300); i > 0 && first < end; --i)
      batch.push_back(numbered_record(first++));
    store.add(batch);
  }
}

void expect_exactly(const std::filesystem::path& file, int64_t count) {
  const RecordStore store(file, Mode::kRead);
  std::set<TrialKey> keys;
  for (int64_t i = 0; i < count; ++i) keys.insert(numbered_record(i).key);
  int64_t seen = 0;
  store.each([&](const Record& record) {
    ++seen;
    EXPECT_EQ(keys.count(record.key), 1u) << record.key.schedule;
  });
  EXPECT_EQ(seen, count);
}

TEST(RecordProcesses, TwoWriteTenThousandRecordsEach) {
  const TestFolder folder("two");
  const auto file = folder / "a.db";
  const pid_t one = start_child([&] { add_range(file, 0, 10000, 1); });
  const pid_t other = start_child([&] { add_range(file, 5000, 15000, 2); });
  EXPECT_EQ(wait_for_child(one), 0);
  EXPECT_EQ(wait_for_child(other), 0);
  expect_exactly(file, 15000);
}

TEST(RecordProcesses, SeveralMakeTheFileAtOnce) {
  const TestFolder folder("create");
  for (int round = 0; round < 8; ++round) {
    const auto file = folder / ("a" + std::to_string(round) + ".db");
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) children.push_back(start_child([&] { add_range(file, i, i + 1, 1); }));
    for (const pid_t child : children) EXPECT_EQ(wait_for_child(child), 0);
    expect_exactly(file, 4);
  }
}

// Each batch of seven is acknowledged on a pipe once it is added; the writer is killed at a random moment
// after a few of them.
TEST(RecordProcesses, WhatWasAcknowledgedSurvivesSigkill) {
  constexpr int64_t kBatch = 7;
  const TestFolder folder("kill");
  const auto file = folder / "a.db";
  Random random(5);
  int64_t there = 0;
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = start_child([&] {
      RecordStore store(file, Mode::kWrite);
      for (int64_t first = there;; first += kBatch) {
        std::vector<Record> batch;
        for (int64_t i = 0; i < kBatch; ++i) batch.push_back(numbered_record(first + i));
        store.add(batch);
        if (::write(ends[1], "+", 1) != 1) return;
      }
    });
    ::close(ends[1]);
    int64_t acknowledged = 0;
    const auto take_one = [&] {
      char byte;
      if (::read(ends[0], &byte, 1) != 1) return false;
      acknowledged += kBatch;
      return true;
    };
    for (int64_t wait = random.between(0, 6); wait > 0; --wait) ASSERT_TRUE(take_one());
    std::this_thread::sleep_for(std::chrono::microseconds(random.between(0, 20000)));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    EXPECT_EQ(wait_for_child(child), -1);
    while (take_one()) {
    }
    ::close(ends[0]);
    const int64_t stored =
        std::filesystem::exists(file) ? RecordStore(file, Mode::kWrite).statistics().records : 0;
    EXPECT_EQ(stored % kBatch, 0);
    EXPECT_GE(stored, there + acknowledged);
    EXPECT_LE(stored, there + acknowledged + kBatch);  // one may be in the file, and not acknowledged yet
    there = stored;
  }
  expect_exactly(file, there);
}

TEST(RecordProcesses, ALockThatIsNotGivenBackIsNamedAfterTheWait) {
  const TestFolder folder("locked");
  const auto file = folder / "a.db";
  RecordStore store(file, Mode::kWrite, {.lock_wait_s = 0.2, .network_file_system = {}});
  store.add(std::vector{numbered_record(1)});
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const pid_t holder = start_child([&] {
    SqliteConnection connection(file, SqliteConnection::Access::kWrite, 1);
    connection.write([&] {
      EXPECT_EQ(::write(ready[1], "+", 1), 1);
      ::pause();
    });
  });
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_NE(message_of([&] {
              store.add(std::vector{numbered_record(2)});
            }).find("another process has been writing to '" + file.string() + "' for 0.2 s"),
            std::string::npos);
  EXPECT_EQ(store.find(numbered_record(1).key), numbered_record(1));  // readers do not wait
  ::kill(holder, SIGKILL);
  wait_for_child(holder);
  EXPECT_EQ(store.add(std::vector{numbered_record(2)}), 1);
}

// Adds until there is an error, which must say `reason` and leave whole batches; returns how many records are
// there then.
int64_t fill_up(RecordStore& store, const std::string& reason) {
  int64_t next = 0;
  for (; next < 100000; next += 50) {
    std::vector<Record> batch;
    for (int64_t i = next; i < next + 50; ++i) batch.push_back(numbered_record(i));
    try {
      store.add(batch);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
      break;
    }
  }
  EXPECT_LT(next, 100000);
  EXPECT_EQ(store.statistics().records, next);
  return next;
}

TEST(RecordProcesses, AFileThatMayNotGrowLosesNothing) {
  const TestFolder folder("limit");
  const auto file = folder / "a.db";
  const pid_t child = start_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small{300000, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    RecordStore store(file, Mode::kWrite);
    const int64_t there = fill_up(store, "cannot be read or written");
    EXPECT_GT(there, 0);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_EQ(store.add(std::vector{numbered_record(there)}), 1);
    expect_exactly(file, there + 1);
  });
  EXPECT_EQ(wait_for_child(child), 0);
}

TEST(RecordProcesses, AFullDiskLosesNothing) {
  constexpr int kNotAllowed = 77;
  const TestFolder folder("full");
  const std::filesystem::path mount = folder / "disk";
  std::filesystem::create_directory(mount);
  const pid_t child = start_child([&] {
    // The mount is this process' own and ends with it.
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", mount.c_str(), "tmpfs", 0, "size=512k") != 0) {
      ::_exit(kNotAllowed);
    }
    write_text_file(mount / "other", std::string(200000, 'x'));
    RecordStore store(mount / "a.db", Mode::kWrite);
    const int64_t there = fill_up(store, "there is no space left to write");
    EXPECT_GT(there, 0);
    expect_exactly(mount / "a.db", there);
    std::filesystem::remove(mount / "other");
    EXPECT_EQ(store.add(std::vector{numbered_record(there)}), 1);
    expect_exactly(mount / "a.db", there + 1);
  });
  const int code = wait_for_child(child);
  if (code == kNotAllowed) GTEST_SKIP() << "mounting a small disk needs more rights than this process has";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace tilewright::tune
