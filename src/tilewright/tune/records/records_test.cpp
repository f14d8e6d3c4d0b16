#include "tilewright/tune/records/records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "tilewright/base/file.h"
#include "tilewright/tune/records/records_testing.h"

namespace tilewright::tune {
namespace {

using Mode = RecordStore::Mode;

std::string exported(const RecordStore& store) {
  std::ostringstream out;
  export_records(store, out);
  return out.str();
}

std::vector<Record> everything(const RecordStore& store) {
  std::vector<Record> records;
  store.each([&](const Record& record) { records.push_back(record); });
  return records;
}

// What a store must answer, by definition.
struct Reference {
  std::map<TrialKey, Record> records;

  std::optional<Record> best(const TrialKey& group) const {
    std::optional<Record> best;
    for (const auto& [key, record] : records) {
      const bool in_group =
          key.workload == group.workload && key.hardware == group.hardware && key.tool == group.tool;
      if (in_group && record.cost && (!best || *record.cost < *best->cost)) best = record;
    }
    return best;
  }
};

// Random adds, in batches that hold records twice and known ones, opened again now and then.
TEST(Records, AnswersAsAMapWould) {
  const TestFolder folder("map", TestFolder::Place::kMemory);
  Reference reference;
  Random random(3);
  auto store = std::make_unique<RecordStore>(folder / "a.db", Mode::kWrite);
  for (int round = 0; round < 60; ++round) {
    if (random.chance(0.2)) store = std::make_unique<RecordStore>(folder / "a.db", Mode::kWrite);
    std::vector<Record> batch;
    int64_t expected_new = 0;
    for (int64_t i = random.between(0, 40); i > 0; --i) {
      batch.push_back(random_record(random, 800));
      expected_new += reference.records.emplace(batch.back().key, batch.back()).second;
    }
    EXPECT_EQ(store->add(batch), expected_new);
    const Record probe = random_record(random, 800);
    const auto known = reference.records.find(probe.key);
    EXPECT_EQ(store->find(probe.key),
              known == reference.records.end() ? std::nullopt : std::optional(known->second));
    EXPECT_EQ(store->best(probe.key.workload, probe.key.hardware, probe.key.tool), reference.best(probe.key));
  }
  ASSERT_GT(reference.records.size(), 300u);
  const std::vector<Record> stored = everything(*store);
  ASSERT_EQ(stored.size(), reference.records.size());
  size_t at = 0;
  for (const auto& [key, record] : reference.records) EXPECT_EQ(stored[at++], record);

  std::vector<Record> best;
  for (const auto& [key, record] : reference.records) {
    if (reference.best(key) == record) best.push_back(record);
  }
  EXPECT_EQ(store->all_best(), best);
  const TrialKey& some = reference.records.begin()->first;
  std::vector<Record> group;
  for (const auto& [key, record] : reference.records) {
    if (key.workload == some.workload && key.hardware == some.hardware && key.tool == some.tool)
      group.push_back(record);
  }
  EXPECT_EQ(store->all(some.workload, some.hardware, some.tool), group);
}

TEST(Records, CountsWhatIsThere) {
  const TestFolder folder("statistics");
  RecordStore store(folder / "a.db", Mode::kWrite);
  EXPECT_EQ(store.statistics().records, 0);
  std::vector<Record> records;
  for (int64_t i = 0; i < 100; ++i) records.push_back(numbered_record(i));
  store.add(records);
  const RecordStatistics statistics = store.statistics();
  EXPECT_EQ(statistics.records, 100);
  EXPECT_EQ(statistics.failures, 10);
  EXPECT_EQ(statistics.workloads, 3);
  EXPECT_EQ(statistics.machines, 2);
  EXPECT_EQ(statistics.tools, 1);
  EXPECT_NEAR(statistics.measured_seconds, 100 * 0.25, 1e-9);
  EXPECT_GT(statistics.bytes, 4096);
}

TEST(Records, EverySeedAndNumberSurvives) {
  const TestFolder folder("numbers");
  RecordStore store(folder / "a.db", Mode::kWrite);
  std::vector<Record> records;
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 63, ~uint64_t{0}}) {
    for (const double cost : {0.1, 1e300, 12345678901234567.0, 5e-324, 3.0}) {
      Record record = numbered_record(1);
      record.key.schedule += std::to_string(cost);
      record.key.seed = seed;
      record.cost = cost;
      record.unix_time_s = kLatestRecordTime;
      records.push_back(record);
    }
  }
  Record failed = numbered_record(1);
  failed.cost.reset();
  failed.failure = "two\nlines \"quoted\" \xC3\xA9\x01";
  records.push_back(failed);
  store.add(records);
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.key < b.key; });
  EXPECT_EQ(everything(store), records);
  RecordStore copy(folder / "b.db", Mode::kWrite);
  std::istringstream text(exported(store));
  EXPECT_EQ(import_records(copy, text, "text"), int64_t(records.size()));
  EXPECT_EQ(everything(copy), records);
}

