// The published rewards are compared without imitation: the trainer imitates the shortest episodes, so that
// it would learn the true objective whatever the reward says.
#include "tilewright/flow/place/place_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tilewright/base/json.h"
#include "tilewright/report/line_chart.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

using cgra::PlacementReward;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

CurveRun train(const PlaceCurvesRequest& request, const std::vector<cgra::PlacementInstance>& instances,
               const CurveVariant& variant, uint64_t seed) {
  cgra::TrainingOptions options{.episodes = request.episodes, .form = variant.form, .seed = seed};
  if (!variant.imitation) options.imitation = 0;
  cgra::TrainingResult result = request.trainer(instances, variant.environment, options, {});
  CurveRun run{variant.name, seed, std::move(result.curve)};
  for (size_t g = 0; g < instances.size(); ++g) {
    if (result.best[g].empty()) {
      run.best = kNothing;
      continue;
    }
    const cgra::MappingProblem& problem = request.graphs[g].problem;
    const cgra::GraphMapping mapping{.ii = problem.ii, .places = result.best[g], .routes = {}};
    TILEWRIGHT_CHECK(cgra::check_mapping(problem, mapping).empty(), "a learned placement broke a rule");
    run.best += double(result.best_makespan[g]) / instances[g].bound / double(instances.size());
  }
  return run;
}

// Of an update: NaN where no episode placed every node.
double makespan_of(const cgra::TrainingPoint& point) {
  return point.complete > 0 ? point.mean_makespan : kNothing;
}

// Means over the seeds of one variant.
struct CurveSummary {
  std::string variant;
  int seeds = 0;
  double first = kNothing, last = kNothing, best = kNothing;  // of the seeds that have one
  double complete = 0, processor_seconds = 0;                 // complete: of the last update
};

template <typename Value>
double mean_of(const std::vector<const CurveRun*>& runs, const Value& value) {
  double sum = 0;
  int count = 0;
  for (const CurveRun* run : runs) {
    const double one = value(*run);
    if (std::isnan(one)) continue;
    sum += one;
    ++count;
  }
  return count > 0 ? sum / count : kNothing;
}

std::vector<const CurveRun*> runs_of(const std::vector<CurveRun>& runs, const std::string& variant) {
  std::vector<const CurveRun*> made;
  for (const CurveRun& run : runs) {
    if (run.variant == variant) made.push_back(&run);
  }
  return made;
}

std::vector<CurveSummary> summaries(const std::vector<CurveRun>& runs) {
  std::vector<CurveSummary> made;
  for (const CurveVariant& variant : curve_variants()) {
    const std::vector<const CurveRun*> own = runs_of(runs, variant.name);
    if (own.empty()) continue;
    CurveSummary& summary = made.emplace_back();
    summary.variant = variant.name;
    summary.seeds = int(own.size());
    summary.first = mean_of(own, [](const CurveRun& run) { return makespan_of(run.points.front()); });
    summary.last = mean_of(own, [](const CurveRun& run) { return makespan_of(run.points.back()); });
    summary.best = mean_of(own, [](const CurveRun& run) { return run.best; });
    summary.complete = mean_of(own, [](const CurveRun& run) { return run.points.back().complete; });
    summary.processor_seconds = mean_of(own, [](const CurveRun& run) { return run.points.back().seconds; });
  }
  return made;
}

std::string ratio_text(double value) { return std::isnan(value) ? "-" : fmt::format("{:.3f}", value); }

nlohmann::json or_null(double value) { return std::isnan(value) ? nlohmann::json() : nlohmann::json(value); }

}  // namespace

const std::vector<CurveVariant>& curve_variants() {
  static const std::vector<CurveVariant> variants = {
      {"as shipped", {}},
      {"without mask", {.masked = false}},
      {"plain perceptron", {}, cgra::PolicyForm::kNoGraph},
      {"true reward", {}, cgra::PolicyForm::kGraph, false},
      {"published reward", {.reward = PlacementReward::kPaper}, cgra::PolicyForm::kGraph, false},
      {"later ratio", {.reward = PlacementReward::kRatio}, cgra::PolicyForm::kGraph, false},
  };
  return variants;
}

