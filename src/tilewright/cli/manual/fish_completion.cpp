// One `complete` line per verb and option.
#include <fmt/format.h>

#include "tilewright/cli/manual/manual.h"

namespace tilewright::cli {
namespace {

std::string fish_word(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// Holds where the words so far lead to this page and not to one below it.
std::string condition(const VerbPage& page) {
  std::string below;
  for (const VerbPage& verb : page.verbs) below += " " + verb.path.back();
  if (page.path.empty()) return "not __fish_seen_subcommand_from" + below;
  std::string text;
  for (const std::string& word : page.path)
    text += (text.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") + word;
  return below.empty() ? text : text + "; and not __fish_seen_subcommand_from" + below;
}

std::string value(const OptionPage& option, const PresetNames& presets) {
  std::string words;
  for (const std::string& word : option.kind == ValueKind::kWord ? option.words : presets_of(option, presets))
    words += (words.empty() ? "" : " ") + word;
  switch (option.kind) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kText:
      return " -x";
    case ValueKind::kWord:
      return " -x -a " + fish_word(words);
    case ValueKind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::kFile:
      break;
  }
  return " -r -F" + (words.empty() ? "" : " -a " + fish_word(words));
}

std::string line(const VerbPage& page, const OptionPage& option, const PresetNames& presets) {
  std::string text = fmt::format("complete -c tilewright -n {}", fish_word(condition(page)));
  if (option.positional) return text + (option.kind == ValueKind::kFile ? " -F\n" : " -f\n");
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return text + value(option, presets) + " -d " + fish_word(option.description) + "\n";
}

}  // namespace

std::string fish_completion(const VerbPage& command, const PresetNames& presets) {
  std::string text = "# made by the command itself\ncomplete -c tilewright -f\n";
  for (const VerbPage* page : all_pages(command)) {
    for (const VerbPage& verb : page->verbs) {
      text += fmt::format("complete -c tilewright -n {} -a {} -d {}\n", fish_word(condition(*page)),
                          verb.path.back(), fish_word(verb.description));
    }
    for (const OptionPage& option : page->options) text += line(*page, option, presets);
  }
  return text;
}

}  // namespace tilewright::cli
