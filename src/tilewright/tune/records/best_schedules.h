// The best known schedule of a layer on a machine, from wherever records are: a database, a text that comes
// with the project, or several of them.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/tune/records/record.h"

namespace tilewright::tune {

class BestSchedules {
 public:
  virtual ~BestSchedules() = default;
  // The record of least cost with these texts (of equal ones the first by key); nothing where there is none.
  virtual std::optional<Record> best(const std::string& workload, const std::string& hardware,
                                     const std::string& tool) const = 0;
  // best() of every workload, hardware and tool, in the order of their keys.
  virtual std::vector<Record> all_best() const = 0;
};

// Of a database or of a text of records, which may be gzip; the content tells which. Not while this process
// has that database open: looking at the content ends the locks that SQLite holds. Errors (invalid input):
// those of RecordStore, or every bad line.
std::unique_ptr<BestSchedules> open_best_schedules(const std::filesystem::path& path);
// Of a text.
std::unique_ptr<BestSchedules> parse_best_schedules(const std::string& text, const std::string& source_name);
// The best of all of them.
std::unique_ptr<BestSchedules> join_best_schedules(std::vector<std::unique_ptr<BestSchedules>> sources);

}  // namespace tilewright::tune
