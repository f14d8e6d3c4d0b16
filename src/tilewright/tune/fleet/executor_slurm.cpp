// Jobs as tasks of Slurm's job arrays. What is known lies in the folder: slurm/N.ids lists the jobs of array
// number N, one a line, and is written before the array is submitted; the array's name follows from the
// folder and N. So a new coordinator finds what an earlier one left running, and waits for it instead of
// submitting it again. Results are found in the folder as they come; the controller is asked only for what
// ended without.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/hash.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/tune/fleet/executor.h"
#include "tilewright/tune/fleet/folder_lock.h"
#include "tilewright/tune/fleet/job_folder.h"
#include "tilewright/tune/fleet/slurm.h"
#include "tilewright/tune/fleet/worker.h"

namespace tilewright::tune {
namespace {

using Clock = std::chrono::steady_clock;

// Slurm's default for the largest array.
constexpr size_t kLargestArray = 1000;
// How often in a row a task must be seen ended without a result: its file may come late through a network
// file system, and a task that is about to be requeued is shortly seen as failed.
constexpr int kMissesUntilLost = 3;

struct Done {
  Job job;
  JobResult result;
};

struct Tracked {
  Job job;
  int submissions = 0;
  std::string array;
  int index = 0;
  int misses = 0;
};

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

class SlurmExecutor final : public JobExecutor {
 public:
  SlurmExecutor(const ExecutorOptions& options, SlurmOptions slurm);
  ~SlurmExecutor() override {
    try {
      cancel();
    } catch (const Error&) {  // nobody left to cancel with: the next coordinator adopts what still runs
    }
  }

  void submit(const std::vector<Job>& jobs) override;
  std::vector<JobResult> collect(double wait_s) override;
  size_t pending() const override { return tracked_.size() + done_.size(); }
  void cancel() override;

 private:
  std::filesystem::path ids_file(int number) const { return scripts_ / fmt::format("{}.ids", number); }
  std::string array_name(int number) const { return fmt::format("{}{}", prefix_, number); }
  const Job* known(const std::string& id) const;  // submitted and not collected
  void adopt();
  void write_script() const;
  void submit_arrays(const std::vector<Tracked>& jobs);
  void take_results();
  void ask_controller();
  std::optional<JobResult> ended_without_result(const Tracked& tracked, const SlurmTask* task) const;

