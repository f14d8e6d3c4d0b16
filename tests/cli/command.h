// Runs the command as a user would.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tilewright {

struct CommandResult {
  int exit_code = -1;  // -1: ended by a signal
  std::string output;  // standard output and error, interleaved
};

// `arguments` as a shell would read them; `before`: commands of that shell, each with its semicolon.
CommandResult command(const std::string& arguments, const std::string& before = {});

// What `arguments` and --json print; notes on standard error come before the document, errors behind it.
// Fails with another exit code or without a document.
nlohmann::json json_of(const std::string& arguments, int exit_code = 0);

// The command ends with `exit_code` and says each of `parts`.
void expect_failure(const std::string& arguments, int exit_code, const std::vector<std::string>& parts);

bool contains(const std::string& text, const std::string& part);
bool contains(const CommandResult& result, const std::string& part);  // what it printed

// A file of `folder` with this text; its path as an argument.
std::string text_file(const std::filesystem::path& folder, const std::string& name, const std::string& text);

// An empty folder of this test program's own.
std::filesystem::path fresh_folder(const std::string& name);

// The demo network, quantised and compiled for the wide overlay once per test program.
struct DemoFiles {
  std::filesystem::path model, quantised, bundle, images;
};
const DemoFiles& demo_files();

}  // namespace tilewright
