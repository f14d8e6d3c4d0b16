// The command: parses its line, runs the verb, and says how that ended.
#include <CLI/CLI.hpp>
#include <iostream>

#include "tilewright/cli/manual/manual.h"
#include "tilewright/cli/options/all_verbs.h"
#include "tilewright/cli/options/conclusion.h"
#include "tilewright/cli/options/plain_stream.h"
#include "tilewright/cli/options/usage_problems.h"
#include "tilewright/cli/options/version.h"

namespace tilewright::cli {
namespace {

int run_command(int argc, char** argv) {
  CLI::App app("Tilewright: from a trained network to a verified accelerator and the program that runs on it",
               "tilewright");
  app.set_version_flag("--version", version_text());
  const auto work = [&](std::ostream& out) {
    int exit_code = 0;
    AllOptions options;
    std::string manual_folder;
    add_verbs(app, options, out, exit_code);
    add_manual(app, manual_folder);
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& help_or_version) {
      app.exit(help_or_version);
    } catch (const CLI::ParseError& failure) {
      throw usage_error(app, failure);
    }
    return exit_code;
  };
  return conclude(asks_for_json(argc, argv), work, [&] {
    return DocumentHead{verb_name(chosen_verb(app)), version_number()};
  });
}

}  // namespace
}  // namespace tilewright::cli

int main(int argc, char** argv) {
  const tilewright::cli::PlainStream plain_output(std::cout), plain_errors(std::cerr);
  return tilewright::cli::run_command(argc, argv);
}
