// Runs the programs of the open hardware flow (Yosys, nextpnr, Verilator, ...) as child processes: output
// captured, a time limit, and errors that say which package is missing or what the program complained about.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright::synthesis {

// A tool was stopped because its time limit had passed.
class ToolTimeout : public Error {
 public:
  ToolTimeout(std::string message, std::string hint)
      : Error(ErrorKind::kInfeasible, std::move(message), std::move(hint)) {}
};

// Whether somebody wants the tool to end. Asked ten times a second, from the thread that waits for the tool.
using StopRequest = std::function<bool()>;

struct ToolCommand {
  std::string program;  // a path, or a name that is sought as the shell seeks it
  std::vector<std::string> arguments;
  std::filesystem::path folder;  // working folder; empty: the caller's
  double timeout_s = 600;
  StopRequest stop = {};
};

struct ToolResult {
  int exit_code = 0;   // 128 + signal number when a signal ended it
  std::string output;  // standard output and standard error in the order written
  double seconds = 0;  // wall clock
};

// Runs to the end and gives the exit code whatever it is; standard input is empty. The program ends with this
// process, even when that is killed, and its children with it. Errors: unsupported when there is no such
// program (names the Debian package that brings it); ToolTimeout when the time limit passed, after the
// program and its children were killed; invalid input when the working folder is missing; InterruptedError
// when `stop` asked for it, or somebody else killed it (SIGKILL, SIGTERM).
ToolResult run_tool(const ToolCommand& command);
// The same, and an exit code other than 0 is an error (invalid input) with the last lines of the output.
ToolResult run_tool_checked(const ToolCommand& command);

bool tool_installed(const std::string& program);
// The first line of what the program says about its version; empty when it is not installed or says nothing.
std::string tool_version(const std::string& program);
// The Debian 12 package that brings a program, or where it comes from when none does; empty when unknown.
std::string tool_package(const std::string& program);
// One sentence per tool that is not installed, with its package; empty when all are there.
std::string missing_tools(std::initializer_list<const char*> programs);

// The last `count` lines of a log that are not blank, each indented by two spaces.
std::string last_lines(const std::string& text, int count);

}  // namespace tilewright::synthesis
