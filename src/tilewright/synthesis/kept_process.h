// A program that ends together with its starter, however the starter ends: a small process, the keeper, sits
// between the two. It sees the starter's end of a pipe close, which the kernel does after SIGKILL too, and
// then kills the program's process group; when the program ends, it kills whatever the program left running.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tilewright::synthesis {

class KeptProcess {
 public:
  // Starts `program` (a path, or a name that is looked up like in a shell) in its own process group:
  // standard input is empty, both output streams go to the descriptor `output`. Empty folder: the caller's.
  // `variables`, each NAME=value, replace the caller's in its environment.
  // If it cannot be started, failure() is the errno and wait() returns at once.
  KeptProcess(const std::string& program, const std::vector<std::string>& arguments,
              const std::filesystem::path& folder, int output,
              const std::vector<std::string>& variables = {});
  KeptProcess(const KeptProcess&) = delete;
  KeptProcess& operator=(const KeptProcess&) = delete;
  ~KeptProcess();

  int failure() const { return failure_; }
  // Kills the program with everything it started.
  void stop();
  // The exit code; 128 + signal number where a signal ended the program.
  int wait();

 private:
  pid_t keeper_ = -1;
  int life_ = -1;  // our end of the keeper's pipe
  int failure_ = 0;
  int exit_code_ = 0;
};

}  // namespace tilewright::synthesis
