// A cost of memories as a function of their size, interpolated between stated points.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

struct MemoryCurvePoint {
  double bytes = 0, value = 0;
  bool operator==(const MemoryCurvePoint&) const = default;
};

struct MemoryCurve {
  std::vector<MemoryCurvePoint> points;  // sizes increasing
  // Straight lines through the points on log-log axes (the cost is a power of the size between two points);
  // else on plain ones.
  bool logarithmic = true;
  // The points give the cost per byte: at() multiplies by the size.
  bool per_byte = false;

  // The reason why the curve cannot be used, "" if none: no points, sizes not positive or not increasing,
  // values negative (for a logarithmic curve: not positive).
  std::string problem() const;
  double smallest() const { return points.front().bytes; }
  double largest() const { return points.back().bytes; }
  // The cost of a memory of `bytes`, which must lie within the points.
  double at(double bytes) const;
  bool operator==(const MemoryCurve&) const = default;
};

}  // namespace tilewright
