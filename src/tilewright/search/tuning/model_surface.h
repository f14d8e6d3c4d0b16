// A cost model's scores of the points of a space. Features are kept between batches, because chains revisit
// points.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "tilewright/search/models/cost_model.h"
#include "tilewright/search/tuning/tuning_problem.h"

namespace tilewright {

class ModelSurface {
 public:
  using Point = KnobSpace::Point;

  ModelSurface(const TuningProblem& problem, int threads) : problem_(problem), threads_(threads) {}

  const ProgramFeatures& features(Point point);
  // One score per point, the lower the better: the model's score less `exploration` deviations.
  std::vector<double> scores(const CostModel& model, double exploration, std::span<const Point> points);
  // The model has changed.
  void forget_scores() { scores_.clear(); }

 private:
  void extract(std::span<const Point> points);

  const TuningProblem& problem_;
  int threads_;
  std::unordered_map<Point, std::unique_ptr<const ProgramFeatures>> features_;
  std::unordered_map<Point, double> scores_;
};

}  // namespace tilewright
