// The keeper is a forked copy of the caller that never returns into its code. Between fork and exec only
// async-signal-safe calls are made, as other threads may hold any lock. The keeper closes every descriptor it
// does not need: a copy of another keeper's pipe or of a lock file would keep that one open.
#include "tilewright/synthesis/kept_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "tilewright/base/error.h"

namespace tilewright::synthesis {
namespace {

// What the processes between the caller and the program need; made before the first fork.
struct Start {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const char* folder;        // null: the caller's
  int output, life, report;  // all above the standard streams
};

[[noreturn]] void cannot(const char* what) {
  throw Error(ErrorKind::kInvalidInput, fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

// A copy of a descriptor, above the standard streams even where the caller has closed those: they are what
// the program's are made of.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(::fcntl(fd, F_DUPFD_CLOEXEC, 3)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

struct ProcessPipe {
  std::optional<Descriptor> read, write;
  ProcessPipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) cannot("make a pipe");
    read.emplace(ends[0]);
    write.emplace(ends[1]);
    ::close(ends[0]);
    ::close(ends[1]);
    if (read->get() < 0 || write->get() < 0) cannot("make a pipe");
  }
};

[[noreturn]] void give_up(int report, int reason) {
  const ssize_t ignored = ::write(report, &reason, sizeof reason);
  (void)ignored;
  ::_exit(127);
}

[[noreturn]] void become_program(const Start& start, pid_t keeper, const sigset_t& mask) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != keeper) ::_exit(127);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (start.folder && ::chdir(start.folder) != 0) give_up(start.report, errno);
  ::execvpe(start.program, start.arguments, start.environment);
  give_up(start.report, errno);
}

bool close_all_but(int life, int report) {
  const unsigned low = unsigned(std::min(life, report)), high = unsigned(std::max(life, report));
  return (low == 3 || ::close_range(3, low - 1, 0) == 0) &&
         (high == low + 1 || ::close_range(low + 1, high - 1, 0) == 0) &&
         ::close_range(high + 1, ~0U, 0) == 0;
}

bool lead_streams(int output) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  return nothing >= 0 && ::dup2(nothing, 0) == 0 && ::dup2(output, 1) == 1 && ::dup2(output, 2) == 2;
}

// Until the program has ended or the pipe is closed; then nothing of the program's group is left.
int guard(pid_t program, int life, const sigset_t& waiting) {
  while (true) {
    siginfo_t ended{};
    if (::waitid(P_PID, id_t(program), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == program) {
      break;
    }
    pollfd closed{life, POLLIN, 0};
    if (::ppoll(&closed, 1, nullptr, &waiting) > 0) break;
  }
  // Not waited for yet, so the group's number cannot belong to somebody else.
  ::kill(-program, SIGKILL);
  int status = 0;
  while (::waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void nothing_to_do(int) {}

[[noreturn]] void keep(const Start& start) {
  ::setpgid(0, 0);
  if (!lead_streams(start.output) || !close_all_but(start.life, start.report)) give_up(start.report, errno);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  struct sigaction wake {};
  wake.sa_handler = nothing_to_do;
  ::sigaction(SIGCHLD, &wake, nullptr);
  sigset_t child, before;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, &before);
  const pid_t keeper = ::getpid();
  const pid_t program = ::fork();
  if (program < 0) give_up(start.report, errno);
  if (program == 0) become_program(start, keeper, before);
  ::setpgid(program, program);
  ::close(start.report);
  sigset_t waiting = before;
  ::sigdelset(&waiting, SIGCHLD);
  ::_exit(guard(program, start.life, waiting));
}

// The caller's environment without the variables that `given`, each NAME=value, sets.
std::vector<char*> other_variables(const std::vector<std::string>& given) {
  std::vector<char*> others;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable), name = text.substr(0, text.find('=') + 1);
    if (std::none_of(given.begin(), given.end(), [&](const std::string& g) { return g.starts_with(name); }))
      others.push_back(*variable);
  }
  return others;
}

}  // namespace

KeptProcess::KeptProcess(const std::string& program, const std::vector<std::string>& arguments,
                         const std::filesystem::path& folder, int output,
                         const std::vector<std::string>& variables) {
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  std::vector<char*> environment = other_variables(variables);
  for (const std::string& variable : variables) environment.push_back(const_cast<char*>(variable.c_str()));
  environment.push_back(nullptr);
  ProcessPipe life, report;
  const Descriptor streams(output);
  if (streams.get() < 0) cannot("copy a descriptor");
  const Start start{
      program.c_str(), words.data(),     environment.data(), folder.empty() ? nullptr : folder.c_str(),
      streams.get(),   life.read->get(), report.write->get()};
  keeper_ = ::fork();
  if (keeper_ == 0) keep(start);
  if (keeper_ < 0) failure_ = errno;
  life_ = life.write->release();
  report.write->close();
  int reason = 0;
  ssize_t got;
  while ((got = ::read(report.read->get(), &reason, sizeof reason)) < 0 && errno == EINTR) {
  }
  if (got == sizeof reason) failure_ = reason;
}

KeptProcess::~KeptProcess() {
  stop();
  wait();
}

void KeptProcess::stop() {
  if (life_ >= 0) ::close(std::exchange(life_, -1));
}

int KeptProcess::wait() {
  if (keeper_ < 0) return exit_code_;
  int status = 0;
  while (::waitpid(keeper_, &status, 0) < 0 && errno == EINTR) {
  }
  keeper_ = -1;
  return exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tilewright::synthesis
