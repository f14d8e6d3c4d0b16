// Man pages and completions of shells, from the command's own description.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/cli/manual/command_tree.h"

namespace tilewright::cli {

// troff of a page, section 1; `date`: YYYY-MM-DD.
std::string man_page(const VerbPage& page, const VerbPage& command, const std::string& version,
                     const std::string& date);

// Names of machines that options --hardware, --fabric and --device take besides files.
struct PresetNames {
  std::vector<std::string> machines, devices;
};
// Of one option; empty where it takes no presets.
std::vector<std::string> presets_of(const OptionPage& option, const PresetNames& presets);

std::string bash_completion(const VerbPage& command, const PresetNames& presets);
std::string zsh_completion(const VerbPage& command, const PresetNames& presets);
std::string fish_completion(const VerbPage& command, const PresetNames& presets);

// Writes man1/tilewright*.1 and the completions, under the names that shells look for, below `folder`.
void write_manual(const CLI::App& command, const std::filesystem::path& folder);
// The hidden verb that does it, for the build.
void add_manual(CLI::App& command, std::string& folder);

}  // namespace tilewright::cli
