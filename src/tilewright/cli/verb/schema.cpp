// `schema`: the JSON Schema of a file format, or the list of them; that of the command's own answers, too.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "tilewright/base/json.h"
#include "tilewright/base/words/nearest_word.h"
#include "tilewright/cli/options/conclusion.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/schema/formats.h"

namespace tilewright::cli {
namespace {

constexpr const char* kAnswerTitle = "what every verb prints with --json";

std::vector<std::string> schema_names() {
  std::vector<std::string> names;
  for (const FileFormat& format : file_formats()) names.push_back(format.name);
  names.emplace_back(kAnswerSchema);
  return names;
}

std::string list_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FileFormat& format : file_formats())
    list.push_back({{"name", format.name}, {"description", format.description}});
  list.push_back({{"name", kAnswerSchema}, {"description", kAnswerTitle}});
  return json_text(nlohmann::ordered_json{{"schemas", list}}, 2) + "\n";
}

std::string list_text() {
  std::string text;
  for (const FileFormat& format : file_formats())
    text += fmt::format("  {:<16}{}\n", format.name, format.description);
  return text + fmt::format("  {:<16}{}\n", kAnswerSchema, kAnswerTitle);
}

}  // namespace

void schema(const SchemaOptions& options, std::ostream& out) {
  if (options.name.empty()) {
    out << (options.json ? list_json() : list_text());
    return;
  }
  const std::vector<std::string> names = schema_names();
  if (std::find(names.begin(), names.end(), options.name) == names.end()) {
    throw Error(ErrorKind::kInvalidInput, "there is no schema '" + options.name + "'",
                words_hint(options.name, names, "schemas"));
  }
  const nlohmann::ordered_json schema =
      options.name == kAnswerSchema ? answer_schema() : format_schema(options.name, shared_folders());
  out << json_text(options.json ? nlohmann::ordered_json{{"document", schema}} : schema, 2) << "\n";
}

}  // namespace tilewright::cli
