// posix_spawn into a process group of its own, so that one kill reaches all that the worker started. Reads
// do not block; what follows the last line break waits for the next call.
#include "tilewright/tune/fleet/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "tilewright/base/error.h"

namespace tilewright::tune {
namespace {

// Standard input and output of the worker are one socket each, since a write to a socket, unlike one to a
// pipe, can be asked not to raise SIGPIPE in the coordinator.
struct Sockets {
  int ends[2] = {-1, -1};
  Sockets() {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("cannot make a socket: {}", std::strerror(errno)));
    }
  }
  ~Sockets() {
    for (const int end : ends) {
      if (end >= 0) ::close(end);
    }
  }
  int release(int k) { return std::exchange(ends[k], -1); }
};

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& command, const std::filesystem::path& folder,
                             const std::filesystem::path& error_log) {
  std::vector<std::string> words = command;
  words.insert(words.end(), {"--folder", folder.string()});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  Sockets input, output;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, input.ends[1], 0);
  ::posix_spawn_file_actions_adddup2(&actions, output.ends[1], 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, error_log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int reason =
      ::posix_spawnp(&process_, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (reason != 0) {
    throw Error(reason == ENOENT ? ErrorKind::kUnsupported : ErrorKind::kInvalidInput,
                fmt::format("cannot start the worker '{}': {}", words[0], std::strerror(reason)));
  }
  input_ = input.release(0);
  output_ = output.release(0);
  ::fcntl(output_, F_SETFL, O_NONBLOCK);
}

WorkerProcess::~WorkerProcess() {
  end();
  ::close(input_);
  ::close(output_);
}

bool WorkerProcess::send(const std::string& id) {
  const std::string line = id + "\n";
  return ::send(input_, line.data(), line.size(), MSG_NOSIGNAL) == ssize_t(line.size());
}

std::vector<std::string> WorkerProcess::receive(bool& ended) {
  char buffer[4096];
  ended = false;
  while (true) {
    const ssize_t got = ::read(output_, buffer, sizeof buffer);
    if (got > 0) {
      partial_.append(buffer, size_t(got));
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    ended = got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    break;
  }
  std::vector<std::string> lines;
  for (size_t newline; (newline = partial_.find('\n')) != std::string::npos;) {
    lines.push_back(partial_.substr(0, newline));
    partial_.erase(0, newline + 1);
  }
  return lines;
}

std::string WorkerProcess::end() {
  if (process_ < 0) return "";
  ::kill(-process_, SIGKILL);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                             : fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace tilewright::tune
