// Minkowski sums of fronts with pruning after each. The partial sums of a front keep a back pointer, so that
// choices are recovered without storing them for every candidate.
//
// Thinning: within a window of energies [e, e (1 + d)] only the point of fewest cycles stays. A later sum
// with a thinned point's replacement has at most its cycles and its energy is at most (1 + d) times as large,
// so after k thinnings the loss is at most (1 + d)^k.
#include "tilewright/spatial/network/front.h"

#include <algorithm>
#include <cmath>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

struct Step {
  FrontCost cost;
  int32_t from = 0;   // point of the sum before
  int32_t point = 0;  // point of this layer
};

bool faster(const FrontCost& a, const FrontCost& b) {
  return a.cycles != b.cycles ? a.cycles < b.cycles : a.energy < b.energy;
}

void keep_front(std::vector<Step>& steps) {
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    if (a.cost != b.cost) return faster(a.cost, b.cost);
    return a.from != b.from ? a.from < b.from : a.point < b.point;
  });
  size_t kept = 0;
  for (const Step& step : steps) {
    if (kept == 0 || step.cost.energy < steps[kept - 1].cost.energy) steps[kept++] = step;
  }
  steps.resize(kept);
}

// Leaves at most about `count` points and returns the largest relative loss of energy.
double thin(std::vector<Step>& steps, size_t count) {
  // Energies fall along the front, so windows are runs of neighbours.
  const double span = std::log(steps.front().cost.energy / steps.back().cost.energy);
  const double window = span / double(count);
  double loss = 0;
  std::vector<Step> kept = {steps.front()};
  for (size_t i = 1; i < steps.size(); ++i) {
    const double below = kept.back().cost.energy / steps[i].cost.energy;
    if (std::log(below) <= window && i + 1 < steps.size()) {
      loss = std::max(loss, below - 1);
    } else {
      kept.push_back(steps[i]);
    }
  }
  steps = std::move(kept);
  return loss;
}

}  // namespace

std::vector<FrontCost> pareto_front(std::vector<FrontCost> points) {
  std::sort(points.begin(), points.end(), faster);
  size_t kept = 0;
  for (const FrontCost& point : points) {
    if (kept == 0 || point.energy < points[kept - 1].energy) points[kept++] = point;
  }
  points.resize(kept);
  return points;
}

NetworkFront merge_fronts(const std::vector<std::vector<FrontCost>>& layers, size_t max_points) {
  TILEWRIGHT_CHECK(max_points >= 2, "a front of at least two points");
  std::vector<std::vector<Step>> sums = {{Step{}}};
  double factor = 1;
  for (const auto& front : layers) {
    const std::vector<Step>& before = sums.back();
    std::vector<Step> next;
    size_t limit = 4 * max_points + front.size();
    for (size_t b = 0; b < before.size(); ++b) {
      for (size_t p = 0; p < front.size(); ++p) {
        next.push_back({{before[b].cost.cycles + front[p].cycles, before[b].cost.energy + front[p].energy},
                        int32_t(b),
                        int32_t(p)});
      }
      // Candidates are pruned as they come, so that memory stays near that of the front.
      if (next.size() > limit) {
        keep_front(next);
        limit = std::max(limit, 2 * next.size());
      }
    }
    keep_front(next);
    if (next.size() > max_points) factor *= 1 + thin(next, max_points);
    sums.push_back(std::move(next));
  }
  NetworkFront result;
  result.energy_slack = factor - 1;
  for (size_t i = 0; i < sums.back().size(); ++i) {
    std::vector<int32_t> choice(layers.size());
    size_t at = i;
    for (size_t l = layers.size(); l-- > 0;) {
      const Step& step = sums[l + 1][at];
      choice[l] = step.point;
      at = size_t(step.from);
    }
    result.points.push_back(sums.back()[i].cost);
    result.choices.push_back(std::move(choice));
  }
  return result;
}

}  // namespace tilewright
