// Layers of one shape are tuned once, alone. The schedule that the bundle has is the first trial where the
// space contains it. In the network a layer's first loads overlap what ends the layer before, so the fastest
// alone need not be the fastest there: the best few of each shape are timed in the network, and one of them
// is taken only if the network gets faster. Tuning never makes it slower.
#include "tilewright/flow/tune/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <set>

#include "tilewright/base/words/nearest_word.h"
#include "tilewright/flow/explore/jobs.h"
#include "tilewright/overlay/measure/schedule_timer.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tilewright/search/models/boosted_cost_model.h"
#include "tilewright/search/models/tree_gru_model.h"
#include "tilewright/tune/fleet/remote_problem.h"
#include "tilewright/tune/records/recorded_problem.h"

namespace tilewright {
namespace {

using overlay::Schedule;
using overlay::ScheduleProblem;

TuningMethod tuning_method(const std::string& search) {
  static const std::map<std::string, TuningMethod> kMethods = {{"random", TuningMethod::kRandom},
                                                               {"annealing", TuningMethod::kAnnealing},
                                                               {"evolution", TuningMethod::kEvolution},
                                                               {"gbt", TuningMethod::kGuided},
                                                               {"treegru", TuningMethod::kGuided}};
  const auto known = kMethods.find(search);
  if (known != kMethods.end()) return known->second;
  throw Error(ErrorKind::kInvalidInput, "there is no search '" + search + "'",
              words_hint(search, {"random", "annealing", "evolution", "gbt", "treegru"}, "choose one of"));
}

struct Candidate {
  Schedule schedule;
  double cycles = 0;  // alone
};

struct Shape {
  overlay::OverlayLayer layer;  // the first of its shape
  TunedLayer tuned;
  std::vector<Candidate> candidates;  // faster than before, the fastest first

  double gain() const {
    if (candidates.empty()) return 0;
    return double(tuned.count()) * (tuned.before_cycles - candidates.front().cycles);
  }
};

// The distinct layers of the bundle's overlay programs, in their order; those on tokens keep their schedules.
std::vector<Shape> distinct_layers(const Bundle& bundle) {
  std::vector<Shape> shapes;
  std::map<std::string, size_t> known;
  for (const PartitionStep& step : bundle.steps()) {
    if (step.on_host()) continue;
    for (overlay::OverlayLayer& layer : overlay::overlay_layers(bundle.graph, step.nodes, bundle.hardware)) {
      // A layer as text, which a fleet measures, says nothing of computed weights and rows.
      if (layer.computed || layer.rows) continue;
      const auto [at, fresh] = known.emplace(overlay::workload_text(layer), shapes.size());
      if (fresh) {
        Shape shape;
        shape.tuned.op = layer.op;
        shape.tuned.macs = layer.macs;
        shape.tuned.before = bundle.schedules.at(layer.name);
        shape.tuned.names = {layer.name};
        shape.layer = std::move(layer);
        shapes.push_back(std::move(shape));
      } else {
        shapes[at->second].tuned.names.push_back(layer.name);
      }
    }
  }
  return shapes;
}

// Only what `names` asks for. Errors: one of them is no layer on the overlay.
void keep_named(std::vector<Shape>& shapes, const std::vector<std::string>& names) {
  if (names.empty()) return;
  Diagnostics problems;
  std::vector<std::string> known;
  for (const Shape& shape : shapes)
    known.insert(known.end(), shape.tuned.names.begin(), shape.tuned.names.end());
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    problems.error(ErrorKind::kInvalidInput, "layers", name, "is not a layer that runs on the overlay",
                   did_you_mean(name, known) + "'tilewright report' lists them");
  }
  problems.raise_if_any();
  const std::set<std::string> wanted(names.begin(), names.end());
  std::erase_if(shapes, [&](const Shape& shape) {
    const std::vector<std::string>& all = shape.tuned.names;
    return std::none_of(all.begin(), all.end(), [&](const std::string& n) { return wanted.count(n) > 0; });
  });
}

class NetworkTuner {
 public:
  NetworkTuner(const NetworkTuneOptions& options,
               const std::function<bool(const NetworkTuneProgress&)>& watcher)
      : options_(options),
        watcher_(watcher),
        method_(tuning_method(options.search)),
        deadline_(Deadline::kNoLimit, options.deadline) {}

