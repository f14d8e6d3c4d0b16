// Hardware and schedules explored together: ResNet-18 on the Zynq-7020 of the Pynq-Z1, 8-bit operands.
//
//   exploration [--quick] [--budget SECONDS] [--folder FOLDER]
//
// 1. The whole space under the budget (the figure's seconds): candidates tuned, excluded by their bound,
// left.
// 2. 30 random candidates that the bound excluded, tuned all the same: none may enter the front.
// 3. A sub-space of 200 candidates, drawn from those that fit, tuned one by one; then explored with a quarter
//    of that: regret is how much slower its fastest overlay is, and what area of the true front it misses.
// 4. The baseline flow on the sub-space: overlays by falling peak rate, default schedules, then successive
//    halving, for the same number of trials.
// --quick takes a sub-space of 20. Everything is kept in FOLDER and taken up again.
#include "tilewright/flow/explore/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "figure_arguments.h"
#include "support/outside_testing.h"
#include "support/tune/exploration_baseline_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/flow/explore/candidate_job.h"
#include "tilewright/flow/explore/exploration_network.h"
#include "tilewright/flow/explore/overlay_candidates.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/tune/explore/study.h"
#include "tilewright/tune/fleet/thread_executor.h"

namespace {

using namespace tilewright;
namespace fs = std::filesystem;

constexpr int kWorkers = 2, kOperandBits = 8;
constexpr int64_t kTrials = 24;

struct Arguments {
  bool quick = false;
  double budget_s = 3000;
  fs::path folder = fs::temp_directory_path() / "tilewright_exploration";
};

Bundle resnet18() {
  LoadOptions load;
  load.fill_gain = 1;
  return exploration_bundle(load_model(outside_models() / "onnx_shape_only/resnet18_noweights.onnx", load),
                            kWorkers);
}

class Figure {
 public:
  explicit Figure(const Arguments& arguments)
      : arguments_(arguments), executor_(tune::make_thread_executor({candidate_job()}, kWorkers)) {
    request_.network = resnet18();
    request_.model_name = "resnet18";
    request_.device = find_device("xc7z020", fs::path(TILEWRIGHT_SOURCE_DIR) / "hardware/devices");
    request_.memory = request_.device.memory->model();
    request_.operand_bits = {kOperandBits};
    request_.folder = arguments.folder;
    request_.rtl_folder = fs::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
    request_.trials = kTrials;
    request_.budget_s = arguments.budget_s;
    request_.threads = kWorkers;
  }

  int run() {
    const ExplorationReport report = explore_overlays(
        request_, [](const fs::path&) { return tune::make_thread_executor({candidate_job()}, kWorkers); },
        {[](int, const tune::ExplorationProgress& p) {
          std::printf("%.0f s: %lld tuned, best %.3f ms, %lld alive, %lld excluded, model %.1f %% off\n",
                      p.seconds, (long long)p.evaluated, 1e3 * p.best_s, (long long)p.alive,
                      (long long)p.pruned, 100 * p.model_error);
          std::fflush(stdout);
          return true;
        }});
    std::printf("%s\n", to_string(report).c_str());
    const WidthReport& w = report.widths.at(0);
    const ExplorationNetwork network = exploration_network(request_.network, kOperandBits);
    const OverlayCandidates backend(network, {request_.device, request_.folder / "network.twb",
                                              request_.rtl_folder, request_.memory, request_.seed, kWorkers});
    const tune::Screening screening = tune::screen(backend, kWorkers);
    const int64_t intruders = tune_excluded(backend, screening, w);
    const SubSpace sub = explore_sub_space(backend, screening);
    std::printf(
        "{\"figure\": \"exploration\", \"seconds\": %.1f, \"candidates\": %lld, \"surviving\": %lld, "
        "\"tuned\": %lld, \"excluded\": %lld, \"best_ms\": %.4f, \"front\": %lld, \"work_saved\": %.5f, "
        "\"excluded_tuned\": %lld, \"excluded_that_beat_the_front\": %lld, \"sub_space\": %lld, "
        "\"sub_space_tuned\": %lld, \"regret\": %.5f, \"front_missed\": %.5f, \"baseline_regret\": %.5f, "
        "\"baseline_trials\": %lld, \"trials\": %lld}\n",
        w.seconds, (long long)w.fitting, (long long)w.surviving(), (long long)w.evaluated,
        (long long)w.pruned, 1e3 * w.candidates.at(0).latency_s,
        (long long)std::count_if(w.candidates.begin(), w.candidates.end(),
                                 [](const ExploredCandidate& c) { return c.on_front; }),
        w.work_saved(), (long long)excluded_tuned_, (long long)intruders, (long long)sub.candidates,
        (long long)sub.tuned, sub.regret, sub.missed, sub.baseline_regret, (long long)sub.baseline_trials,
        (long long)sub.trials);
    return intruders == 0 && w.evaluated > 0 && sub.candidates > 0 ? 0 : 1;
  }