TEST(Records, OneTrialHasOneResult) {
  const TestFolder folder("conflict");
  RecordStore store(folder / "a.db", Mode::kWrite);
  const Record first = numbered_record(1);
  Record other = first, later = first;
  other.cost = *first.cost + 1;
  later.seconds = 9;
  store.add(std::vector{first});
  EXPECT_EQ(store.add(std::vector{later}), 0);
  EXPECT_EQ(store.find(first.key), first);
  try {
    store.add(std::vector{numbered_record(2), other});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    const std::string text = error.what();
    EXPECT_NE(text.find("one trial has two results: 1102 cycles now, 1101 cycles in"), std::string::npos)
        << text;
    EXPECT_NE(text.find(first.key.schedule), std::string::npos) << text;
  }
  EXPECT_EQ(store.statistics().records, 1);  // nothing of the batch
  EXPECT_EQ(store.add(std::vector{numbered_record(2)}), 1);
  Record failed = first;
  failed.cost.reset();
  failed.failure = "no";
  EXPECT_NE(message_of([&] { store.add(std::vector{failed}); }).find("failed: no now"), std::string::npos);
}

TEST(Records, KeysThatDifferInAnyPartAreOthers) {
  const TestFolder folder("keys");
  RecordStore store(folder / "a.db", Mode::kWrite);
  const Record record = numbered_record(1);
  store.add(std::vector{record});
  Record other = record;
  other.key.tool = "cycle-simulator 2";
  other.cost = 7;
  EXPECT_EQ(store.find(other.key), std::nullopt);
  EXPECT_EQ(store.best(other.key.workload, other.key.hardware, other.key.tool), std::nullopt);
  EXPECT_EQ(store.add(std::vector{other}), 1);
  EXPECT_EQ(store.best(record.key.workload, record.key.hardware, record.key.tool), record);
  other = record;
  other.key.seed = 4;
  EXPECT_EQ(store.add(std::vector{other}), 1);
}

