// `records`: what a database of measured trials holds, and how records get in and out of it.
#include <fmt/format.h>

#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"
#include "tilewright/base/json.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/tune/record_files.h"

namespace tilewright::cli {
namespace {

// What several files added to one database.
class AddedFiles {
 public:
  explicit AddedFiles(const RecordsOptions& options) : options_(options) {}

  // `work` adds the files and gives the number of records there are then. If it fails, what was added before
  // is told all the same.
  void add(const std::string& what, std::ostream& out,
           const std::function<int64_t(const FileAdded& added)>& work) {
    try {
      const int64_t records = with_progress(what, [&](ProgressLine& line) {
        return work([&](const std::string& file, int64_t added) {
          files_.push_back({{"file", file}, {"added", added}});
          line.update(
              [&] { return count_text(int64_t(files_.size()), int64_t(options_.files.size()), "files"); });
        });
      });
      out << (options_.json ? json(records)
                            : text() + fmt::format("'{}' holds {} records\n", options_.database, records));
    } catch (const Error&) {
      if (!options_.json) out << text();
      throw;
    }
  }

 private:
  std::string json(int64_t records) const {
    return json_text(nlohmann::json{{"database", options_.database}, {"records", records}, {"files", files_}},
                     2) +
           "\n";
  }
  std::string text() const {
    std::string text;
    for (const nlohmann::json& file : files_) {
      text += fmt::format("{} new records from '{}'\n", file["added"].get<int64_t>(),
                          file["file"].get<std::string>());
    }
    return text;
  }

  const RecordsOptions& options_;
  nlohmann::json files_ = nlohmann::json::array();
};

}  // namespace

void records_best(const RecordsOptions& options, std::ostream& out) {
  const Answer answer = with_progress("reading records", [&] {
    return best_records(
        {options.files, options.workload, options.hardware, options.memory, shared_folders()});
  });
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
  const int64_t count = with_progress("exporting records", [&] {
    return export_record_file(options.database, options.best, options.output);
  });
  if (options.json) {
    out << json_text(nlohmann::json{{"output", options.output}, {"records", count}}, 2) << "\n";
  } else {
    out << fmt::format("{} records written to '{}'\n", count, options.output);
  }
}

void records_import(const RecordsOptions& options, std::ostream& out) {
  AddedFiles files(options);
  files.add("importing records", out, [&](const FileAdded& added) {
    return import_record_texts(options.database, options.files, std::cin, added);
  });
}

void records_merge(const RecordsOptions& options, std::ostream& out) {
  AddedFiles files(options);
  files.add("merging records", out, [&](const FileAdded& added) {
    return merge_record_files(options.database, options.files, added);
  });
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
  const int64_t saved =
      with_progress("saving records", [&] { return save_intact_records(options.database, options.output); });
  if (options.json) {
    out << json_text(nlohmann::json{{"database", options.output}, {"records", saved}}, 2) << "\n";
  } else {
    out << fmt::format("{} records of '{}' saved to '{}'\n", saved, options.database, options.output);
  }
}

}  // namespace tilewright::cli
