// What is wrong with a command line, for people: every unknown word with what was probably meant, and every
// option that is missing.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tilewright/base/error.h"

namespace tilewright::cli {

// The innermost verb that the command line has named ("study show"); the application itself if it has none.
const CLI::App& chosen_verb(const CLI::App& app);
// "study show"; empty for the application itself.
std::string verb_name(const CLI::App& verb);

// All problems (invalid input) of the command line that `app` refused with `failure`.
Error usage_error(const CLI::App& app, const CLI::ParseError& failure);

}  // namespace tilewright::cli
