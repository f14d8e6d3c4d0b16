// A function of _arguments for every verb.
#include <fmt/format.h>

#include "tilewright/cli/manual/manual.h"

namespace tilewright::cli {
namespace {

// Inside of single quotes and of the parts of _arguments' specifications.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result;
}

std::string function_name(const VerbPage& page) { return "_" + page.name("_"); }

std::string action(const OptionPage& option, const PresetNames& presets) {
  std::string words;
  for (const std::string& word : option.kind == ValueKind::kWord ? option.words : presets_of(option, presets))
    words += (words.empty() ? "" : " ") + zsh_text(word);
  if (option.kind == ValueKind::kWord) return "(" + words + ")";
  if (option.kind == ValueKind::kFolder) return "_files -/";
  if (option.kind != ValueKind::kFile) return "";
  return words.empty() ? "_files" : fmt::format("{{compadd {}; _files}}", words);
}

std::string specification(const OptionPage& option, const std::string& name, const PresetNames& presets) {
  const std::string value = ":value:" + action(option, presets);
  if (option.positional) {
    return fmt::format(" \\\n    '{}:{}:{}'", option.repeated ? "*" : "", zsh_text(name),
                       action(option, presets));
  }
  return fmt::format(" \\\n    '*{}[{}]{}'", name, zsh_text(option.description),
                     option.kind == ValueKind::kNone ? "" : value);
}

std::string function(const VerbPage& page, const PresetNames& presets) {
  std::string text = function_name(page) + "() {\n";
  if (!page.verbs.empty()) text += "  local context state line\n  local -a verbs=(\n";
  for (const VerbPage& verb : page.verbs)
    text += fmt::format("    '{}:{}'\n", verb.path.back(), zsh_text(verb.description));
  if (!page.verbs.empty()) text += "  )\n";
  text += page.verbs.empty() ? "  _arguments" : "  _arguments -C";
  for (const OptionPage& option : page.options) {
    if (option.positional && !page.verbs.empty()) continue;  // the first word may be a verb
    for (const std::string& name : option.names) text += specification(option, name, presets);
  }
  if (page.verbs.empty()) return text + "\n}\n\n";
  text += " \\\n    '1: :->verb' \\\n    '*:: :->rest'\n  case $state in\n    verb) _describe verb verbs";
  const bool has_arguments = !page.path.empty();
  text += has_arguments ? "; _files ;;\n" : " ;;\n";
  text += "    rest) case $words[1] in\n";
  for (const VerbPage& verb : page.verbs)
    text += fmt::format("      {}) {} ;;\n", verb.path.back(), function_name(verb));
  return text + "      *) _files ;;\n    esac ;;\n  esac\n}\n\n";
}

}  // namespace

std::string zsh_completion(const VerbPage& command, const PresetNames& presets) {
  std::string text = "#compdef tilewright\n# made by the command itself\n\n";
  for (const VerbPage* page : all_pages(command)) text += function(*page, presets);
  return text + "_tilewright \"$@\"\n";
}

}  // namespace tilewright::cli
