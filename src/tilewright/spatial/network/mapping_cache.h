// A folder of found mappings, one JSON file each, named by the content of the question: the workload, the
// hardware, the constraints, the objective and the rules, and the version of the tool. The name alone is not
// trusted: a file holds the whole question, and the mapping in it is checked and evaluated again when it is
// read. Files that are damaged or belong to another question are ignored with a warning and rewritten.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/spatial/mapper/mapper.h"

namespace tilewright {

class MappingCache {
 public:
  // Creates the folder. Errors (invalid input): it cannot be created, read or searched.
  MappingCache(std::filesystem::path folder, std::string tool_version);

  // A result for the same question: proven (or proven infeasible), or stopped after a time limit of at least
  // the one in `options`. Threads and the workload's name are not part of the question.
  std::optional<MapResult> find(const Mapspace& mapspace, const MapperOptions& options);
  // Atomic: readers see the old file or the new one. A file that cannot be written (disk full) gives a
  // warning: the result is not lost, only not cached.
  void store(const Mapspace& mapspace, const MapperOptions& options, const MapResult& result);

  // The file of a question.
  std::filesystem::path path_of(const Mapspace& mapspace, const MapperOptions& options) const;

  int hits() const { return hits_; }
  int misses() const { return misses_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::string question(const Mapspace& mapspace, const MapperOptions& options) const;
  std::filesystem::path folder_;
  std::string tool_version_;
  int hits_ = 0, misses_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace tilewright
