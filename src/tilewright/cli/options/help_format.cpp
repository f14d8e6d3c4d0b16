// CLI11's formatter with wrapped lines. A description that names its default itself ("(default: ...)") is
// left alone: the stored default may be 0 for "no limit", or the number of cores of one machine.
#include "tilewright/cli/options/help_format.h"

#include <fmt/format.h>

#include <sstream>

namespace tilewright::cli {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kNames = 30;  // where descriptions begin

// `text` in lines of at most kColumns that begin with `indent` blanks; the first begins after `used` columns.
std::string wrapped(const std::string& text, size_t used, size_t indent) {
  std::istringstream words(text);
  std::string result, word;
  size_t column = used;
  bool first = true;
  while (words >> word) {
    if (!first && column + 1 + word.size() > kColumns) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      result += " ";
      ++column;
    }
    result += word;
    column += word.size();
    first = false;
  }
  return result;
}

std::string entry(const std::string& name, const std::string& description) {
  std::string line = "  " + name;
  if (line.size() + 2 > kNames) {
    line = wrapped(line, 0, 6).insert(0, "  ") + "\n" + std::string(kNames, ' ');
  } else {
    line.resize(kNames, ' ');
  }
  return line + wrapped(description, kNames, kNames) + "\n";
}

// What CLI11 puts together as "TYPE:CHECK:CHECK", where checks may have no description.
std::string type_of(const CLI::Option* option) {
  const std::string all = option->get_type_name();
  return all.substr(0, all.find(':'));
}

std::string checks_of(const CLI::Option* option) {
  std::string checks = option->get_type_name();
  const size_t end = checks.find(':');
  if (end == std::string::npos) return "";
  checks.erase(0, end + 1);
  while (checks.starts_with(':')) checks.erase(0, 1);
  while (checks.ends_with(':')) checks.pop_back();
  return checks;
}

std::string default_of(const CLI::Option* option) {
  std::string value = option->get_default_str();
  if (value.starts_with('[') && value.ends_with(']')) value = value.substr(1, value.size() - 2);
  const bool told = option->get_description().find("(default") != std::string::npos;
  return told || option->get_type_size() == 0 ? "" : value;
}

}  // namespace

std::string HelpFormat::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), 0, 0) + "\n";
}

std::string HelpFormat::make_subcommand(const CLI::App* verb) const {
  return entry(verb->get_display_name(true), verb->get_description());
}

std::string HelpFormat::make_option(const CLI::Option* option, bool is_positional) const {
  return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) return "";
  std::string text = type_of(option).empty() ? "" : " " + type_of(option);
  if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
  return text;
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  const auto add = [&](const std::string& note) {
    if (!note.empty()) text += fmt::format(" [{}]", note);
  };
  add(checks_of(option));
  if (option->get_required()) add("required");
  const std::string value = default_of(option);
  if (!value.empty()) text += fmt::format(" (default: {})", value);
  return text;
}

}  // namespace tilewright::cli
