// What `records` does: databases of measured trials, and how records get in and out of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "tilewright/flow/model/answer.h"
#include "tilewright/flow/target/shared_folders.h"

namespace tilewright {

struct BestRecordsRequest {
  std::vector<std::string> files;  // databases, or their texts
  std::string workload;            // a part of a layer's text; empty: all layers
  std::string hardware;            // an overlay; empty: all
  std::string memory = "fixed";    // of that overlay
  SharedFolders folders;
};
// The best schedule known for each layer and machine. Errors: those of open_best_schedules; (invalid input)
// no such overlay or memory.
Answer best_records(const BestRecordsRequest& request);

// Hands over the records of a database as text, a line each; returns how many. Errors: those of RecordStore.
int64_t each_record(const std::filesystem::path& database, bool best_only,
                    const std::function<void(const std::string& line)>& visit);
// The same into a file, which is compressed if its name ends in .gz.
int64_t export_record_file(const std::filesystem::path& database, bool best_only,
                           const std::filesystem::path& output);

// Adds the records of texts, or of other databases, to a database, which is created if needed. `added` gets
// each file and its number of new records. "-" is `standard_input`. Returns how many records the database
// holds. Errors: those of RecordStore, import_records and merge_records.
using FileAdded = std::function<void(const std::string& file, int64_t added)>;
int64_t import_record_texts(const std::filesystem::path& database, const std::vector<std::string>& files,
                            std::istream& standard_input, const FileAdded& added);
int64_t merge_record_files(const std::filesystem::path& database, const std::vector<std::string>& files,
                           const FileAdded& added);

// How many records a database holds, of what, and what they took; JSON is one object.
Answer record_statistics(const std::string& database);

// Saves every intact record of a damaged database into a new one; returns how many.
int64_t save_intact_records(const std::filesystem::path& damaged, const std::filesystem::path& output);

}  // namespace tilewright
