// A recipe is judged on runs that it was not fitted to, which is what its users will see; the check against
// plain min-max afterwards is one of the result itself.
#include "tilewright/quantize/recipe_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "tilewright/graph/inference/statistics.h"
#include "tilewright/quantize/noise.h"
#include "tilewright/quantize/recipe_fitter.h"

namespace tilewright {
namespace {

// Runs that are measured, and multiply-accumulates of them all.
constexpr int64_t kFewestMeasuredRuns = 8, kMostMeasuredRuns = 64, kMeasuredWork = int64_t{1} << 31;
constexpr double kSilence = 200;  // dB; more is as good

struct Ratios {
  double median = 0, output = 0;
  double sum() const { return median + output; }
  bool below(const Ratios& other) const { return median < other.median || output < other.output; }
};

Ratios ratios_of(const NetworkNoise& noise) {
  return {std::min(median_db(noise.values), kSilence), std::min(least_db(noise.outputs), kSilence)};
}

int64_t measured_runs(const Graph& graph) {
  const int64_t work = std::max<int64_t>(statistics(graph).total.macs, 1);
  return std::clamp(kMeasuredWork / work, kFewestMeasuredRuns, kMostMeasuredRuns);
}

// Fits recipes to half of the runs and measures them on the other half.
class HeldOutJudge {
 public:
  HeldOutJudge(const Graph& graph, const std::vector<Tensor>& samples, RecipeFitter& all,
               const QuantizeOptions& options)
      : alone_(SampleInputs(graph, samples).runs() < 2),
        meter_(graph, sample_runs(graph, samples, alone_ ? 0 : 1, 2, measured_runs(graph)), options.threads),
        fitter_(&all) {
    if (alone_) return;
    half_.emplace(graph, sample_runs(graph, samples, 0, 2, INT64_MAX), options.threads, options.float_nodes);
    fitter_ = &*half_;
  }
  Ratios judge(const QuantizeOptions& recipe) {
    QuantizeReport report;
    const Graph quantized = fitter_->quantize(recipe, report);
    return ratios_of(meter_.measure(quantized, report.factors));
  }

 private:
  const bool alone_;
  NoiseMeter meter_;
  std::optional<RecipeFitter> half_;
  RecipeFitter* fitter_;
};

struct Trial {
  QuantizeOptions recipe;
  Ratios held_out;
};

bool is_plain(const QuantizeOptions& recipe) {
  return recipe.calibration == CalibrationMethod::kMinMax && !recipe.correct_bias && !recipe.reconstruct &&
         !recipe.equalize;
}

std::vector<Trial> try_recipes(const QuantizeOptions& options, HeldOutJudge& judge) {
  std::vector<Trial> trials;
  for (const QuantizeOptions& recipe : recipes(options)) trials.push_back({recipe, judge.judge(recipe)});
  if (!options.reconstruct) return trials;
  const auto best = std::max_element(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) {
    return a.held_out.sum() < b.held_out.sum();
  });
  QuantizeOptions rounding = best->recipe;
  rounding.reconstruct = true;
  trials.push_back({rounding, judge.judge(rounding)});
  return trials;
}

struct Result {
  Graph graph;
  QuantizeReport report;
  Ratios ratios;
  size_t trial = 0;
};

// The best of the trials, of those that are not below the plain ones on all runs.
Result fit_best(const std::vector<Trial>& trials, RecipeFitter& all, NoiseMeter& meter) {
  const auto fitted = [&](size_t i) {
    Result result;
    result.trial = i;
    result.graph = all.quantize(trials[i].recipe, result.report);
    result.ratios = ratios_of(meter.measure(result.graph, result.report.factors));
    return result;
  };
  std::optional<Result> plain;  // the one with the better median
  std::vector<size_t> order;
  for (size_t i = 0; i < trials.size(); ++i) {
    if (!is_plain(trials[i].recipe)) {
      order.push_back(i);
      continue;
    }
    Result result = fitted(i);
    if (!plain || result.ratios.median > plain->ratios.median) plain = std::move(result);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return trials[a].held_out.sum() > trials[b].held_out.sum(); });
  for (size_t i : order) {
    if (trials[i].held_out.below(trials[plain->trial].held_out)) continue;
    Result result = fitted(i);
    if (!result.ratios.below(plain->ratios)) return result;
  }
  return std::move(*plain);
}

}  // namespace

std::string recipe_name(const QuantizeOptions& options) {
  static constexpr const char* kNames[] = {"min-max", "percentile", "kl", "squared-error", "layer-error"};
  std::vector<std::string> corrections;
  if (options.correct_bias) corrections.push_back("bias");
  if (options.reconstruct) corrections.push_back("rounding");
  if (options.equalize) corrections.push_back("equalize");
  return fmt::format("{}{}{}{}", options.calibration ? kNames[size_t(*options.calibration)] : "best",
                     options.per_channel ? "" : ", one scale per tensor", corrections.empty() ? "" : " with ",
                     fmt::join(corrections, ", "));
}

std::vector<QuantizeOptions> recipes(const QuantizeOptions& options) {
  QuantizeOptions plain = options;
  plain.calibration = CalibrationMethod::kMinMax;
  plain.correct_bias = plain.reconstruct = plain.equalize = false;
  std::vector<QuantizeOptions> result = {plain};
  if (options.per_channel) {
    result.push_back(plain);
    result.back().per_channel = false;
  }
  const auto add = [&](CalibrationMethod method, bool equalize) {
    QuantizeOptions recipe = plain;
    recipe.calibration = method;
    recipe.correct_bias = options.correct_bias;
    recipe.equalize = equalize;
    result.push_back(recipe);
  };
  if (options.correct_bias) add(CalibrationMethod::kMinMax, false);
  add(CalibrationMethod::kSquaredError, false);
  add(CalibrationMethod::kLayerError, false);
  if (options.equalize) {
    add(CalibrationMethod::kMinMax, true);
    add(CalibrationMethod::kLayerError, true);
  }
  return result;
}

Graph quantize_with_best(const Graph& float_graph, const std::vector<Tensor>& samples,
                         const QuantizeOptions& options, QuantizeReport& report) {
  RecipeFitter all(float_graph, samples, options.threads, options.float_nodes);
  if (!all.has_values()) return all.quantize(options, report);
  HeldOutJudge judge(float_graph, samples, all, options);
  const std::vector<Trial> trials = try_recipes(options, judge);
  NoiseMeter meter(float_graph, sample_runs(float_graph, samples, 0, 1, measured_runs(float_graph)),
                   options.threads);
  Result result = fit_best(trials, all, meter);
  report = std::move(result.report);
  for (const Trial& trial : trials)
    report.attempts.push_back(
        {recipe_name(trial.recipe), trial.held_out.median, trial.held_out.output, false});
  report.attempts[result.trial].taken = true;
  return std::move(result.graph);
}

}  // namespace tilewright
