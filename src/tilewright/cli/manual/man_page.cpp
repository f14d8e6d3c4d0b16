// Pages in man(7). Every line that comes from a text is escaped, so nothing in it is a request of troff.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "tilewright/cli/manual/manual.h"

namespace tilewright::cli {
namespace {

std::string troff(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool line_begins = i == 0 || text[i - 1] == '\n';
    if (line_begins && (text[i] == '.' || text[i] == '\'')) result += "\\&";
    if (text[i] == '\\') {
      result += "\\e";
    } else if (text[i] == '-') {
      result += "\\-";
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string bold(const std::string& text) { return "\\fB" + troff(text) + "\\fR"; }

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return char(std::toupper(c)); });
  return text;
}

std::string page_name(const VerbPage& page) { return page.name("-"); }

std::string option_entry(const OptionPage& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + bold(name);
  if (!option.usage.empty()) names += " " + troff(option.usage);
  return fmt::format(".TP\n{}\n{}\n", names, troff(option.description));
}

std::string options_section(const VerbPage& page, bool positional) {
  std::string entries;
  for (const OptionPage& option : page.options)
    if (option.positional == positional) entries += option_entry(option);
  if (entries.empty()) return "";
  return fmt::format(".SH {}\n{}", positional ? "ARGUMENTS" : "OPTIONS", entries);
}

std::string verbs_section(const VerbPage& page) {
  if (page.verbs.empty()) return "";
  std::string text = ".SH VERBS\n", group;
  for (const VerbPage& verb : page.verbs) {
    if (verb.group != group && page.path.empty()) text += fmt::format(".SS {}\n", troff(verb.group));
    group = verb.group;
    text += fmt::format(".TP\n{}(1)\n{}\n", bold(page_name(verb)), troff(verb.description));
  }
  return text;
}

std::string synopsis(const VerbPage& page) {
  std::string text = ".SH SYNOPSIS\n" + bold(page.name(" "));
  const bool has_options = std::any_of(page.options.begin(), page.options.end(),
                                       [](const OptionPage& option) { return !option.positional; });
  if (has_options) text += " [OPTIONS]";
  for (const OptionPage& option : page.options) {
    if (option.positional)
      text += fmt::format(" {}{}", upper(option.names[0]), option.repeated ? " ..." : "");
  }
  if (!page.verbs.empty()) text += page.path.empty() ? " VERB ..." : " [VERB ...]";
  return text + "\n";
}

std::string exit_section() {
  const std::pair<const char*, const char*> codes[] = {
      {"0", "Success."},
      {"1", "The input is invalid, or a file cannot be read or written."},
      {"2", "The input is valid, but not supported."},
      {"3", "There is no solution, or none was found within the limits."},
      {"4", "An internal error, which is a bug."},
  };
  std::string text = ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : codes) text += fmt::format(".TP\n.B {}\n{}\n", code, meaning);
  return text;
}

std::string see_also(const VerbPage& page, const VerbPage& command) {
  std::vector<std::string> pages;
  if (!page.path.empty()) {
    VerbPage above = page;
    above.path.pop_back();
    pages.push_back(page_name(above));
  }
  for (const VerbPage& verb : page.path.empty() ? command.verbs : page.verbs)
    pages.push_back(page_name(verb));
  std::string text = ".SH SEE ALSO\n";
  for (size_t i = 0; i < pages.size(); ++i) {
    text += fmt::format(".BR {} (1){}\n", troff(pages[i]), i + 1 < pages.size() ? "," : "");
  }
  return text;
}

std::string example_section(const VerbPage& page) {
  if (page.example.empty()) return "";
  return fmt::format(".SH EXAMPLES\n.EX\n{}\n.EE\n", troff(page.example));
}

}  // namespace

std::string man_page(const VerbPage& page, const VerbPage& command, const std::string& version,
                     const std::string& date) {
  std::string text = fmt::format(".TH {} 1 {} \"Tilewright {}\" \"Tilewright\"\n",
                                 troff(upper(page_name(page))), date, version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", troff(page_name(page)), troff(page.description));
  text += synopsis(page);
  text += fmt::format(".SH DESCRIPTION\n{}.\n", troff(page.description));
  if (page.path.empty()) {
    text += "Every verb has a page of its own, and\n.B \\-\\-help\nwith an example.\n";
  }
  text += verbs_section(page) + options_section(page, true) + options_section(page, false);
  return text + exit_section() + example_section(page) + see_also(page, command);
}

}  // namespace tilewright::cli
