// The loopback cluster of tests/tune/slurm_cluster/cluster, for as long as an object of this class lives.
#pragma once

#include <filesystem>
#include <string>

namespace tilewright::tune {

class SlurmCluster {
 public:
  // Starts it in a new folder and points SLURM_CONF of this process to it.
  SlurmCluster();
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;
  ~SlurmCluster();

  // Why there is none here; empty: it runs.
  const std::string& missing() const { return missing_; }
  const std::filesystem::path& folder() const { return folder_; }
  // Kills a node with everything on it, and spares the test Slurm's timeouts: tells the controller that the
  // node is down and that requeued jobs may start now.
  void kill_node(const std::string& node) const;
  // Ends jobs and daemons.
  void stop();

 private:
  std::filesystem::path folder_;
  std::string missing_;
  bool running_ = false;
};

}  // namespace tilewright::tune
