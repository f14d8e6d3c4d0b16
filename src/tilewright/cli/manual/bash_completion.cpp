// A function for bash without any library: tables by verb and by option, made here, and a few lines that look
// up the word under the cursor.
#include <fmt/format.h>

#include "tilewright/cli/manual/manual.h"

namespace tilewright::cli {
namespace {

constexpr const char* kLookup = R"(
_tilewright() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= word i
  local verbs options arguments kind words
  COMPREPLY=()
  # --name=value comes as three words
  if [[ $current == = ]]; then current=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    _tilewright_verb "$verb"
    [[ " $verbs " == *" $word "* ]] && verb="${verb:+$verb }$word"
  done
  _tilewright_verb "$verb"
  _tilewright_value "$verb $before"
  if [[ -z $kind ]]; then
    if [[ $current == -* ]]; then kind=word words=$options
    elif [[ -z $verbs ]]; then kind=${arguments%%:*} words=${arguments#*:}
    elif [[ -n $arguments ]]; then kind=file words=$verbs
    else kind=word words=$verbs; fi
  fi
  [[ -n $words ]] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  case $kind in
    file|folder)
      compopt -o filenames 2> /dev/null
      [[ $kind == file ]] && set -- -f || set -- -d
      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen "$@" -- "$current") ;;
  esac
}
complete -F _tilewright tilewright
)";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

const char* kind_name(const OptionPage& option) {
  switch (option.kind) {
    case ValueKind::kFile:
      return "file";
    case ValueKind::kFolder:
      return "folder";
    case ValueKind::kNone:
    case ValueKind::kText:
    case ValueKind::kWord:
      break;
  }
  return "word";
}

std::string words_for(const OptionPage& option, const PresetNames& presets) {
  return joined(option.kind == ValueKind::kWord ? option.words : presets_of(option, presets));
}

std::string path_text(const VerbPage& page) { return joined(page.path); }

// What may follow a verb.
std::string verb_case(const VerbPage& page, const PresetNames& presets) {
  std::vector<std::string> options, verbs;
  std::string arguments;
  for (const OptionPage& option : page.options) {
    if (option.positional) {
      if (arguments.empty()) arguments = fmt::format("{}:{}", kind_name(option), words_for(option, presets));
    } else {
      options.insert(options.end(), option.names.begin(), option.names.end());
    }
  }
  for (const VerbPage& verb : page.verbs) verbs.push_back(verb.path.back());
  return fmt::format("    '{}') verbs='{}' arguments='{}' options='{}' ;;\n", path_text(page), joined(verbs),
                     arguments, joined(options));
}

// What may follow an option that takes a value.
std::string value_cases(const VerbPage& page, const PresetNames& presets) {
  std::string text;
  for (const OptionPage& option : page.options) {
    if (option.positional || option.kind == ValueKind::kNone) continue;
    std::string patterns;
    for (const std::string& name : option.names)
      patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : "|", path_text(page), name);
    text += fmt::format("    {}) kind={} words='{}' ;;\n", patterns, kind_name(option),
                        words_for(option, presets));
  }
  return text;
}

}  // namespace

std::string bash_completion(const VerbPage& command, const PresetNames& presets) {
  std::string verbs, values;
  for (const VerbPage* page : all_pages(command)) {
    verbs += verb_case(*page, presets);
    values += value_cases(*page, presets);
  }
  return "# bash completion for tilewright, made by the command itself\n\n_tilewright_verb() {\n  case $1 "
         "in\n" +
         verbs + "  esac\n}\n\n_tilewright_value() {\n  kind= words=\n  case $1 in\n" + values +
         "  esac\n}\n" + kLookup;
}

}  // namespace tilewright::cli
