// A problem for tests of tuning: the tiles of a blocked matrix product on a machine that does not exist, with
// a cost that depends on products of knobs, ridges where the buffer is full, and points that fail.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tilewright/search/tuning/tuning_problem.h"

namespace tilewright {

class BlockedProduct final : public TuningProblem {
 public:
  // Tiles are multiples of 1 up to `size`; the smaller it is, the smaller the space.
  explicit BlockedProduct(int64_t size = 64, bool fails = false)
      : size_(size),
        fails_(fails),
        space_({Knob::tile_sizes("m", size), Knob::tile_sizes("n", size), Knob::tile_sizes("k", size),
                Knob::choices("order", {"mn", "nm"}), Knob::integers("buffers", {1, 2})},
               [size](const std::vector<int64_t>& v) {
                 return (v[0] * v[2] + v[1] * v[2] + v[0] * v[1]) * v[4] <= size * size;
               }) {}

  const KnobSpace& space() const override { return space_; }

  ProgramFeatures features(KnobSpace::Point point) const override {
    const std::vector<int64_t> v = space_.values(point);
    ProgramFeatures features;
    for (int64_t value : v) features.row.push_back(float(std::log2(1 + double(value))));
    features.row.push_back(float(std::log2(loads(v))));
    for (int k = 0; k < 3; ++k) {
      features.tree.nodes.push_back({{float(std::log2(double(v[size_t(k)]))), float(v[3]), float(v[4])}, {}});
      if (k > 0) features.tree.nodes[size_t(k) - 1].children = {k};
    }
    return features;
  }

  double bound(KnobSpace::Point point) const override {
    const std::vector<int64_t> v = space_.values(point);
    return std::max(loads(v), work(v));
  }

  std::vector<Measurement> measure(std::span<const KnobSpace::Point> points) override {
    largest_batch_ = std::max(largest_batch_, points.size());
    std::vector<Measurement> all;
    for (KnobSpace::Point point : points) {
      repeated_ += measured_.insert(point).second ? 0 : 1;
      Measurement& one = all.emplace_back();
      one.point = point;
      one.cost = cost(point);
      if (!one.cost) one.failure = "the tile is unlucky";
    }
    std::reverse(all.begin(), all.end());
    return all;
  }

  std::optional<double> cost(KnobSpace::Point point) const {
    const std::vector<int64_t> v = space_.values(point);
    if (fails_ && (v[0] * 7 + v[1] * 3 + v[2]) % 5 == 0) return std::nullopt;
    const double a = loads(v), b = work(v);
    return v[4] == 2 ? std::max(a, b) + 0.1 * std::min(a, b) : a + b;
  }
  double optimum() const {
    double best = std::numeric_limits<double>::infinity();
    for (KnobSpace::Point point : valid_points()) best = std::min(best, cost(point).value_or(best));
    return best;
  }
  std::vector<KnobSpace::Point> valid_points() const {
    std::vector<KnobSpace::Point> points;
    for (KnobSpace::Point point = 0; point < space_.size(); ++point) {
      if (space_.valid(point)) points.push_back(point);
    }
    return points;
  }
  int repeated() const { return repeated_; }
  size_t largest_batch() const { return largest_batch_; }

 private:
  double steps(const std::vector<int64_t>& v, size_t k) const {
    return std::ceil(double(size_) / double(v[k]));
  }
  // Of the tiles that each order keeps in place.
  double loads(const std::vector<int64_t>& v) const {
    const double m = steps(v, 0), n = steps(v, 1), k = steps(v, 2);
    const double a = double(v[0] * v[2]) * m * k * (v[3] == 0 ? 1 : n);
    const double b = double(v[1] * v[2]) * n * k * (v[3] == 0 ? m : 1);
    return a + b + 20 * m * n * k;
  }
  double work(const std::vector<int64_t>& v) const {
    const double rounded = 4 * std::ceil(double(v[1]) / 4);  // lanes
    return steps(v, 0) * steps(v, 1) * steps(v, 2) * (double(v[0]) * rounded * double(v[2]) / 16 + 8);
  }

  int64_t size_;
  bool fails_;
  KnobSpace space_;
  std::set<KnobSpace::Point> measured_;
  int repeated_ = 0;
  size_t largest_batch_ = 0;
};

}  // namespace tilewright
