// Trials per second (docs/design/tune/trials.md) when tuning C2 to C11 of ResNet-18 on the public default
// overlay (memory port 128 bits), the same number of each layer. The schedules are drawn from each layer's
// space (docs/design/overlay/schedules.md), every valid point with the same probability and none twice;
// drawing is not counted.
//
// timing only: the schedule's lowering to times and their run (ScheduleTimer).
// full: the schedule compiled to instruction bytes and executed with data by the cycle simulator; the cycles
//   of every trial are compared with those of the first kind, the outputs of a seeded 1 % (one of each layer
//   at least) bit for bit with the host's integer execution.
//
// Two threads. A rate is the number of trials by half of the CPU seconds that the threads took, so that it is
// that of two cores to themselves; the wall time of the run stands beside it.
// --quick: a tenth of the trials. usage: trial_rate [--quick] [--hardware NAME] [--memory MODEL]
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "resnet18_layers.h"
#include "support/overlay/data_trial_testing.h"
#include "tilewright/host/executor.h"
#include "tilewright/overlay/measure/schedule_timer.h"
#include "tilewright/overlay/tuning/schedule_space.h"

namespace {

using namespace tilewright;
using namespace tilewright::overlay;

constexpr int kThreads = 2, kCheckedPercent = 1;

struct Bench {
  std::string name;
  OverlayLayer layer;
  std::unique_ptr<ScheduleSpace> space;
  Tensor input, expected;
};

struct Trial {
  const Bench* bench = nullptr;
  KnobSpace::Point point = 0;
  bool checked = false;
  uint64_t cycles = 0;  // without data; 0: failed
};

struct Count {
  std::atomic<int64_t> failed{0}, cycle_differences{0}, checked{0}, mismatches{0};
};

struct Rate {
  double wall_s = 0, cpu_s = 0;
  double per_second(size_t trials) const { return double(trials) / (cpu_s / kThreads); }
};

double thread_cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

// Runs `body(next)` on every thread; `next` hands out trial numbers in order.
template <typename Body>
Rate on_threads(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  Rate rate;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const double from = thread_cpu_seconds();
      std::exception_ptr mine;
      try {
        body(next);
      } catch (...) {
        mine = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      rate.cpu_s += thread_cpu_seconds() - from;
      if (mine != nullptr) error = mine;
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (error != nullptr) std::rethrow_exception(error);
  rate.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return rate;
}

std::vector<Bench> make_benches(const OverlayHardware& hardware, Random& random) {
  std::vector<Bench> benches;
  for (const ResnetLayer& shape : kResnet18Layers) {
    const Graph graph = resnet18_graph(shape, random);
    Bench bench;
    bench.name = shape.name;
    bench.layer = extract_layer(graph, graph.nodes[0], hardware);
    bench.space = std::make_unique<ScheduleSpace>(bench.layer, hardware);
    bench.input = resnet18_input(shape, random);
    bench.expected = run(graph, {bench.input})[0];
    benches.push_back(std::move(bench));
  }
  return benches;
}

// Layer after layer in turn, so that every part of a run has the same mixture.
std::vector<Trial> draw_trials(const std::vector<Bench>& benches, int per_layer, Random& random) {
  std::vector<std::vector<KnobSpace::Point>> points;
  for (const Bench& bench : benches) {
    std::set<KnobSpace::Point> seen;
    std::vector<KnobSpace::Point>& chosen = points.emplace_back();
    while (int(chosen.size()) < per_layer) {
      const std::optional<KnobSpace::Point> point = bench.space->knobs().sample(random);
      if (!point) throw Error(ErrorKind::kInternal, bench.name + ": no valid schedule can be drawn");
      if (seen.insert(*point).second) chosen.push_back(*point);
    }
  }
  std::vector<Trial> trials;
  for (int k = 0; k < per_layer; ++k) {
    for (size_t b = 0; b < benches.size(); ++b) {
      const bool checked = k == 0 || random.between(1, 100) <= kCheckedPercent;
      trials.push_back({&benches[b], points[b][size_t(k)], checked});
    }
  }
  return trials;
}

// The tilings of a space are those of its copy of the layer.
const OverlayLayer& layer_of(const Bench& bench) { return bench.space->forms().original().layer; }

Rate time_without_data(std::vector<Trial>& trials, const OverlayHardware& hardware, const MemoryModel& memory,
                       Count& count) {
  return on_threads([&](std::atomic<size_t>& next) {
    ScheduleTimer timer(hardware, memory);
    for (size_t i = next++; i < trials.size(); i = next++) {
      Trial& trial = trials[i];
      try {
        trial.cycles = timer.cycles(trial.bench->space->tiling(trial.point));
      } catch (const Error& error) {
        ++count.failed;
        std::printf("%s %s: %s\n", trial.bench->name.c_str(),
                    trial.bench->space->knobs().print(trial.point).c_str(), error.what());
      }
    }
  });
}

Rate run_with_data(const std::vector<Bench>& benches, const std::vector<Trial>& trials,
                   const OverlayHardware& hardware, const MemoryModel& memory, Count& count) {
  return on_threads([&](std::atomic<size_t>& next) {
    std::vector<std::unique_ptr<DataTrial>> runs;
    for (const Bench& bench : benches) {
      runs.push_back(
          std::make_unique<DataTrial>(layer_of(bench), hardware, memory, std::vector<Tensor>{bench.input}));
    }
    for (size_t i = next++; i < trials.size(); i = next++) {
      const Trial& trial = trials[i];
      DataTrial& data = *runs[size_t(trial.bench - benches.data())];
      if (trial.cycles == 0) continue;
      count.cycle_differences += data.run(trial.bench->space->tiling(trial.point)) != trial.cycles;
      if (!trial.checked) continue;
      ++count.checked;
      count.mismatches += !data.output().identical(trial.bench->expected);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  int per_layer = 400;
  std::string name = "vta-default", model = "fixed";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) per_layer /= 10;
    if (std::strcmp(argv[i], "--hardware") == 0 && i + 1 < argc) name = argv[++i];
    if (std::strcmp(argv[i], "--memory") == 0 && i + 1 < argc) model = argv[++i];
  }
  OverlayHardware hardware = find_overlay_hardware(name, TILEWRIGHT_SOURCE_DIR "/hardware");
  hardware.memory_width_bits = 128;
  const MemoryModel memory = find_memory_model(model);
  Random random(7);
  const std::vector<Bench> benches = make_benches(hardware, random);
  std::vector<Trial> trials = draw_trials(benches, per_layer, random);
  Count count;
  const Rate timing = time_without_data(trials, hardware, memory, count);
  std::printf("timing only: %zu trials, %.0f/s (%.2f s of CPU, %.2f s)\n", trials.size(),
              timing.per_second(trials.size()), timing.cpu_s, timing.wall_s);
  const Rate full = run_with_data(benches, trials, hardware, memory, count);
  double cycles = 0;
  for (const Trial& trial : trials) cycles += double(trial.cycles);
  std::printf("with data: %zu trials of %.0f cycles, %.0f/s (%.2f s of CPU, %.2f s)\n", trials.size(),
              cycles / double(trials.size()), full.per_second(trials.size()), full.cpu_s, full.wall_s);
  const bool good = count.failed == 0 && count.cycle_differences == 0 && count.mismatches == 0 &&
                    count.checked >= int64_t(benches.size());
  std::printf(
      "{\"figure\": \"trial_rate\", \"trials_per_s\": %.0f, \"timing_trials_per_s\": %.0f, "
      "\"wall_trials_per_s\": %.0f, \"wall_timing_trials_per_s\": %.0f, \"threads\": %d, \"layers\": %zu, "
      "\"trials\": %zu, \"failed\": %lld, \"cycle_differences\": %lld, \"checked\": %lld, \"mismatches\": "
      "%lld}\n",
      full.per_second(trials.size()), timing.per_second(trials.size()), double(trials.size()) / full.wall_s,
      double(trials.size()) / timing.wall_s, kThreads, benches.size(), trials.size(), (long long)count.failed,
      (long long)count.cycle_differences, (long long)count.checked, (long long)count.mismatches);
  return good ? 0 : 1;
}
