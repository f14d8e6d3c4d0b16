#include "fleet.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"

namespace tilewright::tune {

TestFolder::TestFolder(const std::string& name)
    : path_(std::filesystem::temp_directory_path() /
            ("tilewright_fleet_" + std::to_string(::getpid()) + "_" + name)) {
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ExecutorOptions fleet_options(const std::filesystem::path& folder, int workers) {
  ExecutorOptions options;
  options.folder = folder;
  options.worker_command = {TILEWRIGHT_FLEET_WORKER};
  options.workers = workers;
  return options;
}

std::vector<Job> square_jobs(int count, double sleep_s) {
  std::vector<Job> jobs;
  for (int i = 0; i < count; ++i) {
    jobs.push_back({"square-" + std::to_string(i), "square",
                    "{\"value\": " + std::to_string(i) + ", \"sleep_s\": " + std::to_string(sleep_s) + "}",
                    60});
  }
  return jobs;
}

std::map<std::string, JobResult> collect_all(JobExecutor& executor, double patience_s) {
  std::map<std::string, JobResult> all;
  while (executor.pending() > 0) {
    const std::vector<JobResult> some = executor.collect(patience_s);
    if (some.empty()) {
      throw std::runtime_error("no result in time; pending: " + std::to_string(executor.pending()));
    }
    for (const JobResult& result : some) {
      if (!all.emplace(result.id, result).second) throw std::runtime_error(result.id + " came twice");
    }
  }
  return all;
}

std::map<std::string, int> logged(const std::filesystem::path& folder, const std::string& event) {
  std::map<std::string, int> counts;
  std::error_code none_yet;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "logs", none_yet)) {
    std::ifstream file(entry.path());
    for (std::string word, id; file >> word >> id;) counts[id] += word == event;
  }
  return counts;
}

FolderWork work_in(const std::filesystem::path& folder) {
  FolderWork work;
  std::set<std::string> measured;
  for (const auto& [id, times] : logged(folder, "start")) work.begun += times;
  for (const auto& [id, times] : logged(folder, "done")) {
    if (times == 0) continue;
    work.done += times;
    work.repeated += times - 1;
    const auto job = nlohmann::json::parse(read_text_file(folder / "jobs" / (id + ".json")));
    const auto request = nlohmann::json::parse(job.at("request").get<std::string>());
    const std::string layer = request.value("layer", "");
    for (const auto& schedule : request.value("schedules", nlohmann::json::array())) {
      work.repeated += !measured.insert(layer + "\n" + schedule.get<std::string>()).second;
    }
  }
  return work;
}

RecordedResults recorded_results(const std::filesystem::path& database) {
  RecordedResults results;
  const RecordStore store(database, RecordStore::Mode::kRead);
  store.each([&](const Record& r) { results[r.key] = {r.cost, r.failure}; });
  return results;
}

bool wait_until(const std::function<bool()>& condition, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    ::usleep(2000);
  }
  return false;
}

std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos || std::stoi(name) == ::getpid()) continue;
    for (const char* file : {"cmdline", "environ"}) {
      try {
        if (read_text_file(entry.path() / file).find(text) == std::string::npos) continue;
      } catch (const Error&) {  // it has just ended
        continue;
      }
      found.push_back(std::stoi(name));
      break;
    }
  }
  return found;
}

pid_t fork_coordinator(const std::function<void()>& body) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "coordinator: %s\n", error.what());
    ::_exit(1);
  }
  ::_exit(0);
}

bool all_end_within(const std::string& text, double seconds) {
  return wait_until([&] { return processes_with(text).empty(); }, seconds);
}

}  // namespace tilewright::tune
