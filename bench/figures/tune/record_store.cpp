// The database of records: how fast it takes and gives records of real schedules, what two processes that
// write at once lose, and what is left of it when bytes are cut off or changed. Files lie in the folder for
// temporary ones, on whatever disk that is. --quick: a tenth of the records and of the damaged files.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <vector>

#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/overlay/schedule/schedule.h"
#include "tilewright/tune/records/records.h"

namespace {

using namespace tilewright;
using tune::Record;
using tune::RecordStore;
namespace fs = std::filesystem;
constexpr auto kWrite = RecordStore::Mode::kWrite;

// Record `number` of one layer on one machine: a schedule of its own.
Record numbered(int64_t number) {
  overlay::Schedule schedule;
  schedule.rows = 1 + number % 50;
  schedule.cols = 1 + number / 50 % 50;
  schedule.out_blocks = 1 + number / 2500 % 16;
  schedule.in_blocks = 1 + number / 40000 % 64;
  Record record;
  record.key = {
      "matrix dense batch 1 out 64x56x56 in 64x56x56 steps 1,1 1,1 padding zero weights 9x8 phase 0,0 taps "
      "3x3 at -1,-1 by 1,1 weights 0,3,1",
      "wide 1x16x16 i8w8a32o8 uop 32768 inp 32768 wgt 262144 acc 131072 port 64 queue 512 read 512 burst 16 "
      "lanes 16 memory fixed:32:1:100",
      overlay::print_schedule(schedule), "cycle-simulator 1", 0};
  record.cost = double(100000 + number * 7919 % 1000003);
  record.seconds = 0.0025;
  record.unix_time_s = 1700000000 + number / 200;
  return record;
}

std::vector<Record> range(int64_t first, int64_t end) {
  std::vector<Record> records;
  for (int64_t i = first; i < end; ++i) records.push_back(numbered(i));
  return records;
}

template <typename Body>
double seconds_of(const Body& body) {
  const auto began = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

int64_t add_in_batches(const fs::path& file, int64_t first, int64_t end, int64_t batch) {
  RecordStore store(file, kWrite);
  int64_t added = 0;
  for (; first < end; first += batch) added += store.add(range(first, std::min(first + batch, end)));
  return added;
}

// Two processes with 10,000 records each, half of them the same ones; how many are missing afterwards, or
// the number of a process that saw an error.
int64_t lost_by_two_writers(const fs::path& file) {
  std::vector<pid_t> writers;
  for (const int64_t first : {0, 5000}) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        add_in_batches(file, first, first + 10000, 32);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(1);
      }
      ::_exit(0);
    }
    writers.push_back(child);
  }
  int errors = 0;
  for (const pid_t writer : writers) {
    int status = 0;
    ::waitpid(writer, &status, 0);
    errors += status != 0;
  }
  if (errors > 0) return -errors;
  return 15000 - RecordStore(file, RecordStore::Mode::kRead).statistics().records;
}

struct Damage {
  int files = 0, refused = 0;
  int64_t saved = 0, possible = 0, wrong = 0;
};

