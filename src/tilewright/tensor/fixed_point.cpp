// Conversions split numbers into floor and remainder, both exact in double, so that no rounding but the
// stated one takes place.
#include "tilewright/tensor/fixed_point.h"

#include <algorithm>
#include <cmath>

#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright {

int32_t fixed_encode(double real, int fraction) {
  if (std::isnan(real)) return 0;
  const double scaled = std::ldexp(real, fraction);
  if (scaled >= 0x1p31) return INT32_MAX;
  if (scaled < -0x1p31) return INT32_MIN;
  const double below = std::floor(scaled);
  const int64_t nearest = int64_t(below) + (scaled - below >= 0.5 ? 1 : 0);
  return int32_t(std::min<int64_t>(nearest, INT32_MAX));
}

float fixed_decode(int32_t fixed, int fraction) { return std::ldexp(float(fixed), -fraction); }

int32_t fixed_average_multiplier(int64_t elements, int fraction) {
  return int32_t(((int64_t{2} << fraction) / elements + 1) >> 1);
}

int32_t fixed_lookup(int32_t x, std::span<const int32_t> table, int input_shift) {
  const int64_t limit = int64_t{1} << (8 + input_shift);
  const int64_t inside = clip(x, -limit, limit - 1);
  const size_t piece = size_t((inside >> input_shift) + 256);
  const int64_t rest = inside & ((int64_t{1} << input_shift) - 1);
  const int64_t rise = int64_t(table[piece + 1]) - table[piece];
  return int32_t(table[piece] + round_shift(rise * rest, input_shift));
}

std::vector<int32_t> fixed_table(const std::function<double(double)>& function, int fraction,
                                 int input_shift) {
  std::vector<int32_t> table;
  for (int i = 0; i < kFixedTableSize; ++i) {
    table.push_back(fixed_encode(function(std::ldexp(i - 256, input_shift - fraction)), fraction));
  }
  return table;
}

}  // namespace tilewright
