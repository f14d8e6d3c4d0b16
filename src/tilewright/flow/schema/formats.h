// The table of file formats that have a schema.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tilewright/flow/schema/document_schema.h"
#include "tilewright/flow/target/shared_folders.h"

namespace tilewright {

struct FileFormat {
  std::string name;         // "overlay"
  std::string description;  // "an overlay: --hardware of compile"
  DocumentReader read;
  // Texts that show the format: files that come with Tilewright, or an example.
  std::vector<std::string> (*specimens)(const SharedFolders& folders);
};

const std::vector<FileFormat>& file_formats();

// JSON Schema (draft 2020-12). Errors (invalid input): no such format, naming those that there are.
nlohmann::ordered_json format_schema(const std::string& name, const SharedFolders& folders);

}  // namespace tilewright
