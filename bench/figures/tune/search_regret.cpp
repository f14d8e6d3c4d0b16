// How far model-guided search stays from the proven optimum: C2 to C11 of ResNet-18 on the public default
// overlay with a memory port of 128 bits. The optimum comes from exhaustive_search on the spot; the methods
// know nothing of it, of records or of the default schedule. For the guided methods as `tune` runs them (the
// first batch on the surface of the bound, points that the bound rules out not measured): regret after 200
// trials and trials until within 2 %, median and worst of the seeds. For the models without any help of the
// bound, against random search and annealing: the median of the best after 100 trials.
//
// --results FILE keeps every run, so that a figure that is cut off goes on. --quick: two seeds (of ten).
#include <chrono>
#include <cstdlib>

#include "figure_arguments.h"
#include "resnet18_layers.h"
#include "support/search/exhaustive_testing.h"
#include "tilewright/overlay/tuning/schedule_problem.h"
#include "tuning_methods.h"

namespace {

using namespace tilewright;
using namespace tilewright::overlay;

constexpr int64_t kTrials = 200, kCompared = 100;
constexpr double kNear = 1.02;
constexpr MethodSetting kGuided[] = {kBoundedBoostedMethod, kBoundedTreeGruMethod};
constexpr MethodSetting kUnaided[] = {kRandomMethod, kAnnealingMethod, kBoostedMethod, kTreeGruMethod};

struct Totals {
  int layers = 0, near = 0;  // near: the worst seed of a layer within 2 %
  double max_regret = 0, max_median_regret = 0;
  std::vector<double> trials_to_near;   // of all layers and seeds
  int better = 0, tied = 0, worse = 0;  // layers: the median at 100 trials against the better baseline
};

// One run: the best after 100 and 200 trials, trials until near, all with the optimum as 1.
struct Run {
  double after_100 = 0, after_200 = 0, until_near = 0;
};

class Study {
 public:
  Study(ResultLines& lines, int seeds) : lines_(lines), seeds_(seeds) {}

  void layer(const ResnetLayer& shape, TuningProblem& measured) {
    SharedMeasurements problem(measured);
    const std::vector<double> optimum = lines_.row(std::string(shape.name) + "/optimum", [&] {
      const ExhaustiveResult found = exhaustive_search(problem, {.threads = 1, .batch = 256});
      if (!found.best || !found.complete) throw Error(ErrorKind::kInternal, "no optimum");
      return std::vector<double>{*found.best->cost, double(found.valid), double(found.measured)};
    });
    std::printf("%-4s optimum %.0f cycles, %.0f valid points of which %.0f had to be measured\n", shape.name,
                optimum[0], optimum[1], optimum[2]);
    valid_points_ += optimum[1];
    std::map<std::string, double> at_100;
    for (const MethodSetting& method : kUnaided) {
      const std::vector<Run> runs = all_seeds(shape, problem, method, optimum[0], kCompared);
      at_100[method.name] = median(column(runs, &Run::after_100));
      print(method.name, runs, kCompared);
    }
    for (size_t m = 0; m < std::size(kGuided); ++m) {
      const std::vector<Run> runs = all_seeds(shape, problem, kGuided[m], optimum[0], kTrials);
      print(kGuided[m].name, runs, kTrials);
      add(totals_[m], runs);
    }
    const double baseline = std::min(at_100["random"], at_100["annealing"]);
    for (size_t m = 0; m < std::size(kGuided); ++m) {
      const double own = at_100[kUnaided[2 + m].name];
      (own < baseline ? totals_[m].better : own == baseline ? totals_[m].tied : totals_[m].worse) += 1;
    }
    std::fflush(stdout);
  }

  const Totals& totals(size_t method) const { return totals_[method]; }
  double valid_points() const { return valid_points_; }

