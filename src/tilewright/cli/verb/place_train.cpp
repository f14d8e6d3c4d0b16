// `place train`: writes the policy's file, which says how it was made, and prints the learning curve.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/place/place_learning.h"

namespace tilewright::cli {
namespace {

using Curve = std::vector<cgra::TrainingPoint>;

// Some twenty points of the curve, and its last one.
Curve thinned(const Curve& curve) {
  Curve shown;
  const int64_t step = curve.empty() ? 0 : curve.back().episodes / 20;
  for (const cgra::TrainingPoint& point : curve) {
    if (shown.empty() || point.episodes >= shown.back().episodes + step || &point == &curve.back())
      shown.push_back(point);
  }
  return shown;
}

std::string curve_text(const Curve& curve) {
  std::string text = "episodes  makespan over bound  best  complete  entropy  processor time\n";
  for (const cgra::TrainingPoint& point : thinned(curve)) {
    text += fmt::format("{:8}  {:19.3f}  {:4.3f}  {:7.0f}%  {:7.3f}  {:12.1f} s\n", point.episodes,
                        point.mean_makespan, point.best_makespan, 100 * point.complete, point.entropy,
                        point.seconds);
  }
  return text;
}

std::string curve_json(const Curve& curve, const std::string& output) {
  nlohmann::json points = nlohmann::json::array();
  for (const cgra::TrainingPoint& point : thinned(curve)) {
    points.push_back({{"episodes", point.episodes},
                      {"makespan_over_bound", point.mean_makespan},
                      {"best", point.best_makespan},
                      {"complete", point.complete},
                      {"entropy", point.entropy},
                      {"processor_seconds", point.seconds}});
  }
  return json_text(nlohmann::json{{"output", output}, {"curve", points}}, 2) + "\n";
}

}  // namespace

void place_train(const PlaceTrainOptions& options, std::ostream& out) {
  const Deadline deadline;
  const Interruptible interruptible(deadline);
  PlaceTrainingRequest request{.graphs = options.graphs, .split = options.split};
  request.fabric = find_fabric(options.fabric, shared_folders().hardware);
  request.ii = options.ii;
  request.options.episodes = options.episodes;
  request.options.seed = options.seed;
  request.library = training_library();
  int64_t episodes = 0;
  auto result = with_progress("training a policy", [&](ProgressLine& line) {
    return train_placement(request, [&](const auto& point) {
      episodes = point.episodes;
      line.update([&] {
        return count_text(point.episodes, options.episodes, "placements") +
               fmt::format(", makespan {:.3f} over the bound", point.mean_makespan);
      });
      return !deadline.expired();
    });
  });
  result.weights.origin = fmt::format("tilewright place train --fabric {} --episodes {} --seed {}: {} graphs",
                                      request.fabric.name, std::min(episodes, options.episodes), options.seed,
                                      result.best.size());
  write_text_file(options.output, print_policy(result.weights));
  out << (options.json ? curve_json(result.curve, options.output) : curve_text(result.curve));
}

}  // namespace tilewright::cli
