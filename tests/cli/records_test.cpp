// `records` and what compile makes of records, as a user would call them.
#include "tilewright/tune/records/records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "command.h"
#include "tilewright/base/file.h"
#include "tilewright/flow/run/bundle.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tilewright/tune/records/record_text.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

// Lines of records that differ in their schedules; every fifth one failed.
std::string lines(int first, int end) {
  std::string text;
  for (int i = first; i < end; ++i) {
    tune::Record record{
        {"layer " + std::to_string(i % 2), "machine", "schedule " + std::to_string(i), "tool 1", 0},
        100.0 + i,
        "",
        0.5,
        1700000000};
    if (i % 5 == 0) {
      record.cost.reset();
      record.failure = "too large";
    }
    text += tune::print_record(record);
  }
  return text;
}

struct Files {
  fs::path folder;
  std::string operator()(const std::string& name) const { return (folder / name).string(); }
};

// A folder with a text of the records 0..19, one of 15..29, and a database of the first.
Files record_files(const std::string& name) {
  const Files files{fresh_folder(name)};
  write_text_file(files("a.jsonl"), lines(0, 20));
  write_text_file(files("b.jsonl"), lines(15, 30));
  const CommandResult result = command("records import " + files("a.db") + " " + files("a.jsonl"));
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(contains(result, "20 new records from '" + files("a.jsonl") + "'")) << result.output;
  return files;
}

TEST(CliRecords, EveryVerbHelpsWithAnExample) {
  for (const char* verb : {"best", "export", "import", "merge", "stats", "recover"}) {
    const CommandResult result = command(std::string("records ") + verb + " --help");
    EXPECT_EQ(result.exit_code, 0) << verb;
    EXPECT_TRUE(contains(result, std::string("Example:\n  tilewright records ") + verb)) << result.output;
  }
}

TEST(CliRecords, TextGoesInAndOutUnchanged) {
  const Files files = record_files("exchange");
  CommandResult result = command("records import " + files("a.db") + " " + files("b.jsonl") + " --json");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(contains(result, "\"added\": 10") && contains(result, "\"records\": 30")) << result.output;
  ASSERT_EQ(command("records export " + files("a.db") + " -o " + files("all.jsonl")).exit_code, 0);
  ASSERT_EQ(command("records export " + files("a.db") + " -o " + files("all.jsonl.gz")).exit_code, 0);
  EXPECT_LT(fs::file_size(files("all.jsonl.gz")), fs::file_size(files("all.jsonl")) / 3);
  ASSERT_EQ(command("records import " + files("c.db") + " " + files("all.jsonl.gz")).exit_code, 0);
  result = command("records export " + files("c.db"));
  EXPECT_EQ(result.output, read_text_file(files("all.jsonl")));
  EXPECT_EQ(command("records import " + files("d.db") + " - < " + files("b.jsonl")).exit_code, 0);
  result = command("records merge " + files("d.db") + " " + files("a.db") + " " + files("c.db"));
  EXPECT_TRUE(contains(result, "15 new records from '" + files("a.db") + "'\n0 new records from"))
      << result.output;
  EXPECT_EQ(command("records export " + files("d.db")).output, read_text_file(files("all.jsonl")));
}

TEST(CliRecords, BestAndStatistics) {
  const Files files = record_files("best");
  CommandResult result = command("records stats " + files("a.db"));
  EXPECT_TRUE(
      contains(result, ": 20 records (4 failed) of 2 layers on 1 machines by 1 tools; 10.0 s of measuring"))
      << result.output;
  result = command("records best " + files("a.db"));
  EXPECT_EQ(result.output,
            "102 cycles  layer 0\n  on machine\n  with schedule 2  (tool 1)\n"
            "101 cycles  layer 1\n  on machine\n  with schedule 1  (tool 1)\n2 layers and machines\n");
  result = command("records best --workload 'r 1' --json " + files("a.jsonl"));
  EXPECT_TRUE(contains(result, "\"cost\": 101")) << result.output;
  EXPECT_FALSE(contains(result, "\"cost\": 102")) << result.output;
  EXPECT_EQ(command("records best --hardware overlay-16x16 " + files("a.db")).output,
            "0 layers and machines\n");
  result = command("records export --best " + files("a.db"));
  EXPECT_EQ(result.output, lines(2, 3) + lines(1, 2));
}

