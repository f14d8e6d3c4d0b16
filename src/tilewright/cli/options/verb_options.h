// How verbs declare their options.
#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>
#include <string>

#include "tilewright/cli/options/verbs.h"

namespace tilewright::cli {

// A verb's sub-command with its description and one worked example, shown by --help.
CLI::App* add_verb(CLI::App& app, const std::string& name, const std::string& description,
                   const std::string& example);

// Accepts finite numbers; others give "'x' is not WANTED".
CLI::Validator number_check(const std::string& wanted, bool (*accepts)(double));

// "500ms", "10s", "2m", "1h"; a bare number is seconds. Other texts are refused in the option's name.
double seconds_of(const std::string& option, const std::string& text);

// The options of one verb, where they are many.
void add_place(CLI::App& app, PlaceVerbs& verbs, std::ostream& out);
void add_records(CLI::App& app, RecordsOptions& options, std::ostream& out);
void add_explore(CLI::App& app, ExploreOptions& options, std::ostream& out);
void add_study(CLI::App& app, StudyVerbs& verbs, std::ostream& out);
void add_worker(CLI::App& app, WorkerVerbOptions& options, int& exit_code);

}  // namespace tilewright::cli
