// Jobs on a Slurm cluster of two nodes on this machine, one of which is killed with everything on it while it
// works; the answers are compared with those of local workers.
#include "slurm_cluster.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>

#include "fleet.h"
#include "quick_main.h"

namespace tilewright::tune {
namespace {

std::map<std::string, JobResult> run_jobs(JobExecutor& executor, const std::vector<Job>& jobs) {
  executor.submit(jobs);
  return collect_all(executor, 300);
}

bool same_answers(const std::map<std::string, JobResult>& a, const std::map<std::string, JobResult>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
           return x.first == y.first && x.second.status == JobStatus::kDone &&
                  y.second.status == JobStatus::kDone && x.second.reply == y.second.reply;
         });
}

int run(bool quick) {
  const int job_count = quick ? 8 : 80;
  const std::vector<Job> jobs = square_jobs(job_count, 1);
  SlurmCluster cluster;
  if (!cluster.missing().empty()) {
    fmt::print("{}\n", cluster.missing());
    return 1;
  }
  const TestFolder folder("slurm_figure"), local_folder("local_figure");
  const auto start = std::chrono::steady_clock::now();
  std::map<std::string, JobResult> results;
  {
    SlurmOptions options;
    options.poll_s = 0.5;
    const auto executor = make_slurm_executor(fleet_options(folder.path(), 4), options);
    executor->submit(jobs);
    while (logged(folder.path(), "start").size() < 4) ::usleep(50000);
    cluster.kill_node("tw1");
    results = collect_all(*executor, 300);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  int requeued = 0;
  for (const auto& [id, result] : results) requeued += result.attempts > 1;
  const int repeated = work_in(folder.path()).repeated;
  const std::map<std::string, JobResult> local =
      run_jobs(*make_local_executor(fleet_options(local_folder.path())), square_jobs(job_count));
  const bool same = same_answers(results, local);
  cluster.stop();
  const bool gone = all_end_within(cluster.folder().string(), 20);
  fmt::print(
      "{} jobs in {:.0f} s, {} requeued from the killed node, {} repeated, answers {} those of local "
      "workers\n",
      results.size(), seconds, requeued, repeated, same ? "are" : "are NOT");
  fmt::print(
      "{{\"figure\": \"slurm_cluster\", \"jobs\": {}, \"requeued\": {}, \"repeated\": {}, \"same_answer\": "
      "{}, "
      "\"seconds\": {:.1f}, \"processes_left\": {}}}\n",
      results.size(), requeued, repeated, same, seconds, !gone);
  return results.size() == jobs.size() && requeued > 0 && repeated == 0 && same && gone ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::tune

int main(int argc, char** argv) {
  return tilewright::quick_main("slurm_cluster", tilewright::tune::run, argc, argv);
}
