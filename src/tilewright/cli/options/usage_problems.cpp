// CLI11 stops at its first problem, and then knows which words nobody took. Those are told first: a missing
// option is often one with a typing error.
#include "tilewright/cli/options/usage_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tilewright/base/words/nearest_word.h"

namespace tilewright::cli {
namespace {

std::string command_text(const CLI::App& verb) {
  const std::string name = verb_name(verb);
  return name.empty() ? "tilewright" : "tilewright " + name;
}

std::string help_hint(const CLI::App& verb) { return fmt::format("'{} --help'", command_text(verb)); }

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!verb->get_group().empty()) names.push_back(verb->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// By the names alone: the dashes are no letters.
std::string nearest_option(const std::string& word, const std::vector<std::string>& known) {
  const auto bare = [](const std::string& option) { return option.substr(option.find_first_not_of('-')); };
  std::vector<std::string> names;
  for (const std::string& option : known) names.push_back(bare(option));
  if (word.find_first_not_of('-') == std::string::npos) return "";
  const std::string nearest = nearest_word(bare(word), names);
  const auto at = std::find(names.begin(), names.end(), nearest);
  return nearest.empty() ? "" : known[size_t(at - names.begin())];
}

class UsageProblems {
 public:
  UsageProblems(const CLI::App& app, const CLI::ParseError& failure) : verb_(chosen_verb(app)) {
    unknown_words(app.remaining(true));
    const bool told = !problems_.ok();
    if (told && verb_.get_require_subcommand_min() > 0) return;
    missing_options();
    missing_verb(told);
    const bool about_words = dynamic_cast<const CLI::RequiredError*>(&failure) != nullptr ||
                             dynamic_cast<const CLI::ExtrasError*>(&failure) != nullptr;
    if (problems_.ok() || !about_words) wrong_value(failure.what());
  }
  Error error() const { return Error(problems_.errors()); }

 private:
  void add(const std::string& message, const std::string& hint) {
    problems_.error(ErrorKind::kInvalidInput, "", "", message, hint);
  }

  void unknown_words(const std::vector<std::string>& words) {
    const bool options = std::any_of(words.begin(), words.end(), is_option);
    if (!words.empty() && !is_option(words[0]) && verb_.get_require_subcommand_min() > 0)
      return wrong_verb(words[0]);  // the others are its own
    for (const std::string& word : words) {
      if (is_option(word)) {
        unknown_option(word);
      } else if (!options) {  // else it may be the value of one
        add(fmt::format("'{}' is one word too many for '{}'", word, verb_name(verb_)),
            help_hint(verb_) + " says what it takes");
      }
    }
  }
  static bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

  void unknown_option(const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    const std::vector<std::string> known = options_of(verb_);
    const std::string meant = nearest_option(name, known);
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      return add(fmt::format("'{}' stands before the verb", name),
                 fmt::format("write it behind: {} {}", command_text(verb_), name));
    }
    add(verb_name(verb_).empty() ? fmt::format("there is no option '{}'", name)
                                 : fmt::format("'{}' has no option '{}'", verb_name(verb_), name),
        (meant.empty() ? "" : fmt::format("did you mean '{}'? ", meant)) + help_hint(verb_) + " lists them");
  }

  void wrong_verb(const std::string& word) {
    const std::string name = verb_name(verb_);
    add(fmt::format("there is no verb '{}{}{}'", name, name.empty() ? "" : " ", word),
        words_hint(word, verbs_of(verb_), "verbs"));
  }

  void missing_options() {
    for (const CLI::Option* option : verb_.get_options()) {
      if (!option->get_required() || option->count() > 0) continue;
      const std::string name = option->get_name();
      add(option->get_positional() ? fmt::format("the {} is missing", name) : name + " is missing",
          fmt::format("give it: {} ({} shows an example)", option->get_description(), help_hint(verb_)));
    }
  }

  void missing_verb(bool told) {
    if (told || verb_.get_require_subcommand_min() == 0) return;
    const std::string name = verb_name(verb_);
    add(name.empty() ? "no verb is given" : fmt::format("'{}' needs a verb", name),
        words_hint("", verbs_of(verb_), "verbs") + "; " + help_hint(verb_) + " explains them");
  }

  // CLI11's own texts, in our words; those of our checks say what is right already.
  void wrong_value(std::string text) {
    const std::string conversion = "Could not convert: ", excludes = " excludes ", missing = " required ";
    if (text.starts_with(conversion)) {
      const size_t sign = text.find(" = ");
      const std::string option = text.substr(conversion.size(), sign - conversion.size());
      text = fmt::format("{}: '{}' is not a number", option,
                         sign == std::string::npos ? "" : text.substr(sign + 3));
    } else if (const size_t at = text.find(excludes); at != std::string::npos) {
      return add(
          fmt::format("{} and {} exclude each other", text.substr(0, at), text.substr(at + excludes.size())),
          "leave one of them out");
    } else if (text.find(missing) != std::string::npos && text.ends_with(" missing")) {
      text = text.substr(0, text.find(':')) + " needs a value";
    }
    const size_t hint = text.find("; ");
    add(text.substr(0, hint),
        hint == std::string::npos ? help_hint(verb_) + " says what it takes" : text.substr(hint + 2));
  }

  const CLI::App& verb_;
  Diagnostics problems_;
};

}  // namespace

const CLI::App& chosen_verb(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_verb(*chosen.back());
}

std::string verb_name(const CLI::App& verb) {
  if (verb.get_parent() == nullptr) return "";
  const std::string before = verb_name(*verb.get_parent());
  return (before.empty() ? "" : before + " ") + verb.get_name();
}

Error usage_error(const CLI::App& app, const CLI::ParseError& failure) {
  return UsageProblems(app, failure).error();
}

}  // namespace tilewright::cli
