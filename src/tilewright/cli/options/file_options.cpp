// The role of an option in its verb is stored in the option itself, as a validator that accepts everything.
#include "tilewright/cli/options/file_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "tilewright/base/error.h"
#include "tilewright/flow/samples/sample_request.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReads = "reads";
constexpr const char* kReadsSamples = "reads samples";
constexpr const char* kWrites = "writes";
constexpr const char* kReplaces = "replaces";

CLI::Option* mark(CLI::Option* option, const char* role) {
  return option->check(CLI::Validator([](const std::string&) { return std::string(); }, "", role));
}

bool is_marked(const CLI::Option& option, const char* role) { return named_check(option, role) != nullptr; }

void add_named_paths(const CLI::App& verb, const char* role, std::vector<NamedPath>& paths) {
  for (const CLI::Option* option : verb.get_options()) {
    if (!is_marked(*option, role)) continue;
    for (const std::string& value : option->results()) {
      if (value.empty() || value == "-") continue;
      paths.push_back(
          {option->get_name(), role == kReadsSamples ? sample_source(value).path : fs::path(value)});
    }
  }
}

std::vector<NamedPath> named_paths(const CLI::App& verb, const char* role) {
  std::vector<NamedPath> paths;
  add_named_paths(verb, role, paths);
  return paths;
}

fs::path place_of(const fs::path& path) {
  std::error_code failed;
  const fs::path place = fs::weakly_canonical(fs::absolute(path), failed);
  return failed ? path : place;
}

bool same_place(const fs::path& a, const fs::path& b) {
  std::error_code failed;
  const fs::file_status status = fs::status(a, failed);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
    return false;  // a device
  return fs::equivalent(a, b, failed) || place_of(a) == place_of(b);
}

bool lies_in(const fs::path& folder, const fs::path& path) {
  std::error_code failed;
  if (!fs::exists(path, failed)) return false;  // a preset's name
  const fs::path outer = place_of(folder), inner = place_of(path);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace

const CLI::Validator* named_check(const CLI::Option& option, const char* name) {
  try {  // get_validator has no const form
    return const_cast<CLI::Option&>(option).get_validator(name);
  } catch (const CLI::OptionNotFound&) {
    return nullptr;
  }
}

CLI::Option* reads(CLI::Option* option) { return mark(option, kReads); }
CLI::Option* reads_samples(CLI::Option* option) { return mark(option, kReadsSamples); }
CLI::Option* writes(CLI::Option* option) { return mark(option, kWrites); }
CLI::Option* replaces_folder(CLI::Option* option) { return mark(option, kReplaces); }

FileRole file_role(const CLI::Option& option) {
  if (is_marked(option, kReplaces)) return FileRole::kFolder;
  return is_marked(option, kReads) || is_marked(option, kReadsSamples) || is_marked(option, kWrites)
             ? FileRole::kFile
             : FileRole::kNoFile;
}

void refuse_overwriting(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs) {
  Diagnostics diagnostics;
  const auto refuse = [&](const std::string& message, const char* hint) {
    diagnostics.error(ErrorKind::kInvalidInput, "", "", message, hint);
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NamedPath& output = outputs[i];
    for (const NamedPath& input : inputs) {
      if (same_place(output.path, input.path)) {
        refuse(fmt::format("{} '{}' would overwrite what {} reads ('{}')", output.option,
                           output.path.string(), input.option, input.path.string()),
               "write to another file");
      } else if (output.is_folder && lies_in(output.path, input.path)) {
        refuse(fmt::format("{} '{}' would replace the folder of what {} reads ('{}')", output.option,
                           output.path.string(), input.option, input.path.string()),
               "write to another folder");
      }
    }
    for (size_t j = 0; j < i; ++j) {
      if (!same_place(output.path, outputs[j].path)) continue;
      refuse(
          fmt::format("{} and {} both write to '{}'", outputs[j].option, output.option, output.path.string()),
          "give each its own");
    }
  }
  diagnostics.raise_if_any();
}

void refuse_overwriting(const CLI::App& verb) {
  std::vector<NamedPath> outputs = named_paths(verb, kWrites);
  for (NamedPath& folder : named_paths(verb, kReplaces)) {
    folder.is_folder = true;
    outputs.push_back(std::move(folder));
  }
  refuse_overwriting(inputs_of(verb), outputs);
}

std::vector<NamedPath> inputs_of(const CLI::App& verb) {
  std::vector<NamedPath> paths = named_paths(verb, kReads);
  add_named_paths(verb, kReadsSamples, paths);
  return paths;
}

}  // namespace tilewright::cli