void expect_failure(const std::string& arguments, int exit_code, const std::string& text) {
  const CommandResult result = command(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << arguments << "\n" << result.output;
  EXPECT_TRUE(contains(result, text)) << arguments << "\n" << result.output;
}

TEST(CliRecords, WhatIsWrongIsNamed) {
  const Files files = record_files("wrong");
  expect_failure("records stats " + files("none.db"), 1, "there is no file '" + files("none.db") + "'");
  expect_failure("records stats " + files("a.jsonl"), 1, "is damaged, or not a database of records");
  write_text_file(files("bad.jsonl"), lines(20, 22) + "{}\nhello\n" + lines(22, 23));
  expect_failure("records import " + files("a.db") + " " + files("bad.jsonl"), 1, files("bad.jsonl") + ":4:");
  expect_failure("records export " + files("a.db") + " -o /dev/full", 1, "No space left on device");
  expect_failure("records export --json " + files("a.db"), 1, "both print to standard output");
  expect_failure("records", 1, "needs a verb");
  EXPECT_TRUE(contains(command("records stats " + files("a.db")), ": 20 records"));
}

TEST(CliRecords, ADamagedDatabaseIsRescued) {
  const Files files = record_files("rescue");
  fs::resize_file(files("a.db"), fs::file_size(files("a.db")) - 100);  // three rows lie there
  const CommandResult refused = command("records best " + files("a.db"));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused, "17 records can still be read: 'tilewright records recover"))
      << refused.output;
  const std::string recover = "records recover " + files("a.db") + " -o " + files("saved.db");
  CommandResult result = command(recover);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(contains(result, "17 records of")) << result.output;
  EXPECT_TRUE(contains(command("records stats " + files("saved.db")), ": 17 records"));
  expect_failure(recover, 1, "exists already");
}

// The `count` of the points that look best by their bound, which takes no simulation.
std::vector<KnobSpace::Point> most_promising(const overlay::ScheduleProblem& problem,
                                             const std::set<KnobSpace::Point>& points, size_t count) {
  std::vector<std::pair<double, KnobSpace::Point>> ranked;
  for (const KnobSpace::Point point : points) ranked.emplace_back(problem.bound(point), point);
  std::sort(ranked.begin(), ranked.end());
  std::vector<KnobSpace::Point> best;
  for (size_t i = 0; i < std::min(count, ranked.size()); ++i) best.push_back(ranked[i].second);
  return best;
}

// Records of the demo network: for each of its layers a few drawn schedules on the simulator.
std::vector<tune::Record> demo_layer_records() {
  const Bundle bundle = read_bundle(demo_files().bundle);
  std::vector<tune::Record> records;
  for (const PartitionStep& step : bundle.steps()) {
    if (step.on_host()) continue;
    for (const overlay::OverlayLayer& layer :
         overlay::overlay_layers(bundle.graph, step.nodes, bundle.hardware)) {
      overlay::ScheduleProblem problem(layer, bundle.hardware);
      Random random(1);
      std::set<KnobSpace::Point> points;
      for (int i = 0; i < 1000; ++i) points.insert(problem.space().sample(random).value());
      for (const Measurement& m : problem.measure(most_promising(problem, points, 60))) {
        const std::string schedule = overlay::print_schedule(problem.schedules().schedule(m.point));
        records.push_back({{overlay::workload_text(layer), overlay::hardware_text(bundle.hardware, {}),
                            schedule, overlay::kTimingTool, 0},
                           m.cost,
                           m.failure,
                           0.001,
                           1700000000});
      }
    }
  }
  return records;
}

void write_records(const fs::path& database, const std::vector<tune::Record>& records) {
  tune::RecordStore(database, tune::RecordStore::Mode::kWrite).add(records);
}

TEST(CliRecords, CompileTakesTheBestRecords) {
  const fs::path folder = fresh_folder("compile");
  std::vector<tune::Record> records = demo_layer_records();
  write_records(folder / "tune.db", records);
  for (tune::Record& record : records) record.key.tool = "cycle-simulator 0";
  write_records(folder / "old.db", records);
  const std::string compile = "compile " + demo_files().quantised.string() + " --hardware overlay-16x16 ";
  const auto bundle = [&](const std::string& name) { return (folder / name).string(); };
  const CommandResult plain = command(compile + "--no-records -o " + bundle("plain.twb"));
  EXPECT_FALSE(contains(plain, "schedule of a record")) << plain.output;
  const CommandResult tuned =
      command(compile + "--records " + bundle("tune.db") + " -o " + bundle("tuned.twb"));
  EXPECT_EQ(tuned.exit_code, 0) << tuned.output;
  EXPECT_TRUE(contains(tuned, "layers have the schedule of a record: ")) << tuned.output;
  EXPECT_NE(read_bundle(bundle("tuned.twb")).schedules, read_bundle(bundle("plain.twb")).schedules);
  const CommandResult run =
      command("run " + bundle("tuned.twb") + " --verify --input " + demo_files().images.string());
  EXPECT_TRUE(contains(run, "all 8 outputs are bit-identical")) << run.output;
  const CommandResult json = command(compile + "--json --records " + bundle("tune.db"));
  EXPECT_TRUE(contains(json, "\"schedule_from\": \"record\"")) << json.output;
  // Neither another tool, nor another memory.
  EXPECT_EQ(command(compile + "--records " + bundle("old.db")).output, command(compile).output);
  EXPECT_EQ(command(compile + "--memory ideal --records " + bundle("tune.db")).output,
            command(compile + "--memory ideal").output);
  expect_failure(compile + "--no-records --records x.db", 1,
                 "--records and --no-records contradict each other");
  expect_failure(compile + "--records " + bundle("none.db"), 1, "none.db'");
}

}  // namespace
}  // namespace tilewright