// Copies of a database of 2,000 records, cut at a random byte or with up to eight bytes changed.
Damage damage(const fs::path& folder, bool cut, int files) {
  constexpr int64_t kRecords = 2000;
  add_in_batches(folder / "whole.db", 0, kRecords, 1000);
  const std::vector<std::byte> whole = read_file(folder / "whole.db");
  Random random(cut ? 1 : 2);
  Damage result;
  for (result.files = 0; result.files < files; ++result.files) {
    std::vector<std::byte> bytes = whole;
    const auto any = [&] { return size_t(random.between(1, int64_t(whole.size()) - 1)); };
    if (cut) {
      bytes.resize(any());
    } else {
      for (int64_t flips = random.between(1, 8); flips > 0; --flips)
        bytes[any()] ^= std::byte(1 + any() % 255);
    }
    for (const char* name : {"damaged.db", "damaged.db-wal", "damaged.db-shm", "saved.db"})
      fs::remove(folder / name);
    write_file(folder / "damaged.db", bytes);
    std::map<std::string, double> costs;
    for (const Record& record : range(0, kRecords)) costs[record.key.schedule] = *record.cost;
    const auto check = [&](const Record& record) {
      const auto found = costs.find(record.key.schedule);
      result.wrong += found == costs.end() || found->second != record.cost;
    };
    try {
      RecordStore(folder / "damaged.db", RecordStore::Mode::kRead).each(check);
    } catch (const Error&) {
      ++result.refused;
    }
    try {
      result.saved += tune::recover_records(folder / "damaged.db", folder / "saved.db");
      RecordStore(folder / "saved.db", RecordStore::Mode::kRead).each(check);
    } catch (const Error&) {  // nothing to be saved
    }
    result.possible += kRecords;
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const int64_t count = quick ? 20000 : 200000, in_batches = count / 10;
  const int damaged_files = quick ? 10 : 100;
  const fs::path folder = fs::temp_directory_path() / fmt::format("record_store_{}", ::getpid());
  fs::create_directories(folder);
  const fs::path file = folder / "a.db";

  const double batch_s = seconds_of([&] { add_in_batches(file, 0, in_batches, 32); });
  const double bulk_s = seconds_of([&] { add_in_batches(file, in_batches, count, 10000); });
  const double open_s = seconds_of([&] { RecordStore(file, kWrite); });
  RecordStore store(file, kWrite);
  const Record some = numbered(0);
  int64_t found = 0, read = 0;
  const double find_s = seconds_of([&] {
    for (int64_t i = 0; i < 10000; ++i) found += store.find(numbered(i * 7919 % count).key).has_value();
  });
  const double best_s = seconds_of(
      [&] { found += store.best(some.key.workload, some.key.hardware, some.key.tool).has_value(); });
  const double read_s = seconds_of([&] { store.each([&](const Record&) { ++read; }); });
  const tune::RecordStatistics statistics = store.statistics();
  std::printf(
      "%lld records: %.0f/s in batches of 32, each on the disk; %.0f/s in batches of 10,000; %.0f bytes "
      "each\n",
      static_cast<long long>(statistics.records), double(in_batches) / batch_s,
      double(count - in_batches) / bulk_s, double(statistics.bytes) / double(statistics.records));
  std::printf("opened and checked in %.3f s; %.0f found/s; the best of all in %.3f s; %.0f read/s in order\n",
              open_s, 10000 / find_s, best_s, double(read) / read_s);
  const int64_t lost = lost_by_two_writers(folder / "two.db");
  std::printf("two processes, 10,000 records each: %lld lost\n", static_cast<long long>(lost));
  const Damage cut = damage(folder, true, damaged_files), changed = damage(folder, false, damaged_files);
  for (const auto& [name, d] :
       {std::pair("cut at a random byte", cut), std::pair("1 to 8 bytes changed", changed)}) {
    std::printf("%d files %s: %d refused, %.1f %% of the records saved, %lld wrong\n", d.files, name,
                d.refused, 100.0 * double(d.saved) / double(d.possible), static_cast<long long>(d.wrong));
  }
  fs::remove_all(folder);
  fmt::print(
      "{{\"figure\": \"record_store\", \"records\": {}, \"batch_adds_per_s\": {:.0f}, \"bulk_adds_per_s\": "
      "{:.0f}, "
      "\"open_s\": {:.3f}, \"finds_per_s\": {:.0f}, \"best_s\": {:.4f}, \"reads_per_s\": {:.0f}, "
      "\"bytes_per_record\": {:.0f}, \"lost_by_two_writers\": {}, \"damaged_files\": {}, "
      "\"cut_saved_share\": "
      "{:.4f}, \"changed_saved_share\": {:.4f}, \"wrong_records\": {}}}\n",
      statistics.records, double(in_batches) / batch_s, double(count - in_batches) / bulk_s, open_s,
      10000 / find_s, best_s, double(read) / read_s, double(statistics.bytes) / double(statistics.records),
      lost, cut.files + changed.files, double(cut.saved) / double(cut.possible),
      double(changed.saved) / double(changed.possible), cut.wrong + changed.wrong);
  const bool right = statistics.records == count && found == 10001 && read == count && lost == 0 &&
                     cut.wrong + changed.wrong == 0 && changed.saved > 0 && cut.saved > 0;
  return right ? 0 : 1;
}