TEST(Records, RefusesWhatIsNoRecord) {
  const TestFolder folder("refused");
  RecordStore store(folder / "a.db", Mode::kWrite);
  Record record = numbered_record(1);
  record.key.workload = "two\nlines";
  record.key.tool = "";
  record.cost = 1.0 / 0.0;
  record.failure = "\xFF";
  record.seconds = -1;
  record.unix_time_s = -5;
  record.key.schedule = std::string(kLongestRecordText + 1, 'x');
  const std::string text = message_of([&] { store.add(std::vector{numbered_record(2), record}); });
  for (const char* part :
       {"record (workload): is not one line of printable ASCII", "record (tool): is empty",
        "record (cost): is not finite", "record (failure): is not UTF-8",
        "record (failure): is given together with a cost",
        "record (seconds): is not a finite number of 0 or more", "record (schedule): has 65537 bytes"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  record = numbered_record(1);
  record.cost.reset();
  EXPECT_NE(
      message_of([&] { store.add(std::vector{record}); }).find("(failure): is missing, and so is the cost"),
      std::string::npos);
  EXPECT_EQ(store.statistics().records, 0);
}

TEST(Records, ReadOnlyStoresAreNotWritten) {
  const TestFolder folder("read");
  EXPECT_EQ(message_of([&] { RecordStore(folder / "a.db", Mode::kRead); }),
            "there is no file '" + (folder / "a.db").string() +
                "'; 'tilewright tune' and 'records import' create one");
  { RecordStore(folder / "a.db", Mode::kWrite).add(std::vector{numbered_record(1)}); }
  const std::vector<std::byte> before = read_file(folder / "a.db");
  {
    RecordStore store(folder / "a.db", Mode::kRead);
    EXPECT_EQ(store.find(numbered_record(1).key), numbered_record(1));
    EXPECT_NE(message_of([&] { store.add(std::vector{numbered_record(2)}); }).find("cannot open"),
              std::string::npos);
    EXPECT_EQ(store.statistics().records, 1);
  }
  EXPECT_EQ(read_file(folder / "a.db"), before);
}

TEST(Records, ReadersSeeOneMomentWhileOthersWrite) {
  const TestFolder folder("moment");
  RecordStore writer(folder / "a.db", Mode::kWrite);
  for (int64_t i = 0; i < 20; ++i) writer.add(std::vector{numbered_record(i)});
  const RecordStore reader(folder / "a.db", Mode::kRead);
  int64_t seen = 0, next = 20;
  reader.each([&](const Record&) {
    ++seen;
    writer.add(std::vector{numbered_record(next++)});
  });
  EXPECT_EQ(seen, 20);
  EXPECT_EQ(reader.statistics().records, 40);
}

TEST(Records, MergesAndNamesWhatDiffers) {
  const TestFolder folder("merge", TestFolder::Place::kMemory);
  RecordStore a(folder / "a.db", Mode::kWrite), b(folder / "b.db", Mode::kWrite);
  for (int64_t i = 0; i < 30; ++i) (i < 20 ? a : b).add(std::vector{numbered_record(i)});
  b.add(std::vector{numbered_record(3)});
  EXPECT_EQ(merge_records(a, b), 10);
  EXPECT_EQ(merge_records(a, b), 0);
  RecordStore in_order(folder / "c.db", Mode::kWrite);
  for (int64_t i = 30; i-- > 0;) in_order.add(std::vector{numbered_record(i)});
  EXPECT_EQ(exported(a), exported(in_order));
  RecordStore other(folder / "d.db", Mode::kWrite);
  for (int64_t i = 28; i < 33; ++i) {
    Record record = numbered_record(i);
    record.cost = 7;
    record.failure.clear();
    other.add(std::vector{record});
  }
  const std::string text = message_of([&] { merge_records(a, other); });
  EXPECT_EQ(text.substr(0, 10), "2 problems") << text;
  EXPECT_NE(text.find("7 cycles, but the database holds: 1128 cycles"), std::string::npos) << text;
  EXPECT_EQ(a.statistics().records, 30);
}

TEST(Records, ImportNamesEveryBadLine) {
  const TestFolder folder("import");
  RecordStore from(folder / "a.db", Mode::kWrite), to(folder / "b.db", Mode::kWrite);
  for (int64_t i = 0; i < 4; ++i) from.add(std::vector{numbered_record(i)});
  const std::string good = exported(from);
  std::string changed = good;
  changed.replace(changed.find("\"cost\": "), 8, "\"cost\": 4");
  std::istringstream bad(good + "{\"workload\": \"w\"}\n\nnot a line\n" + changed + "[1]\n");
  const std::string text = message_of([&] { import_records(to, bad, "x.jsonl"); });
  for (const char* part :
       {"x.jsonl:5 (hardware): missing field", "x.jsonl:5 (seed): missing field", "x.jsonl:7:1:2: no JSON",
        "x.jsonl:9: 41103 cycles", "but the database holds", "x.jsonl:12: an object"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(to.statistics().records, 0);
  std::istringstream cut(good.substr(0, good.size() - 9));
  EXPECT_NE(message_of([&] { import_records(to, cut, "x.jsonl"); }).find("x.jsonl:4:"), std::string::npos);
  std::istringstream text_again(good);
  EXPECT_EQ(import_records(to, text_again, "x.jsonl"), 4);
  EXPECT_EQ(exported(to), good);
}

}  // namespace
}  // namespace tilewright::tune
