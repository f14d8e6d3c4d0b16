#include "crash_runs.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <utility>

#include "fleet.h"
#include "study_search.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/flow/explore/jobs.h"
#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tilewright/tune/fleet/remote_problem.h"
#include "tilewright/tune/records/recorded_problem.h"

namespace tilewright::tune {
namespace {

using Path = std::filesystem::path;

// A 3x3 convolution of 14x14 pixels and 64 channels.
overlay::OverlayLayer small_layer(const OverlayHardware& hardware) {
  constexpr int64_t kChannels = 64, kSize = 14;
  Graph graph;
  const ValueId x = graph.add_input("x", ElementType::kI8, Shape{1, kChannels, kSize, kSize});
  const ValueId w = graph.add_constant("w", Tensor(ElementType::kI8, Shape{kChannels, kChannels, 3, 3}));
  const ValueId b = graph.add_constant("b", Tensor(ElementType::kI32, Shape{kChannels}));
  const ValueId m = graph.add_constant("m", Tensor::of<int32_t>(Shape{1}, {1}));
  const ValueId s = graph.add_constant("s", Tensor::of<int32_t>(Shape{1}, {10}));
  const ValueId y = graph.add_value("y", ElementType::kI8, Shape{1, kChannels, kSize, kSize});
  Node& node = graph.add_node("conv", "QConv", {x, w, b, m, s}, {y}, kTilewrightDomain);
  node.attributes["strides"] = std::vector<int64_t>{1, 1};
  node.attributes["pads"] = std::vector<int64_t>(4, 1);
  node.attributes["clip_low"] = int64_t{0};
  graph.outputs = {y};
  return overlay::overlay_layers(graph, std::vector<NodeId>{0}, hardware).at(0);
}

ExecutorOptions study_options(const Path& folder) {
  ExecutorOptions options = fleet_options(folder / "jobs");
  options.worker_command = {TILEWRIGHT_COMMAND, "worker"};
  options.attempts = 100;  // more than the same job can be killed by chance
  return options;
}

// The tuning run: the same trials in the same order whoever measures them. `executor` null: this process.
void run_study(const Path& database, uint64_t seed, JobExecutor* executor) {
  const OverlayHardware hardware =
      find_overlay_hardware("vta-default", Path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  const overlay::OverlayLayer layer = small_layer(hardware);
  overlay::ScheduleProblem local(layer, hardware);
  const auto text = [&](KnobSpace::Point p) {
    return overlay::print_schedule(local.schedules().schedule(p));
  };
  std::unique_ptr<RemoteProblem> remote;
  if (executor) {
    RemoteMeasurement measurement;
    measurement.points_per_job = 4;
    measurement.request = [&](const std::vector<KnobSpace::Point>& points) {
      std::vector<std::string> schedules;
      for (const KnobSpace::Point p : points) schedules.push_back(text(p));
      return measure_request(layer, hardware, {}, schedules);
    };
    remote = std::make_unique<RemoteProblem>(local, *executor, measurement);
  }
  RecordStore store(database, RecordStore::Mode::kWrite);
  TuningProblem& measured = remote ? static_cast<TuningProblem&>(*remote) : local;
  RecordedProblem recorded(
      measured, {overlay::workload_text(layer), overlay::hardware_text(hardware, {}), overlay::kTimingTool},
      text, store, [] { return 0; });
  search_study(recorded, seed);
}

template <typename Map>
int differences(const Map& expected, const Map& found) {
  int count = 0;
  for (const auto& [key, value] : expected) {
    const auto other = found.find(key);
    count += other == found.end() || other->second != value;
  }
  for (const auto& [key, value] : found) count += expected.count(key) == 0;
  return count;
}

void count_work(const Path& jobs, CrashCount& count) {
  const FolderWork work = work_in(jobs);
  count.begun += work.begun;
  count.done += work.done;
  count.repeated += work.repeated;
}

void sleep_s(double seconds) { ::usleep(useconds_t(seconds * 1e6)); }

// Whether `process` ended by itself within the time; it must not have failed.
bool ended_within(pid_t process, double seconds) {
  for (double waited = 0;; waited += 0.01) {
    int status = 0;
    if (::waitpid(process, &status, WNOHANG) == process) {
      if (status != 0) throw std::runtime_error(fmt::format("the coordinator failed (status {})", status));
      return true;
    }
    if (waited >= seconds) return false;
    sleep_s(0.01);
  }
}

void kill_coordinator(pid_t process, const Path& folder, CrashCount& count) {
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  ++count.kills;
  if (!all_end_within(folder.string(), 10)) count.orphans += int(processes_with(folder.string()).size());
}

// Of the processes with `folder` on their command line or in their environment, those whose program is called
// `name`.
std::vector<pid_t> programs_with(const Path& folder, const std::string& name) {
  std::vector<pid_t> found;
  for (const pid_t process : processes_with(folder.string())) {
    try {
      if (read_text_file(fmt::format("/proc/{}/comm", process)) == name + "\n") found.push_back(process);
    } catch (const Error&) {  // it has just ended
    }
  }
  return found;
}

// Kills one of the named programs at a time until `kills` are reached or `stop` is set.
void kill_programs(const Path& folder, const std::string& name, double longest_pause_s, int kills,
                   Random& random, const std::atomic<bool>& stop, CrashCount& count) {
  while (!stop && count.kills < kills) {
    sleep_s(0.05 + random.uniform() * longest_pause_s);
    const std::vector<pid_t> processes = programs_with(folder, name);
    if (stop || processes.empty()) continue;
    const pid_t victim = processes[size_t(random.between(0, int64_t(processes.size()) - 1))];
    count.kills += ::kill(victim, SIGKILL) == 0;
  }
}

// Runs `work` in a thread while `disturb` runs here, which is told when the work is over.
void disturbed(const std::function<void()>& work,
               const std::function<void(const std::atomic<bool>&)>& disturb) {
  std::atomic<bool> over{false};
  std::exception_ptr failure;
  std::thread thread([&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    over = true;
  });
  disturb(over);
  thread.join();
  if (failure) std::rethrow_exception(failure);
}

void compare_study(const Path& folder, uint64_t seed, CrashCount& count) {
  run_study(folder / "undisturbed.db", seed, nullptr);
  const RecordedResults expected = recorded_results(folder / "undisturbed.db");
  count.results += int(expected.size());
  count.lost += differences(expected, recorded_results(folder / "tune.db"));
  count_work(folder / "jobs", count);
}

std::vector<Job> synthesis_jobs(const Path& folder, int first_width) {
  std::vector<Job> jobs;
  for (int width = first_width; width < first_width + 6; ++width) {
    jobs.push_back({fmt::format("mac-{}", width), "synthesize",
                    nlohmann::json{{"folder", folder.string()}, {"width", width}}.dump(), 300});
  }
  return jobs;
}

std::map<std::string, std::string> synthesize(const Path& folder, int first_width) {
  ExecutorOptions options = fleet_options(folder);
  options.attempts = 100;
  const auto executor = make_local_executor(options);
  executor->submit(synthesis_jobs(folder, first_width));
  std::map<std::string, std::string> replies;
  for (const auto& [id, result] : collect_all(*executor, 300)) {
    replies[id] = result.status == JobStatus::kDone ? result.reply : "no result: " + result.reply;
  }
  return replies;
}

}  // namespace

CrashCount kill_coordinators(int kills, uint64_t seed) {
  CrashCount count;
  Random random(seed);
  for (int study = 0; count.kills < kills; ++study) {
    const TestFolder folder(fmt::format("coordinators_{}", study));
    const auto start = [&] {
      return fork_coordinator([&] {
        const auto executor = make_local_executor(study_options(folder.path()));
        run_study(folder.path() / "tune.db", seed + uint64_t(study), executor.get());
      });
    };
    for (bool ended = false; !ended;) {
      const pid_t process = start();
      ended = ended_within(process, count.kills < kills ? 0.05 + random.uniform() : 600);
      if (!ended) kill_coordinator(process, folder.path(), count);
    }
    compare_study(folder.path(), seed + uint64_t(study), count);
  }
  return count;
}

CrashCount kill_workers(int kills, uint64_t seed) {
  CrashCount count;
  Random random(seed);
  for (int study = 0; count.kills < kills; ++study) {
    const TestFolder folder(fmt::format("workers_{}", study));
    disturbed(
        [&] {
          const auto executor = make_local_executor(study_options(folder.path()));
          run_study(folder.path() / "tune.db", seed + uint64_t(study), executor.get());
        },
        [&](const std::atomic<bool>& over) {
          kill_programs(folder.path(), "tilewright", 0.4, kills, random, over, count);
        });
    if (!all_end_within(folder.path().string(), 10)) {
      count.orphans += int(processes_with(folder.path().string()).size());
    }
    compare_study(folder.path(), seed + uint64_t(study), count);
  }
  return count;
}

CrashCount kill_tools(int kills, uint64_t seed) {
  CrashCount count;
  Random random(seed);
  for (int width = 6; count.kills < kills; width += 6) {
    const TestFolder folder(fmt::format("tools_{}", width)), undisturbed(fmt::format("whole_{}", width));
    std::map<std::string, std::string> found;
    disturbed([&] { found = synthesize(folder.path(), width); },
              [&](const std::atomic<bool>& over) {
                kill_programs(folder.path(), "yosys", 0.6, kills, random, over, count);
              });
    if (!all_end_within(folder.path().string(), 10)) {
      count.orphans += int(processes_with(folder.path().string()).size());
    }
    count.results += int(found.size());
    count.lost += differences(synthesize(undisturbed.path(), width), found);
    count_work(folder.path(), count);
  }
  return count;
}

}  // namespace tilewright::tune
