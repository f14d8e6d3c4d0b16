// Each change is one more run of the cycle simulator over the whole network; changes run side by side on
// threads. Where layers cannot take a change of schedule, those that the error names get their old one back
// and the rest is tried again.
#include "tilewright/flow/time/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "tilewright/base/parallel.h"

namespace tilewright {
namespace {

using overlay::Schedule;

// The hardware with one thing changed, mostly doubled, and what the change is called.
struct HardwareChange {
  std::string change;
  OverlayHardware hardware;
};

std::vector<HardwareChange> hardware_changes(const OverlayHardware& base) {
  std::vector<HardwareChange> changes;
  const auto add = [&](std::string change, auto&& apply) {
    OverlayHardware hardware = base;
    apply(hardware);
    changes.push_back({std::move(change), std::move(hardware)});
  };
  add(fmt::format("memory port of {} bits", 2 * base.memory_width_bits),
      [](OverlayHardware& h) { h.memory_width_bits *= 2; });
  const auto add_buffer = [&](const char* name, int64_t OverlayHardware::*bytes) {
    add(fmt::format("{} buffer of {} KiB", name, base.*bytes * 2 / 1024),
        [&](OverlayHardware& h) { h.*bytes *= 2; });
  };
  add_buffer("input", &OverlayHardware::input_buffer_bytes);
  add_buffer("weight", &OverlayHardware::weight_buffer_bytes);
  add_buffer("accumulator", &OverlayHardware::accumulator_buffer_bytes);
  add_buffer("micro-op", &OverlayHardware::uop_buffer_bytes);
  add(fmt::format("read queues of {} beats", 2 * base.read_queue_beats),
      [](OverlayHardware& h) { h.read_queue_beats *= 2; });
  add(fmt::format("bursts of {} beats", 2 * base.max_burst_beats),
      [](OverlayHardware& h) { h.max_burst_beats *= 2; });
  add(fmt::format("command queues of {}", 2 * base.command_queue_depth),
      [](OverlayHardware& h) { h.command_queue_depth *= 2; });
  if (base.alu_slices() > 1) {
    add(fmt::format("ALU of {} lanes", 2 * base.alu_lanes), [](OverlayHardware& h) { h.alu_lanes *= 2; });
  }
  if (base.isa == IsaVersion::kWide && !base.gemm_beside_alu) {
    add("GEMM beside the ALU", [](OverlayHardware& h) { h.gemm_beside_alu = true; });
  }
  if (base.isa == IsaVersion::kVta) {
    add("the wide instruction set", [](OverlayHardware& h) { h.isa = IsaVersion::kWide; });
  }
  return changes;
}

// A schedule like `base` with one thing changed, or nothing when there is no such neighbour.
struct ScheduleChange {
  const char* change;
  std::optional<Schedule> (*apply)(const Schedule& base);
};

template <int64_t Schedule::*Size>
std::optional<Schedule> halved(const Schedule& base) {
  if (base.*Size < 2) return std::nullopt;
  Schedule schedule = base;
  schedule.*Size = (base.*Size + 1) / 2;
  return schedule;
}

template <int64_t Schedule::*Size>
std::optional<Schedule> doubled(const Schedule& base) {
  Schedule schedule = base;
  schedule.*Size *= 2;
  return schedule;
}

template <bool Schedule::*Flag>
std::optional<Schedule> flipped(const Schedule& base) {
  Schedule schedule = base;
  schedule.*Flag = !(base.*Flag);
  return schedule;
}

std::optional<Schedule> other_threads(const Schedule& base) {
  Schedule schedule = base;
  schedule.virtual_threads = 3 - base.virtual_threads;
  return schedule;
}

std::optional<Schedule> other_order(const Schedule& base) {
  Schedule schedule = base;
  schedule.order = base.order == overlay::TileOrder::kOutputsInner ? overlay::TileOrder::kOutputsOuter
                                                                   : overlay::TileOrder::kOutputsInner;
  return schedule;
}

constexpr ScheduleChange kScheduleChanges[] = {
    {"another number of threads", other_threads},
    {"the other loop order", other_order},
    {"weights kept or not", flipped<&Schedule::weights_resident>},
    {"inputs kept or not", flipped<&Schedule::inputs_resident>},
    {"half the rows", halved<&Schedule::rows>},
    {"twice the rows", doubled<&Schedule::rows>},
    {"half the columns", halved<&Schedule::cols>},
    {"half the output blocks", halved<&Schedule::out_blocks>},
    {"twice the output blocks", doubled<&Schedule::out_blocks>},
    {"half the input blocks", halved<&Schedule::in_blocks>},
    {"twice the input blocks", doubled<&Schedule::in_blocks>},
};

// "rows 14 -> 7, threads 2 -> 1".
std::string difference(const Schedule& from, const Schedule& to) {
  std::string text;
  const auto compare = [&](const char* name, auto a, auto b) {
    if (a != b) text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", name, a, b);
  };
  const auto order = [](const Schedule& s) {
    return s.order == overlay::TileOrder::kOutputsInner ? "outputs inner" : "outputs outer";
  };
  const auto yes = [](bool flag) { return flag ? "yes" : "no"; };
  compare("rows", from.rows, to.rows);
  compare("columns", from.cols, to.cols);
  compare("output blocks", from.out_blocks, to.out_blocks);
  compare("input blocks", from.in_blocks, to.in_blocks);
  compare("threads", from.virtual_threads, to.virtual_threads);
  compare("order", std::string(order(from)), std::string(order(to)));
  compare("weights kept", std::string(yes(from.weights_resident)), std::string(yes(to.weights_resident)));
  compare("inputs kept", std::string(yes(from.inputs_resident)), std::string(yes(to.inputs_resident)));
  return text;
}

std::string first_problem(const Error& error) {
  const Diagnostic& problem = error.diagnostics().at(0);
  std::string text;
  for (const std::string& part : {problem.where, problem.op, problem.message}) {
    if (!part.empty()) text += (text.empty() ? "" : ": ") + part;
  }
  return text;
}

class Explainer {
 public:
  Explainer(const Bundle& bundle, const MemoryModel& memory) : bundle_(bundle), memory_(memory) {
    explanation_.base = time_network(bundle, memory);
    for (size_t l = 0; l < explanation_.base.layers.size(); ++l) {
      index_[explanation_.base.layers[l].name] = l;
    }
  }

