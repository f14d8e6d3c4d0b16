// A tool runs as a kept process with both output streams on one pipe. The caller reads the pipe until it is
// closed or the time is up; then the keeper ends the tool with the programs it started (an ABC, a compiler).
#include "tilewright/synthesis/tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/synthesis/kept_process.h"

namespace tilewright::synthesis {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(int k) {
    if (ends[k] >= 0) ::close(ends[k]);
    ends[k] = -1;
  }
};

[[noreturn]] void cannot_start(const ToolCommand& command, int reason) {
  if (reason != ENOENT) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("cannot start '{}': {}", command.program, std::strerror(reason)));
  }
  const std::string package = tool_package(command.program);
  throw Error(ErrorKind::kUnsupported, fmt::format("'{}' is not installed", command.program),
              package.empty() ? "give its full path" : package);
}

// Appends what the pipe gives until it is closed. False when `deadline` passed first, or `stop` said so.
bool read_until(int pipe, Clock::time_point deadline, const StopRequest& stop, std::string& output) {
  constexpr long long kLook_ms = 100;
  char buffer[1 << 14];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0 || (stop && stop())) return false;
    pollfd ready{pipe, POLLIN, 0};
    const int count = ::poll(&ready, 1, int(std::min<long long>(left, stop ? kLook_ms : 1 << 30)));
    if (count == 0 || (count < 0 && errno == EINTR)) continue;
    const ssize_t got = ::read(pipe, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    output.append(buffer, size_t(got));
  }
}

// Yosys writes a history of commands into the home folder, even when it is given a script: it gets none.
std::vector<std::string> variables_of(const std::string& program) {
  if (program == "yosys") return {"HOME=/dev/null"};
  return {};
}

ToolCommand version_command(const std::string& program) {
  const bool short_option = program == "yosys" || program == "iverilog";
  return {program, {short_option ? "-V" : "--version"}, {}, 20};
}

}  // namespace

ToolResult run_tool(const ToolCommand& command) {
  std::error_code failed;
  if (!command.folder.empty() && !std::filesystem::is_directory(command.folder, failed)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("cannot run '{}' in '{}': there is no such folder",
                                                      command.program, command.folder.string()));
  }
  const Clock::time_point start = Clock::now();
  Pipe pipe;
  KeptProcess process(command.program, command.arguments, command.folder, pipe.ends[1],
                      variables_of(command.program));
  pipe.close_end(1);
  if (process.failure() != 0) cannot_start(command, process.failure());
  ToolResult result;
  const auto limit = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::min(command.timeout_s, 1e6)));
  const bool ended = read_until(pipe.ends[0], start + limit, command.stop, result.output);
  if (!ended) process.stop();
  result.exit_code = process.wait();
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!ended && command.stop && command.stop()) {
    throw InterruptedError(
        fmt::format("'{}' was interrupted after {:.0f} s", command.program, result.seconds), "run it again");
  }
  if (!ended) {
    throw ToolTimeout(fmt::format("'{}' was stopped after its limit of {:.0f} s; its last lines:\n{}",
                                  command.program, command.timeout_s, last_lines(result.output, 5)),
                      "allow more time, or make the design smaller");
  }
  if (result.exit_code == 128 + SIGKILL || result.exit_code == 128 + SIGTERM) {
    throw InterruptedError(fmt::format("'{}' was killed by signal {}; its last lines:\n{}", command.program,
                                       result.exit_code - 128, last_lines(result.output, 5)),
                           "run it again; a machine that is short of memory kills the largest program");
  }
  return result;
}

ToolResult run_tool_checked(const ToolCommand& command) {
  ToolResult result = run_tool(command);
  if (result.exit_code == 0) return result;
  throw Error(ErrorKind::kInvalidInput,
              fmt::format("'{}' failed with exit code {}; its last lines:\n{}", command.program,
                          result.exit_code, last_lines(result.output, 8)));
}

bool tool_installed(const std::string& program) {
  try {
    run_tool(version_command(program));
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    return false;
  }
}

std::string tool_version(const std::string& program) {
  if (!tool_installed(program)) return "";
  const std::string output = run_tool(version_command(program)).output;
  return output.substr(0, output.find('\n'));
}

std::string tool_package(const std::string& program) {
  static constexpr std::pair<const char*, const char*> kPackages[] = {
      {"yosys", "apt-get install yosys"},
      {"nextpnr-ice40", "apt-get install nextpnr-ice40"},
      {"icepack", "apt-get install fpga-icestorm"},
      {"icetime", "apt-get install fpga-icestorm"},
      {"icebox_vlog", "apt-get install fpga-icestorm"},
      {"verilator", "apt-get install verilator"},
      {"iverilog", "apt-get install iverilog"},
      {"vvp", "apt-get install iverilog"},
      {"make", "apt-get install make"},
      {"g++", "apt-get install g++"},
      {"nextpnr-ecp5", "Debian 12 has no package; build nextpnr with prjtrellis from source"},
      {"ecppack", "Debian 12 has no package; build prjtrellis from source"},
      {"sbatch", "apt-get install slurm-client, and a cluster's slurm.conf"},
      {"scontrol", "apt-get install slurm-client, and a cluster's slurm.conf"},
      {"vivado", "install AMD Vivado and put it on the path"},
  };
  const std::string name = std::filesystem::path(program).filename().string();
  for (const auto& [known, package] : kPackages) {
    if (name == known) return package;
  }
  return "";
}

std::string missing_tools(std::initializer_list<const char*> programs) {
  std::string missing;
  for (const char* program : programs) {
    if (tool_installed(program)) continue;
    missing +=
        fmt::format("{}{} is not installed: {}", missing.empty() ? "" : "; ", program, tool_package(program));
  }
  return missing;
}

std::string last_lines(const std::string& text, int count) {
  std::vector<std::string> lines;
  size_t end = text.size();
  while (end > 0 && int(lines.size()) < count) {
    const size_t newline = text.rfind('\n', end - 1);
    const size_t begin = newline == std::string::npos ? 0 : newline + 1;
    const std::string line = text.substr(begin, end - begin);
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back("  " + line);
    end = newline == std::string::npos ? 0 : newline;
  }
  std::reverse(lines.begin(), lines.end());
  std::string joined;
  for (const std::string& line : lines) joined += (joined.empty() ? "" : "\n") + line;
  return joined;
}

}  // namespace tilewright::synthesis
