// A machine is known by its text, which holds its memory too.
#include "tilewright/flow/tune/record_files.h"

#include <fmt/format.h>

#include <istream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "tilewright/base/file.h"
#include "tilewright/base/gzip.h"
#include "tilewright/base/json.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tilewright/tune/records/best_schedules.h"
#include "tilewright/tune/records/record_text.h"
#include "tilewright/tune/records/records.h"

namespace tilewright {
namespace {

using tune::Record;
using tune::RecordStore;
using Mode = RecordStore::Mode;

std::vector<Record> wanted_records(const BestRecordsRequest& request) {
  std::vector<std::unique_ptr<tune::BestSchedules>> sources;
  for (const std::string& file : request.files) sources.push_back(tune::open_best_schedules(file));
  std::string machine;
  if (!request.hardware.empty()) {
    machine = overlay::hardware_text(find_overlay_hardware(request.hardware, request.folders.hardware),
                                     find_memory_model(request.memory));
  }
  std::vector<Record> wanted;
  for (Record& record : tune::join_best_schedules(std::move(sources))->all_best()) {
    const bool layer = record.key.workload.find(request.workload) != std::string::npos;
    if (layer && (machine.empty() || record.key.hardware == machine)) wanted.push_back(std::move(record));
  }
  return wanted;
}

std::string all_of(std::istream& stream) {
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

int64_t add_record_files(const std::filesystem::path& database, const std::vector<std::string>& files,
                         const FileAdded& added,
                         const std::function<int64_t(RecordStore&, const std::string&)>& add) {
  RecordStore store(database, Mode::kWrite);
  for (const std::string& file : files) added(file, add(store, file));
  return store.statistics().records;
}

}  // namespace

Answer best_records(const BestRecordsRequest& request) {
  const std::vector<Record> records = wanted_records(request);
  nlohmann::json list = nlohmann::json::array();
  std::string text;
  for (const Record& record : records) {
    list.push_back(nlohmann::json::parse(tune::print_record(record)));
    text += fmt::format("{} cycles  {}\n  on {}\n  with {}  ({})\n", *record.cost, record.key.workload,
                        record.key.hardware, record.key.schedule, record.key.tool);
  }
  return {text + fmt::format("{} layers and machines\n", records.size()), json_text(list, 2) + "\n"};
}

int64_t each_record(const std::filesystem::path& database, bool best_only,
                    const std::function<void(const std::string& line)>& visit) {
  const RecordStore store(database, Mode::kRead);
  int64_t count = 0;
  const auto print = [&](const Record& record) {
    visit(tune::print_record(record));
    ++count;
  };
  if (best_only) {
    for (const Record& record : store.all_best()) print(record);
  } else {
    store.each(print);
  }
  return count;
}

int64_t export_record_file(const std::filesystem::path& database, bool best_only,
                           const std::filesystem::path& output) {
  if (output.extension() == ".gz") {
    std::string text;
    const int64_t count = each_record(database, best_only, [&](const std::string& line) { text += line; });
    write_file(output, gzip(std::as_bytes(std::span(text))));
    return count;
  }
  FileWriter file(output);
  const int64_t count =
      each_record(database, best_only, [&](const std::string& line) { file.append(std::string_view(line)); });
  file.commit();
  return count;
}

int64_t import_record_texts(const std::filesystem::path& database, const std::vector<std::string>& files,
                            std::istream& standard_input, const FileAdded& added) {
  return add_record_files(database, files, added, [&](RecordStore& store, const std::string& file) {
    std::istringstream text(file == "-" ? all_of(standard_input) : tune::read_records_text(file));
    return import_records(store, text, file == "-" ? "standard input" : file);
  });
}

int64_t merge_record_files(const std::filesystem::path& database, const std::vector<std::string>& files,
                           const FileAdded& added) {
  return add_record_files(database, files, added, [](RecordStore& store, const std::string& file) {
    return merge_records(store, RecordStore(file, Mode::kRead));
  });
}

Answer record_statistics(const std::string& database) {
  const tune::RecordStatistics s = RecordStore(database, Mode::kRead).statistics();
  const nlohmann::json json = {{"database", database},
                               {"records", s.records},
                               {"failures", s.failures},
                               {"workloads", s.workloads},
                               {"machines", s.machines},
                               {"tools", s.tools},
                               {"measured_seconds", s.measured_seconds},
                               {"bytes", s.bytes}};
  return {fmt::format("{}: {} records ({} failed) of {} layers on {} machines by {} tools; {:.1f} s of "
                      "measuring; {} bytes\n",
                      database, s.records, s.failures, s.workloads, s.machines, s.tools, s.measured_seconds,
                      s.bytes),
          json_text(json)};
}

int64_t save_intact_records(const std::filesystem::path& damaged, const std::filesystem::path& output) {
  return tune::recover_records(damaged, output);
}

}  // namespace tilewright