  Explanation run(const ExplainOptions& options) {
    std::vector<std::function<Trial()>> work;
    if (options.try_hardware) {
      for (const HardwareChange& change : hardware_changes(bundle_.hardware)) {
        work.push_back([this, change] { return try_hardware(change); });
      }
    }
    if (options.try_schedules) {
      for (const ScheduleChange& change : kScheduleChanges) {
        work.push_back([this, &change] { return try_schedules(change); });
      }
    }
    std::vector<Trial> trials(work.size());
    parallel_for(options.threads, int64_t(work.size()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) trials[size_t(i)] = work[size_t(i)]();
    });
    explanation_.trials = std::move(trials);
    return std::move(explanation_);
  }

 private:
  size_t layers() const { return explanation_.base.layers.size(); }

  Trial try_hardware(const HardwareChange& change) const {
    Trial trial{change.change, true, "", {}, {}};
    try {
      const NetworkTiming timing = time_network(retarget(bundle_, change.hardware), memory_);
      trial.cycles.assign(layers(), Trial::kNotTried);
      for (const overlay::LayerTiming& layer : timing.layers) {
        const auto found = index_.find(layer.name);
        if (found != index_.end()) trial.cycles[found->second] = layer.cycles();
      }
    } catch (const Error& error) {
      trial.refused = first_problem(error);
    }
    return trial;
  }

  // Every layer whose neighbour fits takes it; the others stay as they are and are not counted.
  Trial try_schedules(const ScheduleChange& change) const {
    Trial trial{change.change, false, "", std::vector<uint64_t>(layers(), Trial::kNotTried),
                std::vector<std::string>(layers())};
    Bundle changed = bundle_;
    std::set<size_t> taken;
    for (size_t l = 0; l < layers(); ++l) {
      const overlay::LayerTiming& layer = explanation_.base.layers[l];
      const std::optional<Schedule> neighbour = change.apply(layer.schedule);
      changed.schedules[layer.name] = neighbour.value_or(layer.schedule);
      if (neighbour) taken.insert(l);
    }
    while (!taken.empty()) {
      try {
        record(time_network(changed, memory_), taken, trial);
        return trial;
      } catch (const Error& error) {
        trial.refused = first_problem(error);
        if (!take_back(error, changed, taken)) return trial;
      }
    }
    if (trial.refused.empty()) trial.refused = "no layer has such a neighbour";
    return trial;
  }

  void record(const NetworkTiming& timing, const std::set<size_t>& taken, Trial& trial) const {
    trial.refused.clear();
    for (const size_t l : taken) {
      const Schedule& before = explanation_.base.layers[l].schedule;
      const Schedule& after = timing.layers[l].schedule;
      if (after == before) continue;  // sizes beyond the layer's are cut to it
      trial.cycles[l] = timing.layers[l].cycles();
      trial.details[l] = difference(before, after);
    }
  }

  // Restores the layers that `error` names; false when it names none.
  bool take_back(const Error& error, Bundle& changed, std::set<size_t>& taken) const {
    const size_t before = taken.size();
    const std::string text = error.what();
    std::erase_if(taken, [&](size_t l) {
      const overlay::LayerTiming& layer = explanation_.base.layers[l];
      if (text.find("'" + layer.name + "'") == std::string::npos) return false;
      changed.schedules[layer.name] = layer.schedule;
      return true;
    });
    return taken.size() < before;
  }

  const Bundle& bundle_;
  const MemoryModel& memory_;
  Explanation explanation_;
  std::map<std::string, size_t> index_;
};

}  // namespace

int64_t Explanation::saved(const Trial& trial, size_t layer) const {
  if (trial.cycles.empty() || trial.cycles[layer] == Trial::kNotTried) return 0;
  return int64_t(base.layers[layer].cycles()) - int64_t(trial.cycles[layer]);
}

int64_t Explanation::saved(const Trial& trial) const {
  int64_t total = 0;
  for (size_t l = 0; l < base.layers.size(); ++l) total += saved(trial, l);
  return total;
}

std::vector<const Trial*> Explanation::best(size_t layer, size_t count, double least_share) const {
  std::vector<const Trial*> found;
  const double least = std::max(1.0, least_share * double(base.layers[layer].cycles()));
  for (const Trial& trial : trials) {
    if (double(saved(trial, layer)) >= least) found.push_back(&trial);
  }
  std::stable_sort(found.begin(), found.end(),
                   [&](const Trial* a, const Trial* b) { return saved(*a, layer) > saved(*b, layer); });
  if (found.size() > count) found.resize(count);
  return found;
}

int64_t Explanation::saved_by_schedules() const {
  int64_t total = 0;
  for (size_t l = 0; l < base.layers.size(); ++l) {
    int64_t most = 0;
    for (const Trial& trial : trials) {
      if (!trial.of_hardware) most = std::max(most, saved(trial, l));
    }
    total += most;
  }
  return total;
}

Explanation explain(const Bundle& bundle, const MemoryModel& memory, const ExplainOptions& options) {
  return Explainer(bundle, memory).run(options);
}

}  // namespace tilewright