 private:
  struct SubSpace {
    int64_t candidates = 0, tuned = 0, trials = 0, baseline_trials = 0;
    double regret = 0, missed = 0, baseline_regret = 0;
  };

  // Results of `points`, kept in a study of their own.
  std::vector<tune::CandidateResult> tuned(const OverlayCandidates& backend, const char* name,
                                           const std::vector<KnobSpace::Point>& points, int64_t trials) {
    tune::Study study(arguments_.folder / name, fmt::format(R"({{"trials": {}}})", trials));
    tune::ExplorationHooks hooks;
    int64_t count = int64_t(study.known().size());
    hooks.keep = [&](const std::vector<tune::CandidateResult>& results) {
      study.keep(results);
      if (++count % 10 == 0) std::printf("%s: %lld of %zu\n", name, (long long)count, points.size());
      std::fflush(stdout);
    };
    return tune::evaluate_candidates(backend, *executor_, points, trials,
                                     tune::unchanged(study.known(), backend), hooks);
  }

  int64_t tune_excluded(const OverlayCandidates& backend, const tune::Screening& screening,
                        const WidthReport& w) {
    tune::ExplorationFront front;
    for (const ExploredCandidate& c : w.candidates) {
      front.insert({c.latency_s, c.utilisation}, [&] { return c.point; });
    }
    std::vector<KnobSpace::Point> excluded;
    for (const tune::Candidate& c : screening.fitting) {
      if (front.covers({c.bound_s, c.utilisation})) excluded.push_back(c.point);
    }
    Random random(3);
    std::vector<KnobSpace::Point> drawn;
    const size_t wanted = 30;
    while (drawn.size() < wanted && !excluded.empty()) {
      const auto at = size_t(random.between(0, int64_t(excluded.size()) - 1));
      drawn.push_back(excluded[at]);
      excluded.erase(excluded.begin() + std::ptrdiff_t(at));
    }
    int64_t intruders = 0;
    for (const tune::CandidateResult& result : tuned(backend, "excluded", drawn, 4 * kTrials)) {
      if (result.cycles == 0) continue;
      const tune::CandidateFacts facts = backend.judge(result.point);
      ++excluded_tuned_;
      intruders += front.covers({double(result.cycles) / (facts.clock_mhz * 1e6), facts.utilisation}) ? 0 : 1;
    }
    return intruders;
  }

  SubSpace explore_sub_space(const OverlayCandidates& backend, const tune::Screening& screening) {
    Random random(4);
    tune::Screening sub = screening;
    const size_t wanted = arguments_.quick ? 20 : 200;
    while (sub.fitting.size() > wanted) {
      // A sample that keeps the order of points.
      std::vector<tune::Candidate> kept;
      const double share = double(wanted) / double(sub.fitting.size());
      for (const tune::Candidate& c : sub.fitting) {
        if (random.chance(share)) kept.push_back(c);
      }
      if (kept.size() >= wanted) sub.fitting = std::move(kept);
      if (sub.fitting.size() < wanted + wanted / 20) sub.fitting.resize(wanted);
    }
    std::vector<KnobSpace::Point> points;
    for (const tune::Candidate& c : sub.fitting) points.push_back(c.point);
    const std::vector<tune::CandidateResult> all = tuned(backend, "exhaustive", points, kTrials);
    tune::KnownResults known;
    for (const tune::CandidateResult& result : all) known.emplace(result.point, result);
    const tune::ExplorationFront truth = tune::front_of(backend, all);

    tune::ExplorationOptions options;
    options.trials = kTrials;
    options.candidates = int64_t(wanted / 4);
    options.round = 4;
    const tune::ExplorationResult found = tune::explore(backend, sub, *executor_, options, known);
    SubSpace result;
    result.candidates = int64_t(points.size());
    result.tuned = found.end.evaluated;
    const double best = truth.members().at(0).point[0];
    result.regret = found.end.best_s / best - 1;
    const tune::ExplorationFront::Point corner{4 * best, 1.0};
    result.missed = 1 - found.front.hypervolume(corner) / truth.hypervolume(corner);
    for (const tune::CandidateResult& one : found.evaluated) result.trials += one.trials;

    tune::BaselineOptions baseline;
    baseline.kept = wanted / 4;
    baseline.trials = kTrials;
    const tune::BaselineResult other = tune::explore_baseline(backend, sub, *executor_, baseline);
    result.baseline_regret = other.best_s / best - 1;
    result.baseline_trials = other.trials;
    return result;
  }

  const Arguments& arguments_;
  ExplorationRequest request_;
  std::unique_ptr<tune::JobExecutor> executor_;
  int64_t excluded_tuned_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const FigureArguments given = figure_arguments(argc, argv, {"--budget", "--folder"});
    Arguments arguments;
    arguments.quick = given.quick;
    arguments.budget_s = std::stod(given.value("--budget", std::to_string(arguments.budget_s)));
    arguments.folder = given.value("--folder", arguments.folder.string());
    return Figure(arguments).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "exploration: %s\n", error.what());
    return 1;
  }
}