 private:
  std::vector<Run> all_seeds(const ResnetLayer& shape, TuningProblem& problem, const MethodSetting& method,
                             double optimum, int64_t trials) {
    std::vector<Run> runs;
    for (int seed = 1; seed <= seeds_; ++seed) {
      const std::string name = std::string(shape.name) + "/" + method.name + "/" + std::to_string(seed);
      const std::vector<double> row = lines_.row(name, [&] {
        const auto curve = best_curve(problem, method, uint64_t(seed), trials, optimum);
        return std::vector<double>{best_after(curve, kCompared) / optimum, curve.back() / optimum,
                                   trials_until(curve, kNear * optimum, trials)};
      });
      runs.push_back({row.at(0), row.at(1), row.at(2)});
    }
    return runs;
  }

  static std::vector<double> column(const std::vector<Run>& runs, double Run::*member) {
    std::vector<double> values;
    for (const Run& run : runs) values.push_back(run.*member);
    return values;
  }

  static void print(const char* name, const std::vector<Run>& runs, int64_t trials) {
    const auto after_100 = column(runs, &Run::after_100), end = column(runs, &Run::after_200);
    const auto until = column(runs, &Run::until_near);
    std::printf(
        "  %-13s after 100: %+6.2f %% (worst %+6.2f)  after %3lld: %+6.2f %% (worst %+6.2f)  within 2 %%: "
        "%3.0f trials (worst %3.0f)\n",
        name, 100 * median(after_100) - 100,
        100 * *std::max_element(after_100.begin(), after_100.end()) - 100, (long long)trials,
        100 * median(end) - 100, 100 * *std::max_element(end.begin(), end.end()) - 100, median(until),
        *std::max_element(until.begin(), until.end()));
  }

  static void add(Totals& totals, const std::vector<Run>& runs) {
    const auto end = column(runs, &Run::after_200), until = column(runs, &Run::until_near);
    const double worst = *std::max_element(end.begin(), end.end());
    ++totals.layers;
    totals.near += worst <= kNear ? 1 : 0;
    totals.max_regret = std::max(totals.max_regret, worst - 1);
    totals.max_median_regret = std::max(totals.max_median_regret, median(end) - 1);
    totals.trials_to_near.insert(totals.trials_to_near.end(), until.begin(), until.end());
  }

  ResultLines& lines_;
  int seeds_;
  Totals totals_[std::size(kGuided)];
  double valid_points_ = 0;
};

int measure(const std::string& results, int seeds) {
  OverlayHardware hardware = read_overlay_hardware(TILEWRIGHT_SOURCE_DIR "/hardware/vta-default.yaml");
  hardware.memory_width_bits = 128;
  ResultLines lines(results);
  Study study(lines, seeds);
  const auto start = std::chrono::steady_clock::now();
  Random random(2);
  for (const ResnetLayer& shape : kResnet18Layers) {
    const Graph graph = resnet18_graph(shape, random);
    const OverlayLayer layer = extract_layer(graph, graph.nodes[0], hardware);
    ScheduleProblem problem(layer, hardware, {}, 1);
    study.layer(shape, problem);
  }
  std::string json;
  bool good = true;
  for (size_t m = 0; m < std::size(kGuided); ++m) {
    const Totals& t = study.totals(m);
    const auto& until = t.trials_to_near;
    char text[500];
    std::snprintf(text, sizeof text,
                  ", \"%s\": {\"layers\": %d, \"layers_within_2_percent\": %d, \"max_regret\": %.5f, "
                  "\"max_median_regret\": %.5f, \"median_trials\": %.0f, \"worst_trials\": %.0f, "
                  "\"better_at_100\": %d, \"tied_at_100\": %d, \"worse_at_100\": %d}",
                  kUnaided[2 + m].name, t.layers, t.near, t.max_regret, t.max_median_regret, median(until),
                  *std::max_element(until.begin(), until.end()), t.better, t.tied, t.worse);
    json += text;
    good = good && t.layers == int(std::size(kResnet18Layers)) && t.near == t.layers;
  }
  std::printf(
      "{\"figure\": \"search_regret\", \"layers\": %d, \"seeds\": %d, \"trials\": %lld, "
      "\"valid_points\": %.0f%s, \"seconds\": %.1f}\n",
      study.totals(0).layers, seeds, (long long)kTrials, study.valid_points(), json.c_str(),
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const FigureArguments arguments = figure_arguments(argc, argv, {"--results"});
    return measure(arguments.value("--results"), arguments.quick ? 2 : 10);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
