// Each point's features are extracted once, in parallel; each point's score is computed once per model.
#include "tilewright/search/tuning/model_surface.h"

#include "tilewright/base/parallel.h"

namespace tilewright {

void ModelSurface::extract(std::span<const Point> points) {
  std::vector<Point> missing;
  for (Point point : points) {
    if (features_.try_emplace(point, nullptr).second) missing.push_back(point);
  }
  std::vector<std::unique_ptr<const ProgramFeatures>> made(missing.size());
  parallel_for(threads_, int64_t(missing.size()), [&](int64_t begin, int64_t end) {
    for (auto i = size_t(begin); i < size_t(end); ++i) {
      made[i] = std::make_unique<const ProgramFeatures>(problem_.features(missing[i]));
    }
  });
  for (size_t i = 0; i < missing.size(); ++i) features_[missing[i]] = std::move(made[i]);
}

const ProgramFeatures& ModelSurface::features(Point point) {
  extract({&point, 1});
  return *features_.at(point);
}

std::vector<double> ModelSurface::scores(const CostModel& model, double exploration,
                                         std::span<const Point> points) {
  std::vector<Point> missing;
  for (Point point : points) {
    if (scores_.try_emplace(point, 0.0).second) missing.push_back(point);
  }
  extract(missing);
  std::vector<const ProgramFeatures*> programs;
  for (Point point : missing) programs.push_back(features_.at(point).get());
  parallel_for(threads_, int64_t(missing.size()), [&](int64_t begin, int64_t end) {
    const auto count = size_t(end - begin);
    const auto predictions = model.predict(std::span(programs).subspan(size_t(begin), count));
    for (size_t i = 0; i < count; ++i) {
      const CostPrediction& prediction = predictions[i];
      // Written through find: no thread changes the table itself.
      scores_.find(missing[size_t(begin) + i])->second =
          prediction.score - exploration * prediction.deviation;
    }
  });
  std::vector<double> all;
  all.reserve(points.size());
  for (Point point : points) all.push_back(scores_.at(point));
  return all;
}

}  // namespace tilewright
