// Interpolates between the two neighbouring points, in the logarithms of size and value or in the numbers
// themselves. Never extrapolates: the curve ends at its first and last points.
#include "tilewright/hardware/memory_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/base/error.h"

namespace tilewright {

std::string MemoryCurve::problem() const {
  if (points.empty()) return "a curve needs at least one point";
  double last = 0;
  for (const MemoryCurvePoint& point : points) {
    if (!(point.bytes > last) || !std::isfinite(point.bytes)) {
      return fmt::format("the size {} does not follow {}: sizes are positive and increase", point.bytes,
                         last);
    }
    if (!(point.value >= 0) || !std::isfinite(point.value)) {
      return fmt::format("the value {} is negative or not a number", point.value);
    }
    if (logarithmic && point.value == 0) return "a value of 0 has no logarithm; say 'interpolation: linear'";
    last = point.bytes;
  }
  return "";
}

double MemoryCurve::at(double bytes) const {
  TILEWRIGHT_CHECK(!points.empty() && bytes >= smallest() && bytes <= largest(), "a size outside of a curve");
  const auto above = std::find_if(points.begin(), points.end(),
                                  [&](const MemoryCurvePoint& point) { return point.bytes >= bytes; });
  double value = above->value;
  if (above->bytes != bytes) {
    const MemoryCurvePoint& low = *(above - 1);
    if (logarithmic) {
      const double t = std::log(bytes / low.bytes) / std::log(above->bytes / low.bytes);
      value = low.value * std::pow(above->value / low.value, t);
    } else {
      value = low.value + (above->value - low.value) * (bytes - low.bytes) / (above->bytes - low.bytes);
    }
  }
  return per_byte ? value * bytes : value;
}

}  // namespace tilewright