  NetworkTuning run(Bundle bundle) {
    NetworkTuning tuning;
    if (!finishes(deadline_, [&] { tuning.before = time_network(bundle, options_.memory, &deadline_); })) {
      throw Error(ErrorKind::kInfeasible, "time ran out before the unchanged bundle had been timed",
                  "give it more time");
    }
    // Where the bundle says nothing of a layer, it runs with the default schedule.
    for (const overlay::LayerTiming& layer : tuning.before.layers)
      bundle.schedules.emplace(layer.name, layer.schedule);
    const double timing_s = deadline_.seconds();
    std::vector<Shape> shapes = distinct_layers(bundle);
    keep_named(shapes, options_.layers);
    if (options_.search == "gbt") model_ = std::make_unique<BoostedCostModel>();
    if (options_.search == "treegru") model_ = std::make_unique<TreeGruModel>();
    progress_.layers = shapes.size();
    search_layers(shapes, bundle.hardware, tuning.before, timing_s);
    tuning.after = settle(bundle, tuning.before, shapes);
    for (Shape& shape : shapes) tuning.layers.push_back(std::move(shape.tuned));
    tuning.bundle = std::move(bundle);
    tuning.seconds = deadline_.seconds();
    tuning.ending = deadline_.expired() ? deadline_.ending() : cut_short_;
    return tuning;
  }

 private:
  // Each layer on an equal part of the time that is left. Some of it is kept for settle(), where the network
  // is timed again and again: once per layer, but at most half of all.
  void search_layers(std::vector<Shape>& shapes, const OverlayHardware& hardware, const NetworkTiming& before,
                     double timing_s) {
    const double left = deadline_.left(), settling = std::min(left / 2, timing_s * double(shapes.size() + 1));
    const Deadline searching(deadline_.limited() ? left - settling : Deadline::kNoLimit, &deadline_);
    for (Shape& shape : shapes) {
      const Deadline part(searching.left() / double(shapes.size() - progress_.layer), &searching);
      TunedLayer& tuned = shape.tuned;
      if (!stopped_) finishes(part, [&] { tune_layer(shape, hardware, part); });
      if (tuned.after_cycles == 0) leave_as_is(tuned, before);
      if (part.expired()) cut_short_ = part.ending();
      ++progress_.layer;
    }
  }

  // A layer that the search did not come to: its cycles are those that it took in the network.
  static void leave_as_is(TunedLayer& tuned, const NetworkTiming& before) {
    tuned.after = tuned.before;
    for (const overlay::LayerTiming& layer : before.layers) {
      if (layer.name == tuned.names.front())
        tuned.before_cycles = tuned.after_cycles = double(layer.cycles());
    }
  }

  void tune_layer(Shape& shape, const OverlayHardware& hardware, const Deadline& deadline) {
    TunedLayer& tuned = shape.tuned;
    ScheduleProblem problem(shape.layer, hardware, options_.memory, options_.threads, &deadline);
    tuned.bound_cycles = overlay::forms_bound(problem.schedules().forms(), hardware, options_.memory);
    tuned.before_cycles = cycles(shape.layer, hardware, tuned.before, deadline);
    tuned.after = tuned.before;
    tuned.after_cycles = tuned.before_cycles;
    texts_ = {overlay::workload_text(shape.layer), overlay::hardware_text(hardware, options_.memory),
              overlay::kTimingTool};
    progress_.name = tuned.names.front();
    progress_.before_cycles = tuned.before_cycles;
    progress_.bound_cycles = tuned.bound_cycles;

    TuningOptions options;
    options.method = method_;
    options.trials = options_.trials;
    options.batch = options_.batch;
    options.seed = options_.seed;
    options.threads = options_.threads;
    options.model = model_.get();
    options.stop_at = tuned.bound_cycles;
    options.deadline = &deadline;
    if (const auto point = problem.schedules().point(tuned.before)) {
      options.start = {*point};
    } else {
      tuned.in_space = false;
    }
    if (model_ && !earlier_.empty()) model_->transfer(earlier_);
    tuned.result = search(shape.layer, problem, options);
    if (model_) remember(problem, tuned.result);
    for (const Measurement& trial : best_trials(tuned.result)) {
      if (*trial.cost >= tuned.before_cycles) break;
      shape.candidates.push_back({problem.schedules().schedule(trial.point), *trial.cost});
    }
  }

  // Takes for each shape, those that gain most first, the candidate with which the network is fastest.
  NetworkTiming settle(Bundle& bundle, const NetworkTiming& before, std::vector<Shape>& shapes) const {
    NetworkTiming best = before;
    std::vector<Shape*> order;
    for (Shape& shape : shapes) order.push_back(&shape);
    std::stable_sort(order.begin(), order.end(),
                     [](const Shape* a, const Shape* b) { return a->gain() > b->gain(); });
    for (Shape* shape : order) {
      TunedLayer& tuned = shape->tuned;
      for (const Candidate& candidate : shape->candidates) {
        for (const std::string& name : tuned.names) bundle.schedules[name] = candidate.schedule;
        NetworkTiming timing;
        if (!finishes(deadline_, [&] { timing = time_network(bundle, options_.memory, &deadline_); })) break;
        if (timing.cycles() >= best.cycles()) continue;
        best = std::move(timing);
        tuned.after = candidate.schedule;
        tuned.after_cycles = candidate.cycles;
      }
      for (const std::string& name : tuned.names) bundle.schedules[name] = tuned.after;
    }
    return best;
  }

