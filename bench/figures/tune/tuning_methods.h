// The methods of tuning that figures compare, each with one call per seed, and a file that keeps what was
// measured, so that a figure that is cut off goes on where it was.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "tilewright/search/models/boosted_cost_model.h"
#include "tilewright/search/models/tree_gru_model.h"
#include "tilewright/search/tuning/tuner.h"

namespace tilewright {

// Measures no point twice for all methods and seeds of a figure. The methods do not see it: what one of them
// has measured is neither a start nor a sample for another.
class SharedMeasurements final : public TuningProblem {
 public:
  explicit SharedMeasurements(TuningProblem& inner) : inner_(inner) {}
  const KnobSpace& space() const override { return inner_.space(); }
  ProgramFeatures features(KnobSpace::Point point) const override { return inner_.features(point); }
  double bound(KnobSpace::Point point) const override { return inner_.bound(point); }
  std::vector<Measurement> measure(std::span<const KnobSpace::Point> points) override {
    std::vector<KnobSpace::Point> missing;
    for (KnobSpace::Point point : points) {
      if (!known_.contains(point)) missing.push_back(point);
    }
    for (Measurement& one : inner_.measure(missing)) known_[one.point] = std::move(one);
    std::vector<Measurement> all;
    for (KnobSpace::Point point : points) all.push_back(known_.at(point));
    return all;
  }

 private:
  TuningProblem& inner_;
  std::unordered_map<KnobSpace::Point, Measurement> known_;
};

struct MethodSetting {
  const char* name;
  TuningMethod method;
  enum class Model { kNone, kBoosted, kTreeGru } model = Model::kNone;
  bool bound = false;  // starts on the surface of the bound, and points that it rules out are not measured
};

// Without help of the bound, and the models with it, which is how `tune` runs them.
inline constexpr MethodSetting kRandomMethod{"random", TuningMethod::kRandom};
inline constexpr MethodSetting kAnnealingMethod{"annealing", TuningMethod::kAnnealing};
inline constexpr MethodSetting kBoostedMethod{"gbt", TuningMethod::kGuided, MethodSetting::Model::kBoosted};
inline constexpr MethodSetting kTreeGruMethod{"treegru", TuningMethod::kGuided,
                                              MethodSetting::Model::kTreeGru};
inline constexpr MethodSetting kBoundedBoostedMethod{"gbt_bound", TuningMethod::kGuided,
                                                     MethodSetting::Model::kBoosted, true};
inline constexpr MethodSetting kBoundedTreeGruMethod{"treegru_bound", TuningMethod::kGuided,
                                                     MethodSetting::Model::kTreeGru, true};

// Best cost after each trial. Ends at `optimum`, for nothing is better.
inline std::vector<double> best_curve(TuningProblem& problem, const MethodSetting& setting, uint64_t seed,
                                      int64_t trials, double optimum, int batch = 32) {
  std::unique_ptr<CostModel> model;
  if (setting.model == MethodSetting::Model::kBoosted) {
    BoostedModelOptions options;
    options.trees.seed = seed;
    model = std::make_unique<BoostedCostModel>(options);
  } else if (setting.model == MethodSetting::Model::kTreeGru) {
    model = std::make_unique<TreeGruModel>(TreeGruOptions{.seed = seed});
  }
  TuningOptions options{.method = setting.method, .trials = trials, .batch = batch, .seed = seed};
  options.start_on_bound = options.prune_by_bound = setting.bound;
  options.model = model.get();
  options.stop_at = optimum;
  return tune_problem(problem, options).best_so_far();
}

// Best cost after `trials` trials of a run that may have ended before.
inline double best_after(const std::vector<double>& curve, size_t trials) {
  return curve[std::min(trials, curve.size()) - 1];
}

// Trials until the cost is at most `target`; one more than `trials` where it never is.
inline double trials_until(const std::vector<double>& curve, double target, int64_t trials) {
  const auto at = std::find_if(curve.begin(), curve.end(), [&](double cost) { return cost <= target; });
  return at == curve.end() ? double(trials + 1) : double(at - curve.begin() + 1);
}

// The lower one of an even number's two.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

// Rows of numbers by name, a line each, written as they come; a last line that was cut off does not count.
class ResultLines {
 public:
  explicit ResultLines(const std::string& path) : path_(path) {
    std::ifstream file(path);
    size_t whole = 0;
    for (std::string line; std::getline(file, line);) {
      if (file.eof()) break;
      whole += line.size() + 1;
      std::istringstream words(line);
      std::string name;
      words >> name;
      for (double value = 0; words >> value;) rows_[name].push_back(value);
    }
    if (!path.empty()) std::ofstream(path, std::ios::app);
    if (!path.empty()) std::filesystem::resize_file(path, whole);
  }
  // The row called `name`, made where it is not there.
  template <typename Make>
  const std::vector<double>& row(const std::string& name, Make&& make) {
    const auto at = rows_.find(name);
    if (at != rows_.end()) return at->second;
    const std::vector<double> values = make();
    if (!path_.empty()) {
      std::ofstream file(path_, std::ios::app);
      file.precision(17);
      file << name;
      for (double value : values) file << ' ' << value;
      file << '\n';
    }
    return rows_[name] = values;
  }

 private:
  std::string path_;
  std::map<std::string, std::vector<double>> rows_;
};

}  // namespace tilewright
