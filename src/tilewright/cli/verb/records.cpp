// `records`: what a database of measured trials holds, and how records get in and out of it.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"
#include "tilewright/base/json.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/tune/record_files.h"

namespace tilewright::cli {
namespace {

// What several files added to one database; without --json one line per file, printed immediately.
class AddedFiles {
 public:
  AddedFiles(const RecordsOptions& options, std::ostream& out) : options_(options), out_(out) {}

  FileAdded sink() {
    return [this](const std::string& file, int64_t added) {
      files_.push_back({{"file", file}, {"added", added}});
      if (!options_.json) out_ << fmt::format("{} new records from '{}'\n", added, file);
    };
  }
  void finish(int64_t records) {
    if (options_.json) {
      const nlohmann::json json = {{"database", options_.database}, {"records", records}, {"files", files_}};
      out_ << json_text(json, 2) << "\n";
    } else {
      out_ << fmt::format("'{}' holds {} records\n", options_.database, records);
    }
  }

 private:
  const RecordsOptions& options_;
  std::ostream& out_;
  nlohmann::json files_ = nlohmann::json::array();
};

}  // namespace

void records_best(const RecordsOptions& options, std::ostream& out) {
  const Answer answer =
      best_records({options.files, options.workload, options.hardware, options.memory, shared_folders()});
  out << (options.json ? answer.json : answer.text);
}

void records_export(const RecordsOptions& options, std::ostream& out) {
  if (options.output == "-") {
    if (options.json) {
      throw Error(ErrorKind::kInvalidInput, "--json and the records both print to standard output",
                  "give the records a file: -o records.jsonl");
    }
    each_record(options.database, options.best, [&](const std::string& line) { out << line; });
    return;
  }
  const int64_t count = export_record_file(options.database, options.best, options.output);
  if (options.json) {
    out << json_text(nlohmann::json{{"output", options.output}, {"records", count}}, 2) << "\n";
  } else {
    out << fmt::format("{} records written to '{}'\n", count, options.output);
  }
}

void records_import(const RecordsOptions& options, std::ostream& out) {
  AddedFiles files(options, out);
  files.finish(import_record_texts(options.database, options.files, std::cin, files.sink()));
}

void records_merge(const RecordsOptions& options, std::ostream& out) {
  AddedFiles files(options, out);
  files.finish(merge_record_files(options.database, options.files, files.sink()));
}

void records_stats(const RecordsOptions& options, std::ostream& out) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& file : options.files) {
    const Answer answer = record_statistics(file);
    list.push_back(nlohmann::json::parse(answer.json));
    if (!options.json) out << answer.text;
  }
  if (options.json) out << json_text(list, 2) << "\n";
}

void records_recover(const RecordsOptions& options, std::ostream& out) {
  const int64_t saved = save_intact_records(options.database, options.output);
  if (options.json) {
    out << json_text(nlohmann::json{{"database", options.output}, {"records", saved}}, 2) << "\n";
  } else {
    out << fmt::format("{} records of '{}' saved to '{}'\n", saved, options.database, options.output);
  }
}

}  // namespace tilewright::cli
