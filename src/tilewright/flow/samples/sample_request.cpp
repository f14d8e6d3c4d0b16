// A name before a file is told from a name of a file by looking for that file.
#include "tilewright/flow/samples/sample_request.h"

#include <fmt/format.h>

namespace tilewright {

SampleSource sample_source(const std::string& text) {
  std::error_code failed;
  const size_t equals = text.find('=');
  if (equals == std::string::npos || std::filesystem::exists(text, failed))
    return {.input = "", .path = text, .array = {}};
  return {.input = text.substr(0, equals), .path = text.substr(equals + 1), .array = {}};
}

std::string name_of(const SampleSource& source) {
  if (source.array) return "the array";
  std::error_code failed;
  return fmt::format("{} '{}'", std::filesystem::is_directory(source.path, failed) ? "folder" : "file",
                     source.path.string());
}

}  // namespace tilewright
