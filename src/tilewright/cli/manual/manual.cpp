// The files, under the names by which man and the shells find them.
#include "tilewright/cli/manual/manual.h"

#include <algorithm>

#include "tilewright/base/file.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/version.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> yaml_names(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<std::string> presets_of(const OptionPage& option, const PresetNames& presets) {
  const std::string& name = option.names.back();
  if (name == "--device") return presets.devices;
  return name == "--hardware" || name == "--fabric" || name == "hardware" ? presets.machines
                                                                          : std::vector<std::string>();
}

void write_manual(const CLI::App& command, const fs::path& folder) {
  const VerbPage tree = describe(command);
  const SharedFolders shared = shared_folders();
  const PresetNames presets{yaml_names(shared.hardware), yaml_names(shared.devices())};
  for (const char* name : {"man1", "bash", "zsh", "fish"}) fs::create_directories(folder / name);
  for (const VerbPage* page : all_pages(tree)) {
    write_text_file(folder / "man1" / (page->name("-") + ".1"),
                    man_page(*page, tree, version_number(), commit_date()));
  }
  write_text_file(folder / "bash/tilewright", bash_completion(tree, presets));
  write_text_file(folder / "zsh/_tilewright", zsh_completion(tree, presets));
  write_text_file(folder / "fish/tilewright.fish", fish_completion(tree, presets));
}

void add_manual(CLI::App& command, std::string& folder) {
  CLI::App* verb = command.add_subcommand("manual", "Write man pages and completions")->group("");
  verb->add_option("folder", folder, "Folder for them")->required();
  verb->callback([&command, &folder] { write_manual(command, folder); });
}

}  // namespace tilewright::cli
