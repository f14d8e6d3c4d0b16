#include "tilewright/tune/records/best_schedules.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tilewright/base/file.h"
#include "tilewright/base/gzip.h"
#include "tilewright/tune/records/record_text.h"
#include "tilewright/tune/records/records_testing.h"

namespace tilewright::tune {
namespace {

TEST(BestSchedules, DatabaseTextAndCompressedTextAgree) {
  const TestFolder folder("best", TestFolder::Place::kMemory);
  Random random(9);
  std::vector<Record> records;
  for (int i = 0; i < 300; ++i) records.push_back(random_record(random, 500));
  std::ostringstream text;
  std::vector<Record> best;
  {
    RecordStore store(folder / "a.db", RecordStore::Mode::kWrite);
    store.add(records);
    export_records(store, text);
    best = store.all_best();
  }
  const std::string lines = text.str();
  const std::vector<std::byte> packed = gzip(std::as_bytes(std::span(lines)));
  write_text_file(folder / "a.jsonl", lines);
  write_file(folder / "a.jsonl.gz", packed);
  for (const char* name : {"a.db", "a.jsonl", "a.jsonl.gz"}) {
    const auto source = open_best_schedules(folder / name);
    for (const Record& record : best)
      EXPECT_EQ(source->best(record.key.workload, record.key.hardware, record.key.tool), record) << name;
    EXPECT_EQ(source->best("workload 1", "hardware 9", "tool 1"), std::nullopt) << name;
    EXPECT_EQ(source->all_best(), best) << name;
  }
  EXPECT_EQ(best.size(), 6u);
}

TEST(BestSchedules, TheBestOfSeveralSources) {
  Record slow = numbered_record(1), fast = slow, other = numbered_record(2);
  slow.key.schedule = "a";
  fast.key.schedule = "b";
  fast.cost = 5;
  const auto source = [](const Record& record) { return parse_best_schedules(print_record(record), "text"); };
  std::vector<std::unique_ptr<BestSchedules>> sources;
  for (const Record& record : {slow, fast, other}) sources.push_back(source(record));
  const auto joined = join_best_schedules(std::move(sources));
  EXPECT_EQ(joined->best(slow.key.workload, slow.key.hardware, slow.key.tool), fast);
  EXPECT_EQ(joined->best(other.key.workload, other.key.hardware, other.key.tool), other);
  EXPECT_EQ(joined->all_best(), (std::vector<Record>{fast, other}));
}

TEST(BestSchedules, WhatIsWrongWithAFileIsSaid) {
  const TestFolder folder("wrong", TestFolder::Place::kMemory);
  write_text_file(folder / "empty", "");
  write_text_file(folder / "text", "hello\n");
  const std::vector<std::byte> packed = gzip(std::vector<std::byte>(100));
  write_file(folder / "cut.gz", std::span(packed).first(20));
  write_file(folder / "zeros.gz", packed);
  write_file(folder / "zeros", std::vector<std::byte>(100));
  EXPECT_NE(message_of([&] { open_best_schedules(folder / "empty"); }).find("is empty"), std::string::npos);
  EXPECT_NE(message_of([&] { open_best_schedules(folder / "text"); }).find("text:1:1:1: no JSON"),
            std::string::npos);
  EXPECT_NE(message_of([&] { open_best_schedules(folder / "cut.gz"); }).find("gzip data is damaged"),
            std::string::npos);
  for (const char* name : {"zeros", "zeros.gz"}) {
    EXPECT_NE(message_of([&] { open_best_schedules(folder / name); }).find("is not text"), std::string::npos);
  }
  EXPECT_NE(message_of([&] { open_best_schedules(folder / "none"); }).find("there is no file"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewright::tune
