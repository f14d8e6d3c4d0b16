// What the tests of executors have in common: jobs of fleet_worker, logs, processes that are left over.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/tune/fleet/executor.h"
#include "tilewright/tune/records/records.h"

namespace tilewright::tune {

// An empty folder of this test's own, removed at the end.
class TestFolder {
 public:
  explicit TestFolder(const std::string& name);
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

ExecutorOptions fleet_options(const std::filesystem::path& folder, int workers = 2);
// Squares 0 .. count-1, each after `sleep_s`.
std::vector<Job> square_jobs(int count, double sleep_s = 0);
// Everything that comes until nothing is pending, by id; throws when one comes twice or none for
// `patience_s`.
std::map<std::string, JobResult> collect_all(JobExecutor& executor, double patience_s = 60);

// The lines of all worker logs, by the event they begin with: how often each job had it.
std::map<std::string, int> logged(const std::filesystem::path& folder, const std::string& event);

// What the workers of one folder did.
struct FolderWork {
  int begun = 0, done = 0;  // jobs
  int repeated = 0;         // jobs done again, and schedules that stand in several jobs
};
FolderWork work_in(const std::filesystem::path& folder);

// Cost and failure by key, of a database.
using RecordedResults = std::map<TrialKey, std::pair<std::optional<double>, std::string>>;
RecordedResults recorded_results(const std::filesystem::path& database);

bool wait_until(const std::function<bool()>& condition, double seconds);

// A copy of this process that does `body` and ends, with a message and exit code 1 if it throws.
pid_t fork_coordinator(const std::function<void()>& body);

// Running processes that have `text` on their command line or in their environment.
std::vector<pid_t> processes_with(const std::string& text);
// Waits for all of them to end.
bool all_end_within(const std::string& text, double seconds);

}  // namespace tilewright::tune