  ExecutorOptions options_;
  SlurmOptions slurm_;
  FolderLock lock_;
  JobFolder folder_;
  std::filesystem::path scripts_;
  std::string prefix_;  // of our arrays' names
  int arrays_ = 0;
  std::map<std::string, std::pair<std::string, int>> adopted_;  // by id: array and index of what still runs
  std::map<std::string, Tracked> tracked_;                      // by id
  std::map<std::string, Done> done_;                            // not yet collected
  Clock::time_point last_asked_, last_answer_;
};

SlurmExecutor::SlurmExecutor(const ExecutorOptions& options, SlurmOptions slurm)
    : options_(options),
      slurm_(std::move(slurm)),
      lock_(options.folder, "job folder"),
      folder_(options.folder),
      scripts_(folder_.path() / "slurm"),
      prefix_(
          fmt::format("tilewright-{:016x}-", fnv1a(std::filesystem::canonical(folder_.path()).string()))) {
  check_slurm();
  create_folder(scripts_);
  folder_.sweep();
  write_script();
  adopt();
  last_asked_ = last_answer_ = Clock::now();
}

void SlurmExecutor::write_script() const {
  std::string words;
  for (const std::string& word : options_.worker_command) words += quoted(word) + " ";
  write_text_file_durably(
      scripts_ / "task.sh",
      fmt::format("#!/bin/sh\n"
                  "# A task of an array: the job on its line of the list that is the first argument.\n"
                  "id=$(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" \"$1\")\n"
                  "exec {}--folder {} --job \"$id\" --attempt $((${{SLURM_RESTART_COUNT:-0}} + 1))\n",
                  words, quoted(folder_.path().string())));
}

void SlurmExecutor::adopt() {
  std::map<std::string, std::vector<std::string>> ids;  // by array
  for (const auto& entry : std::filesystem::directory_iterator(scripts_)) {
    if (entry.path().extension() != ".ids") continue;
    const int number = std::atoi(entry.path().stem().c_str());
    arrays_ = std::max(arrays_, number + 1);
    std::istringstream lines(read_text_file(entry.path()));
    for (std::string id; std::getline(lines, id);) ids[array_name(number)].push_back(id);
  }
  for (const SlurmTask& task : list_tasks(prefix_)) {
    const auto array = ids.find(task.array);
    if (task.ended() || array == ids.end() || size_t(task.index) >= array->second.size()) continue;
    adopted_[array->second[size_t(task.index)]] = {task.array, task.index};
  }
}

void SlurmExecutor::submit(const std::vector<Job>& jobs) {
  std::map<std::string, const Job*> fresh;  // by id
  for (const Job& job : jobs) {
    const Job* other = known(job.id);
    if (!other) other = fresh.emplace(job.id, &job).first->second;
    if (same_work(*other, job)) continue;
    throw Error(ErrorKind::kInvalidInput, fmt::format("two different jobs have the id '{}'", job.id));
  }
  std::vector<Tracked> to_submit;
  for (const auto& [id, job] : fresh) {
    const auto running = adopted_.find(id);
    const bool attached = running != adopted_.end() && same_work(folder_.read_job(id), *job);
    folder_.write_job(*job);
    if (std::optional<JobResult> result = folder_.take_over(*job)) {
      done_[id] = {*job, std::move(*result)};
    } else if (attached) {
      tracked_[id] = {*job, 1, running->second.first, running->second.second};
      adopted_.erase(running);
    } else {
      to_submit.push_back({*job});
    }
  }
  submit_arrays(to_submit);
}

const Job* SlurmExecutor::known(const std::string& id) const {
  if (const auto tracked = tracked_.find(id); tracked != tracked_.end()) return &tracked->second.job;
  if (const auto done = done_.find(id); done != done_.end()) return &done->second.job;
  return nullptr;
}

void SlurmExecutor::submit_arrays(const std::vector<Tracked>& jobs) {
  for (size_t begin = 0; begin < jobs.size(); begin += kLargestArray) {
    const size_t end = std::min(jobs.size(), begin + kLargestArray);
    const int number = arrays_++;
    SlurmArray array;
    array.name = array_name(number);
    array.script = scripts_ / "task.sh";
    array.arguments = {ids_file(number).string()};
    array.tasks = int(end - begin);
    array.at_once = std::max(1, options_.workers);
    array.folder = folder_.path();
    array.log = folder_.logs() / "slurm-%A_%a.log";
    std::string ids;
    for (size_t i = begin; i < end; ++i) {
      ids += jobs[i].job.id + "\n";
      array.limit_s = std::max(array.limit_s, jobs[i].job.timeout_s);
    }
    write_text_file_durably(ids_file(number), ids);
    submit_array(array, slurm_);
    for (size_t i = begin; i < end; ++i) {
      const Tracked& job = jobs[i];
      tracked_[job.job.id] = {job.job, job.submissions + 1, array.name, int(i - begin)};
    }
  }
}

std::vector<JobResult> SlurmExecutor::collect(double wait_s) {
  const auto seconds = [](double s) {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(std::clamp(s, 0.0, 1e6)));
  };
  const Clock::time_point deadline = Clock::now() + seconds(wait_s);
  while (true) {
    take_results();
    if (done_.empty() && Clock::now() - last_asked_ >= seconds(slurm_.poll_s)) ask_controller();
    const Clock::time_point now = Clock::now();
    if (!done_.empty() || tracked_.empty() || now >= deadline) break;
    // Looking into the folder costs less than asking the controller.
    std::this_thread::sleep_for(std::min(seconds(std::min(slurm_.poll_s, 0.2)), deadline - now));
  }
  std::vector<JobResult> results;
  for (auto& [id, done] : done_) results.push_back(std::move(done.result));
  done_.clear();
  return results;
}

void SlurmExecutor::take_results() {
  for (auto tracked = tracked_.begin(); tracked != tracked_.end();) {
    std::optional<JobResult> result = folder_.read_result(tracked->second.job);
    if (result) {
      result->attempts += tracked->second.submissions - 1;
      done_[tracked->first] = {tracked->second.job, std::move(*result)};
      tracked = tracked_.erase(tracked);
    } else {
      ++tracked;
    }
  }
}

void SlurmExecutor::ask_controller() {
  last_asked_ = Clock::now();
  std::vector<SlurmTask> tasks;
  try {
    tasks = list_tasks(prefix_);
    last_answer_ = last_asked_;
  } catch (Error& error) {
    const double silent_s = std::chrono::duration<double>(last_asked_ - last_answer_).count();
    if (silent_s < slurm_.patience_s) return;
    error.add_context(fmt::format("Slurm has given no answer for {:.0f} s", silent_s));
    throw;
  }
  std::map<std::pair<std::string, int>, const SlurmTask*> by_place;
  for (const SlurmTask& task : tasks) by_place[{task.array, task.index}] = &task;
  std::vector<Tracked> again;
  for (auto& [id, tracked] : tracked_) {
    const auto place = by_place.find({tracked.array, tracked.index});
    const SlurmTask* task = place == by_place.end() ? nullptr : place->second;
    if (task && !task->ended()) {
      tracked.misses = 0;
    } else if (++tracked.misses >= kMissesUntilLost) {
      if (std::optional<JobResult> result = ended_without_result(tracked, task)) {
        done_[id] = {tracked.job, std::move(*result)};
      } else {
        again.push_back(tracked);
      }
    }
  }
  for (const auto& [id, done] : done_) tracked_.erase(id);
  submit_arrays(again);
}

// Nothing: to be submitted again.
std::optional<JobResult> SlurmExecutor::ended_without_result(const Tracked& tracked,
                                                             const SlurmTask* task) const {
  std::string why = "Slurm no longer knows it, and there is no result";
  JobStatus status = JobStatus::kLost;
  if (task) {
    const std::filesystem::path log = folder_.logs() / fmt::format("slurm-{}.log", task->log_stem);
    const int exit_code = task->wait_status >> 8;
    why = fmt::format("the task ended as {} with exit code {}, signal {}; see '{}'", task->state, exit_code,
                      task->wait_status & 127, log.string());
    try {
      const std::string lines = synthesis::last_lines(read_text_file(log), 3);
      if (!lines.empty()) why += ":\n" + lines;
    } catch (const Error&) {  // there is none
    }
    if (exit_code == kWorkerCannotStore) status = JobStatus::kNotStored;
    if (task->timed_out()) {
      status = JobStatus::kTimedOut;
      why = fmt::format("stopped after its limit of {} s", tracked.job.timeout_s);
    }
  }
  if (status != JobStatus::kNotStored && tracked.submissions < options_.attempts) return {};
  return JobResult{tracked.job.id, status, why, 0, "", tracked.submissions};
}

void SlurmExecutor::cancel() {
  std::set<std::string> arrays;
  for (const auto& [id, tracked] : tracked_) arrays.insert(tracked.array);
  for (const auto& [id, place] : adopted_) arrays.insert(place.first);
  tracked_.clear();
  done_.clear();
  adopted_.clear();
  for (const std::string& array : arrays) cancel_array(array);
  // Cancelling takes the time that Slurm gives processes to end; the wait has an end for nodes that are gone.
  for (int tries = 0; tries < 50 && !arrays.empty(); ++tries) {
    const std::vector<SlurmTask> tasks = list_tasks(prefix_);
    if (std::all_of(tasks.begin(), tasks.end(), [](const SlurmTask& task) { return task.ended(); })) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

}  // namespace

std::unique_ptr<JobExecutor> make_slurm_executor(const ExecutorOptions& options, const SlurmOptions& slurm) {
  return std::make_unique<SlurmExecutor>(options, slurm);
}

}  // namespace tilewright::tune
