// Everything comes from CLI11's objects: names, checks and the texts of --help's own formatter.
#include "tilewright/cli/manual/command_tree.h"

#include <algorithm>
#include <memory>
#include <sstream>

#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/word_checks.h"

namespace tilewright::cli {
namespace {

std::vector<std::string> words_of(const CLI::Option& option) {
  std::vector<std::string> words;
  const CLI::Validator* check = named_check(option, kWordsCheck);
  std::istringstream list(check == nullptr ? "" : check->get_description());
  for (std::string word; std::getline(list >> std::ws, word, ',');) words.push_back(word);
  return words;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \n"), end = text.find_last_not_of(" \n");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// One line, as a formatter wraps it.
std::string one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line, word;
  while (words >> word) line += (line.empty() ? "" : " ") + word;
  return line;
}

OptionPage describe_option(const CLI::Option& option, const CLI::Formatter& formatter) {
  OptionPage page;
  page.positional = option.get_positional();
  if (page.positional) {
    page.names = {option.get_name(true)};
  } else {
    for (const std::string& name : option.get_snames()) page.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) page.names.push_back("--" + name);
  }
  page.usage = trimmed(formatter.make_option_opts(&option));
  page.description = one_line(formatter.make_option_desc(&option));
  page.repeated = option.get_expected_max() > 1;
  page.words = words_of(option);
  const FileRole role = file_role(option);
  page.kind = option.get_type_size() == 0 ? ValueKind::kNone
              : !page.words.empty()       ? ValueKind::kWord
              : role == FileRole::kFolder ? ValueKind::kFolder
              : role != FileRole::kNoFile ? ValueKind::kFile
                                          : ValueKind::kText;
  return page;
}

// Without its heading.
std::string example_of(const CLI::App& verb) {
  const std::string footer = verb.get_footer();
  const size_t heading = footer.find("Example:\n");
  return heading == std::string::npos ? "" : trimmed(footer.substr(heading + 9));
}

VerbPage describe(const CLI::App& app, const std::vector<std::string>& path) {
  const auto formatter = std::dynamic_pointer_cast<CLI::Formatter>(app.get_formatter());
  VerbPage page{.path = path,
                .group = app.get_group(),
                .description = one_line(app.get_description()),
                .example = example_of(app)};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) page.options.push_back(describe_option(*option, *formatter));
  }
  for (const CLI::App* verb :
       app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); })) {
    std::vector<std::string> longer = path;
    longer.push_back(verb->get_name());
    page.verbs.push_back(describe(*verb, longer));
  }
  return page;
}

}  // namespace

std::string VerbPage::name(const char* separator) const {
  std::string text = "tilewright";
  for (const std::string& word : path) text += separator + word;
  return text;
}

VerbPage describe(const CLI::App& command) { return describe(command, {}); }

std::vector<const VerbPage*> all_pages(const VerbPage& page) {
  std::vector<const VerbPage*> pages{&page};
  for (const VerbPage& verb : page.verbs) {
    const std::vector<const VerbPage*> below = all_pages(verb);
    pages.insert(pages.end(), below.begin(), below.end());
  }
  return pages;
}

}  // namespace tilewright::cli
