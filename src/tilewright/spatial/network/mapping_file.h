// Mappings as a file: what `map -o` writes and `map --mapping` reads. Either the levels of one mapping alone
// (nest/mapping.h), or
//   layers:
//   - layer: conv1
//     dataflow: free
//     mapping:
//     - {level: dram, temporal: M=4}
//     - ...
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/spatial/network/network_report.h"

namespace tilewright {

// Every mapping of the report, one per layer and run; layers without one are left out.
std::string print_mapping_file(const NetworkReport& report);

struct MappingFile {
  std::string source;
  // Text of a mapping by layer; the layer is empty for a file that holds the levels of one mapping alone.
  struct Entry {
    std::string layer, text;
  };
  std::vector<Entry> entries;
  // The mapping of a layer: the first entry of its name, or the only one of a file without names; nullptr:
  // none.
  const std::string* find(const std::string& layer) const;
};

// Errors (invalid input): unreadable, no mappings in it, fields that are missing.
MappingFile parse_mapping_file(const std::string& text, const std::string& source_name);
MappingFile read_mapping_file(const std::filesystem::path& path);

}  // namespace tilewright
