// Runs the command as a user would.
#pragma once

#include <filesystem>
#include <string>

namespace tilewright {

struct CommandResult {
  int exit_code = -1;  // -1: ended by a signal
  std::string output;  // standard output and error, interleaved
};

// `arguments` as a shell would read them; `before`: commands of that shell, each with its semicolon.
CommandResult command(const std::string& arguments, const std::string& before = {});

// An empty folder of this test program's own.
std::filesystem::path fresh_folder(const std::string& name);

// The demo network, quantised and compiled for the wide overlay once per test program.
struct DemoFiles {
  std::filesystem::path model, quantised, bundle, images;
};
const DemoFiles& demo_files();

}  // namespace tilewright
