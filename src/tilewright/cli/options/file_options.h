// Options that name files: no verb writes over what it reads. A verb declares what each of its options is,
// and every verb is checked before it starts.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace tilewright::cli {

// The values of `option` name files (or presets) that the verb reads, files that it writes, or a folder whose
// content it replaces. They return `option`.
CLI::Option* reads(CLI::Option* option);
CLI::Option* reads_samples(CLI::Option* option);  // FILE or NAME=FILE
CLI::Option* writes(CLI::Option* option);
CLI::Option* replaces_folder(CLI::Option* option);

// The check of an option by its name; nullptr: it has none of that name.
const CLI::Validator* named_check(const CLI::Option& option, const char* name);

// What the values of an option are, for completions.
enum class FileRole { kNoFile, kFile, kFolder };
FileRole file_role(const CLI::Option& option);

// A path that a command got, and by which option.
struct NamedPath {
  std::string option;
  std::filesystem::path path;
  bool is_folder = false;  // replaced as a whole
};

// What the options of `verb` read: files, folders or presets.
std::vector<NamedPath> inputs_of(const CLI::App& verb);

// Errors (invalid input), all of them: an output that is an input, by whatever name (links, symbolic links),
// or a folder with one in it; two outputs in the same place. Devices and "-" may be named twice.
void refuse_overwriting(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs);
// The same for what was given to the options of `verb`.
void refuse_overwriting(const CLI::App& verb);

}  // namespace tilewright::cli