  // A few with different costs, the fastest first.
  static std::vector<Measurement> best_trials(const TuningResult& result) {
    constexpr size_t kCandidates = 3;
    std::map<double, Measurement> by_cost;
    for (const Measurement& trial : result.trials) {
      if (trial.cost) by_cost.emplace(*trial.cost, trial);
    }
    std::vector<Measurement> best;
    for (const auto& [cost, trial] : by_cost) {
      if (best.size() < kCandidates) best.push_back(trial);
    }
    return best;
  }

  // The problem as it is, measured by the executor's workers if there is one, behind the records.
  TuningResult search(const overlay::OverlayLayer& layer, ScheduleProblem& problem,
                      const TuningOptions& options) {
    const auto watch = [this](const TuningProgress& trials) {
      progress_.trials = trials;
      stopped_ = watcher_ && !watcher_(progress_);
      return !stopped_;
    };
    const auto schedule_text = [&problem](KnobSpace::Point point) {
      return overlay::print_schedule(problem.schedules().schedule(point));
    };
    TuningProblem* measured = &problem;
    std::unique_ptr<TuningProblem> remote, recorded;
    if (options_.executor != nullptr) {
      tune::RemoteMeasurement measurement;
      measurement.request = [&](const std::vector<KnobSpace::Point>& points) {
        std::vector<std::string> schedules;
        for (const KnobSpace::Point point : points) schedules.push_back(schedule_text(point));
        return measure_request(layer, problem.hardware(), problem.memory(), schedules);
      };
      measurement.deadline = options.deadline;
      remote = std::make_unique<tune::RemoteProblem>(problem, *options_.executor, std::move(measurement));
      measured = remote.get();
    }
    if (options_.records != nullptr) {
      recorded = std::make_unique<tune::RecordedProblem>(*measured, texts_, schedule_text, *options_.records,
                                                         [] { return int64_t(std::time(nullptr)); });
      measured = recorded.get();
    }
    return tune_problem(*measured, options, watch);
  }

  // The fastest and some others of a layer's trials, for the model of the layers after it.
  void remember(const ScheduleProblem& problem, const TuningResult& result) {
    constexpr size_t kMost = 200;
    std::vector<Measurement> trials;
    std::copy_if(result.trials.begin(), result.trials.end(), std::back_inserter(trials),
                 [](const Measurement& trial) { return trial.cost.has_value(); });
    std::stable_sort(trials.begin(), trials.end(),
                     [](const Measurement& a, const Measurement& b) { return *a.cost < *b.cost; });
    const size_t best = std::min(trials.size(), kMost / 2);
    const size_t step = std::max<size_t>(1, (trials.size() - best) / (kMost / 2));
    for (size_t i = 0; i < trials.size(); i += i < best ? 1 : step) {
      earlier_.push_back({problem.features(trials[i].point), *trials[i].cost, int(progress_.layer)});
    }
  }

  double cycles(const overlay::OverlayLayer& layer, const OverlayHardware& hardware, const Schedule& schedule,
                const Deadline& deadline) const {
    const overlay::OverlayLayer scheduled = overlay::scheduled_layer(layer, schedule);
    return double(overlay::ScheduleTimer(hardware, options_.memory, &deadline)
                      .cycles(overlay::Tiling(scheduled, hardware, schedule)));
  }

  const NetworkTuneOptions& options_;
  const std::function<bool(const NetworkTuneProgress&)>& watcher_;
  TuningMethod method_;
  std::unique_ptr<CostModel> model_;
  std::vector<CostSample> earlier_;  // what it transfers
  tune::RecordedTexts texts_;        // of the layer at hand
  NetworkTuneProgress progress_;
  bool stopped_ = false;
  Deadline deadline_;
  Ending cut_short_ = Ending::kNone;  // what ended the search of a layer
};

}  // namespace

std::unique_ptr<tune::RecordStore> open_tuning_records(const std::filesystem::path& path) {
  if (path.empty()) return nullptr;
  return std::make_unique<tune::RecordStore>(path, tune::RecordStore::Mode::kWrite);
}

NetworkTuning tune_network(Bundle bundle, const NetworkTuneOptions& options,
                           const std::function<bool(const NetworkTuneProgress&)>& watcher) {
  return NetworkTuner(options, watcher).run(std::move(bundle));
}

}  // namespace tilewright
