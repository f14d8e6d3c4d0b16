// One worker process of the local executor, seen from the coordinator: ids go in, lines come out, and the
// whole process group can be killed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tilewright::tune {

class WorkerProcess {
 public:
  // `command` without the options that make it serve `folder`. To be called by a thread that lives as long as
  // the worker should: the worker is killed when the thread that started it ends. Errors: (unsupported) no
  // such program, (invalid input) it cannot be started.
  WorkerProcess(const std::vector<std::string>& command, const std::filesystem::path& folder,
                const std::filesystem::path& error_log);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  // What to poll for input.
  int output() const { return output_; }
  // False if the worker does not accept it because it has ended.
  bool send(const std::string& id);
  // The complete lines that came since the last call; sets `ended` when there will be no more.
  std::vector<std::string> receive(bool& ended);
  // Kills it with everything in its process group and waits; says how it ended ("exit code 1", "signal 9").
  std::string end();

 private:
  pid_t process_ = -1;
  int input_ = -1, output_ = -1;
  std::string partial_;
};

}  // namespace tilewright::tune
