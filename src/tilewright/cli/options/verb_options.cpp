// A verb with its example under --help, and what is checked before it starts.
#include "tilewright/cli/options/verb_options.h"

#include <fmt/format.h>

#include <memory>

#include "tilewright/base/error.h"
#include "tilewright/cli/options/common_options.h"
#include "tilewright/cli/options/file_options.h"
#include "tilewright/cli/options/word_checks.h"

namespace tilewright::cli {

Verb::Verb(std::string description, const std::string& name, CLI::App* parent)
    : CLI::App(std::move(description), name, parent) {}

void Verb::refuse(const std::vector<std::string>& names, const std::string& why, std::function<bool()> idle) {
  rules_.push_back({names, why, std::move(idle)});
}

void Verb::check_effects() const {
  const std::string without = "without ";
  Diagnostics problems;
  for (const Rule& rule : rules_) {
    if (!rule.idle()) continue;
    for (const std::string& name : rule.names) {
      if (get_option(name)->count() == 0) continue;
      const std::string hint = rule.why.starts_with(without)
                                   ? fmt::format("add {}, or leave it out", rule.why.substr(without.size()))
                                   : "leave it out";
      problems.error(ErrorKind::kInvalidInput, "", "", fmt::format("{} has no effect {}", name, rule.why),
                     hint);
    }
  }
  problems.raise_if_any();
}

Verb* add_verb(CLI::App& app, const std::string& name, const std::string& description,
               const std::string& example) {
  const auto verb = std::make_shared<Verb>(description, name, &app);
  app.add_subcommand(verb);
  verb->footer("Example:\n  tilewright " + example);
  verb->parse_complete_callback([verb = verb.get()] {
    verb->check_effects();
    refuse_overwriting(*verb);
  });
  return verb.get();
}

CLI::App* add_schema(CLI::App& app, SchemaOptions& options, std::ostream& out) {
  Verb* verb =
      add_verb(app, "schema",
               "Print the JSON Schema (draft 2020-12) of a file format, for editors and checkers; without "
               "a name the list of formats",
               "schema overlay > overlay.schema.json");
  verb->add_option("name", options.name, "Format: overlay, array, device, ...");
  add_json(verb, options.json);
  verb->callback([&options, &out] { schema(options, out); });
  return verb;
}

CLI::App* add_doctor(CLI::App& app, DoctorOptions& options, std::ostream& out) {
  Verb* verb =
      add_verb(app, "doctor", "What is installed, and what each missing part would enable", "doctor");
  add_json(verb, options.json);
  verb->callback([&options, &out] { doctor(options, out); });
  return verb;
}

}  // namespace tilewright::cli
