// Takes a preset's kind from the line that begins with "kind:" instead of parsing the file: one file that
// does not parse must not keep the others from being listed.
#include "tilewright/hardware/preset_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "tilewright/base/words/nearest_word.h"

namespace tilewright {
namespace {

std::string kind_of(const std::filesystem::path& path) {
  constexpr std::string_view kKey = "kind:";
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(kKey, 0) != 0) continue;
    const size_t from = line.find_first_not_of(" \t\"'", kKey.size());
    if (from == std::string::npos) return "";
    return line.substr(from, line.find_first_of(" \t\"'#\r", from) - from);
  }
  return "overlay";
}

}  // namespace

std::vector<std::string> preset_names(const std::filesystem::path& folder, const std::string& kind) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.path().extension() != ".yaml" || kind_of(entry.path()) != kind) continue;
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Error no_such_preset(const std::string& name, const std::string& kind, const std::filesystem::path& folder) {
  const auto with_article = [](const std::string& word) {
    return (std::string_view("aeiou").find(word[0]) == std::string_view::npos ? "a " : "an ") + word;
  };
  const std::vector<std::string> known = preset_names(folder, kind);
  std::error_code failed;
  const std::filesystem::path file = folder / (name + ".yaml");
  const bool other = !name.empty() && std::filesystem::is_regular_file(file, failed);
  return Error(
      ErrorKind::kInvalidInput,
      other
          ? fmt::format("'{}' is {}, and {} is wanted", name, with_article(kind_of(file)), with_article(kind))
          : fmt::format("'{}' is neither {} preset nor a file", name, with_article(kind)),
      known.empty() ? "no presets in '" + folder.string() + "'" : words_hint(name, known, "known presets"));
}

}  // namespace tilewright
