#include "slurm_cluster.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "tilewright/synthesis/tool.h"

namespace tilewright::tune {
namespace {

const char* const kScript = TILEWRIGHT_SOURCE_DIR "/tests/tune/slurm_cluster/cluster";

std::string run(const std::string& program, const std::vector<std::string>& arguments) {
  return synthesis::run_tool_checked({program, arguments, {}, 300}).output;
}

}  // namespace

// Short, as the names of sockets in it have a limit.
SlurmCluster::SlurmCluster()
    : folder_(std::filesystem::temp_directory_path() / ("twslurm" + std::to_string(::getpid()))) {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
  // The daemons outlive the script, so that it cannot be run like a tool: those end with their children.
  const std::string log = (folder_ / "start.out").string();
  const int status =
      std::system((std::string(kScript) + " start " + folder_.string() + " > " + log + " 2>&1").c_str());
  const std::string output = run("cat", {log});
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    missing_ = output;
    return;
  }
  if (status != 0) throw std::runtime_error("the cluster did not start: " + output);
  running_ = true;
  ::setenv("SLURM_CONF", (folder_ / "slurm.conf").c_str(), 1);
}

SlurmCluster::~SlurmCluster() {
  stop();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void SlurmCluster::kill_node(const std::string& node) const {
  std::istringstream running(run("squeue", {"--noheader", "--array", "--nodelist=" + node, "--states=RUNNING",
                                            "--Format=JobArrayID:|"}));
  std::set<std::string> lost;
  for (std::string id; std::getline(running, id, '|');) {
    id.erase(0, id.find_first_not_of(" \n"));
    if (!id.empty()) lost.insert(id);
  }
  run(kScript, {"kill-node", folder_.string(), node});
  run("scontrol", {"update", "NodeName=" + node, "State=DOWN", "Reason=killed"});
  for (int tries = 0; tries < 50 && !lost.empty(); ++tries) {
    ::usleep(200000);
    std::istringstream tasks(
        run("squeue", {"--noheader", "--array", "--states=all", "--Format=JobArrayID:|,State:|"}));
    for (std::string id, state; std::getline(tasks, id, '|') && std::getline(tasks, state, '|');) {
      id.erase(0, id.find_first_not_of(" \n"));
      if (lost.count(id) == 0 || state == "RUNNING" || state == "COMPLETING") continue;
      // The begin that Slurm sets two minutes ahead; its reason for waiting is not always there yet.
      if (state == "PENDING") run("scontrol", {"update", "JobId=" + id, "StartTime=now"});
      lost.erase(id);
    }
  }
}

void SlurmCluster::stop() {
  if (std::exchange(running_, false)) run(kScript, {"stop", folder_.string()});
}

}  // namespace tilewright::tune