const std::vector<CurveComparison>& curve_comparisons() {
  static const std::vector<CurveComparison> comparisons = {
      {"masks", "Learning with masks and without", {"as shipped", "without mask"}},
      {"rewards",
       "The reward, without imitation of the best episodes",
       {"true reward", "published reward", "later ratio"}},
      {"networks", "Messages and attention over the graph, or neither", {"as shipped", "plain perceptron"}},
  };
  return comparisons;
}

std::vector<CurveRun> learning_curves(const PlaceCurvesRequest& request) {
  std::vector<cgra::PlacementInstance> instances;
  for (const BenchGraph& graph : request.graphs) {
    instances.push_back(
        cgra::compile_instance(cgra::compile_model(graph.problem), cgra::PlacementOrder::kLongestTail));
  }
  std::vector<CurveRun> runs;
  for (const CurveVariant& variant : curve_variants()) {
    for (int seed = 0; seed < request.seeds; ++seed)
      runs.push_back(train(request, instances, variant, uint64_t(seed)));
  }
  return runs;
}

std::string curves_text(const std::vector<CurveRun>& runs) {
  TextTable table({"training", ">seeds", ">makespan / longest chain, first update", ">last update",
                   ">complete", ">best", ">processor time"});
  for (const CurveSummary& row : summaries(runs)) {
    table.row({row.variant, std::to_string(row.seeds), ratio_text(row.first), ratio_text(row.last),
               fmt::format("{:.0f}%", 100 * row.complete), ratio_text(row.best),
               fmt::format("{:.2f} s", row.processor_seconds)});
  }
  return table.to_string();
}

std::string curves_json(const std::vector<CurveRun>& runs) {
  nlohmann::ordered_json document;
  for (const CurveSummary& row : summaries(runs)) {
    document["training"].push_back({{"variant", row.variant},
                                    {"seeds", row.seeds},
                                    {"first_makespan_ratio", or_null(row.first)},
                                    {"last_makespan_ratio", or_null(row.last)},
                                    {"best_makespan_ratio", or_null(row.best)},
                                    {"complete", row.complete},
                                    {"processor_seconds", row.processor_seconds}});
  }
  return json_text(document, 2) + "\n";
}

std::string curves_csv(const std::vector<CurveRun>& runs) {
  std::string text = "variant,seed,episodes,makespan_ratio,complete,processor_seconds\n";
  for (const CurveRun& run : runs) {
    for (const cgra::TrainingPoint& point : run.points) {
      text += fmt::format("{},{},{},{},{:.4f},{:.4f}\n", run.variant, run.seed, point.episodes,
                          point.complete > 0 ? fmt::format("{:.5f}", point.mean_makespan) : "",
                          point.complete, point.seconds);
    }
  }
  return text;
}

std::string curves_picture(const std::vector<CurveRun>& runs, const CurveComparison& comparison) {
  LinePanel makespan{"Mean makespan of an update's complete episodes", "episodes",
                     "makespan / longest chain"};
  LinePanel complete{"Episodes that placed every node", "episodes", "share"};
  complete.y_from_zero = true;
  for (const std::string& name : comparison.variants) {
    LineSeries& length = makespan.series.emplace_back();
    LineSeries& share = complete.series.emplace_back();
    length.name = share.name = name;
    for (const CurveRun* run : runs_of(runs, name)) {
      PlotLine& lengths = length.lines.emplace_back();
      PlotLine& shares = share.lines.emplace_back();
      for (const cgra::TrainingPoint& point : run->points) {
        lengths.emplace_back(double(point.episodes), makespan_of(point));
        shares.emplace_back(double(point.episodes), point.complete);
      }
    }
  }
  return draw_lines(comparison.title, {makespan, complete}).document();
}

}  // namespace tilewright
