// The commands of Slurm that an executor needs: submit an array, list its tasks, cancel it. Arrays are
// identified by names that the caller chooses before submitting them, so none is lost if the caller is killed
// between the submission and the answer.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/tune/fleet/executor.h"

namespace tilewright::tune {

struct SlurmTask {
  std::string array;       // its name
  std::string log_stem;    // "ID_INDEX": the task's part of its log's name (%A_%a)
  int index = 0;           // in the array
  std::string state;       // PENDING, RUNNING, COMPLETED, ...
  int wait_status = 0;     // of the task's script, as waitpid gives it
  bool ended() const;      // will not run again by itself
  bool timed_out() const;  // by the worker's own limit or by Slurm's
};

struct SlurmArray {
  std::string name;
  std::filesystem::path script;
  std::vector<std::string> arguments;  // of the script
  int tasks = 1;
  int at_once = 1;
  double limit_s = 60;
  std::filesystem::path folder;  // working folder of the tasks
  std::filesystem::path log;     // with %A and %a
};

// Errors (unsupported): no sbatch, no controller that answers.
void check_slurm();
// Errors (invalid input): what sbatch says.
void submit_array(const SlurmArray& array, const SlurmOptions& options);
// The tasks of this user's arrays whose names begin with `prefix`, as long as the controller remembers them.
// Errors: the controller does not answer.
std::vector<SlurmTask> list_tasks(const std::string& prefix);
// Nothing to cancel is no error. Errors: the controller does not answer.
void cancel_array(const std::string& name);

}  // namespace tilewright::tune
