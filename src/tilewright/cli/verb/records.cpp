// `records`: what a database of measured trials holds, and how records get in and out of it.
#include "tilewright/tune/records/records.h"

#include <fmt/format.h>

#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tilewright/base/file.h"
#include "tilewright/base/gzip.h"
#include "tilewright/base/json.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tilewright/tune/records/best_schedules.h"
#include "tilewright/tune/records/record_text.h"

namespace tilewright::cli {
namespace {

using tune::Record;
using tune::RecordStore;
using Mode = RecordStore::Mode;

// What several files added to one database, file by file.
void add_files(const RecordsOptions& options, std::ostream& out,
               const std::function<int64_t(RecordStore&, const std::string&)>& add) {
  RecordStore store(options.database, Mode::kWrite);
  nlohmann::json files = nlohmann::json::array();
  for (const std::string& file : options.files) {
    const int64_t added = add(store, file);
    files.push_back({{"file", file}, {"added", added}});
    if (!options.json) out << fmt::format("{} new records from '{}'\n", added, file);
  }
  const int64_t records = store.statistics().records;
  if (options.json) {
    out << json_text(nlohmann::json{{"database", options.database}, {"records", records}, {"files", files}},
                     2)
        << "\n";
  } else {
    out << fmt::format("'{}' holds {} records\n", options.database, records);
  }
}

std::string standard_input() {
  std::ostringstream text;
  text << std::cin.rdbuf();
  return text.str();
}

std::vector<Record> wanted_best(const RecordsOptions& options) {
  std::vector<std::unique_ptr<tune::BestSchedules>> sources;
  for (const std::string& file : options.files) sources.push_back(tune::open_best_schedules(file));
  std::string machine;
  if (!options.hardware.empty())
    machine = overlay::hardware_text(find_hardware(options.hardware), find_memory_model(options.memory));
  std::vector<Record> wanted;
  for (Record& record : tune::join_best_schedules(std::move(sources))->all_best()) {
    const bool layer = record.key.workload.find(options.workload) != std::string::npos;
    if (layer && (machine.empty() || record.key.hardware == machine)) wanted.push_back(std::move(record));
  }
  return wanted;
}

}  // namespace

void records_best(const RecordsOptions& options, std::ostream& out) {
  const std::vector<Record> records = wanted_best(options);
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Record& record : records) list.push_back(nlohmann::json::parse(tune::print_record(record)));
    out << json_text(list, 2) << "\n";
    return;
  }
  for (const Record& record : records) {
    out << fmt::format("{} cycles  {}\n  on {}\n  with {}  ({})\n", *record.cost, record.key.workload,
                       record.key.hardware, record.key.schedule, record.key.tool);
  }
  out << fmt::format("{} layers and machines\n", records.size());
}

void records_export(const RecordsOptions& options, std::ostream& out) {
  const RecordStore store(options.database, Mode::kRead);
  int64_t count = 0;
  const auto write_all = [&](const std::function<void(const std::string&)>& write) {
    const auto visit = [&](const Record& record) {
      write(tune::print_record(record));
      ++count;
    };
    if (!options.best) {
      store.each(visit);
      return;
    }
    for (const Record& record : store.all_best()) visit(record);
  };
  if (options.output == "-") {
    if (options.json) {
      throw Error(ErrorKind::kInvalidInput, "--json and the records both print to standard output",
                  "give the records a file: -o records.jsonl");
    }
    write_all([&](const std::string& line) { out << line; });
    return;
  }
  if (std::filesystem::path(options.output).extension() == ".gz") {
    std::string text;
    write_all([&](const std::string& line) { text += line; });
    write_file(options.output, gzip(std::as_bytes(std::span(text))));
  } else {
    FileWriter file(options.output);
    write_all([&](const std::string& line) { file.append(std::string_view(line)); });
    file.commit();
  }
  if (options.json) {
    out << json_text(nlohmann::json{{"output", options.output}, {"records", count}}, 2) << "\n";
  } else {
    out << fmt::format("{} records written to '{}'\n", count, options.output);
  }
}

void records_import(const RecordsOptions& options, std::ostream& out) {
  add_files(options, out, [](RecordStore& store, const std::string& file) {
    std::istringstream text(file == "-" ? standard_input() : tune::read_records_text(file));
    return import_records(store, text, file == "-" ? "standard input" : file);
  });
}

void records_merge(const RecordsOptions& options, std::ostream& out) {
  add_files(options, out, [](RecordStore& store, const std::string& file) {
    return merge_records(store, RecordStore(file, Mode::kRead));
  });
}

void records_stats(const RecordsOptions& options, std::ostream& out) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& file : options.files) {
    const tune::RecordStatistics s = RecordStore(file, Mode::kRead).statistics();
    list.push_back({{"database", file},
                    {"records", s.records},
                    {"failures", s.failures},
                    {"workloads", s.workloads},
                    {"machines", s.machines},
                    {"tools", s.tools},
                    {"measured_seconds", s.measured_seconds},
                    {"bytes", s.bytes}});
    if (options.json) continue;
    out << fmt::format(
        "{}: {} records ({} failed) of {} layers on {} machines by {} tools; {:.1f} s of measuring; {} "
        "bytes\n",
        file, s.records, s.failures, s.workloads, s.machines, s.tools, s.measured_seconds, s.bytes);
  }
  if (options.json) out << json_text(list, 2) << "\n";
}

void records_recover(const RecordsOptions& options, std::ostream& out) {
  const int64_t saved = tune::recover_records(options.database, options.output);
  if (options.json) {
    out << json_text(nlohmann::json{{"database", options.output}, {"records", saved}}, 2) << "\n";
  } else {
    out << fmt::format("{} records of '{}' saved to '{}'\n", saved, options.database, options.output);
  }
}

}  // namespace tilewright::cli
