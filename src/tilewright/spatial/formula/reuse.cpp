// ISCA 2016, Eq. 3 and 4.
#include "tilewright/spatial/formula/reuse.h"

namespace tilewright::study {

LevelAccesses input_accesses(const Reuse& reuse) {
  const auto [a, b, c, d] = reuse;
  return {a, a * b, a * b * c, a * b * c * d};
}

LevelAccesses output_accesses(const Reuse& reuse) {
  const auto [a, b, c, d] = reuse;
  return {2 * a - 1, 2 * a * (b - 1), a * b * (c - 1), 2 * a * b * c * (d - 1)};
}

}  // namespace tilewright::study
