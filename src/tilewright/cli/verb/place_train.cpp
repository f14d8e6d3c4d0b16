// `place train`: one line per few updates, then the policy's file, which says how it was made.
#include <fmt/format.h>

#include <ostream>

#include "tilewright/base/file.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/place/place_learning.h"

namespace tilewright::cli {
void place_train(const PlaceTrainOptions& options, std::ostream& out) {
  PlaceTrainingRequest request{.graphs = options.graphs, .split = options.split};
  request.fabric = find_fabric(options.fabric, shared_folders().hardware);
  request.ii = options.ii;
  request.options.episodes = options.episodes;
  request.options.seed = options.seed;
  request.library = training_library();
  int64_t next = 0;
  out << "episodes  makespan over bound  best  complete  entropy  processor time\n";
  auto result = train_placement(request, [&](const auto& point) {
    if (point.episodes >= next || point.episodes >= options.episodes) {
      out << fmt::format("{:8}  {:19.3f}  {:4.3f}  {:7.0f}%  {:7.3f}  {:12.1f} s\n", point.episodes,
                         point.mean_makespan, point.best_makespan, 100 * point.complete, point.entropy,
                         point.seconds)
          << std::flush;
      next = point.episodes + options.episodes / 20;
    }
    return true;
  });
  result.weights.origin =
      fmt::format("tilewright place train --fabric {} --episodes {} --seed {}: {} graphs",
                  request.fabric.name, options.episodes, options.seed, result.best.size());
  write_text_file(options.output, print_policy(result.weights));
}

}  // namespace tilewright::cli
