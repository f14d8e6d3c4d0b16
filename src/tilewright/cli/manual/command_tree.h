// The command's own description of itself, as the parser knows it: what man pages and completions are made
// from.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tilewright::cli {

enum class ValueKind { kNone, kText, kWord, kFile, kFolder };

// An option or a positional argument.
struct OptionPage {
  std::vector<std::string> names;  // "-o", "--output"; of a positional argument its only name
  bool positional = false;
  ValueKind kind = ValueKind::kNone;
  bool repeated = false;           // takes several values
  std::vector<std::string> words;  // the values of kWord
  std::string usage;               // what --help shows behind the name
  std::string description;
};

// The command, a verb, or a verb of a verb.
struct VerbPage {
  std::vector<std::string> path;  // {} for the command, {"place", "train"}
  std::string group;              // heading under which --help lists it
  std::string description, example;
  std::vector<OptionPage> options;
  std::vector<VerbPage> verbs;

  std::string name(const char* separator) const;  // with "tilewright" before it
};

// Without what --help does not show.
VerbPage describe(const CLI::App& command);
// `page` and all below it, parents first.
std::vector<const VerbPage*> all_pages(const VerbPage& page);

}  // namespace tilewright::cli
