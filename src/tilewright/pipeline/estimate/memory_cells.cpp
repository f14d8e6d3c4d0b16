// Shapes of 7 series and UltraScale+ memories: vendor data sheets (UG473, UG573, UG474).
#include "tilewright/pipeline/estimate/memory_cells.h"

#include <algorithm>
#include <limits>

#include "tilewright/pipeline/build/layer_geometry.h"

namespace tilewright::pipeline {

int64_t block_rams(int64_t words, int64_t width) {
  if (words <= 0 || width <= 0) return 0;
  struct Shape {
    int64_t words, width, cells;
  };
  constexpr Shape shapes[] = {{512, 36, 1},  {1024, 18, 1}, {2048, 9, 1},  {4096, 4, 1},  {8192, 2, 1},
                              {16384, 1, 1}, {512, 72, 2},  {1024, 36, 2}, {2048, 18, 2}, {4096, 9, 2},
                              {8192, 4, 2},  {16384, 2, 2}, {32768, 1, 2}};
  int64_t best = std::numeric_limits<int64_t>::max();
  for (const Shape& shape : shapes) {
    best = std::min(best, ceil_div(words, shape.words) * ceil_div(width, shape.width) * shape.cells);
  }
  return best;
}

int64_t ultra_rams(int64_t words, int64_t width) {
  return words <= 0 || width <= 0 ? 0 : ceil_div(words, 4096) * ceil_div(width, 72);
}

int64_t lut_rams(int64_t words, int64_t width) {
  if (words <= 0 || width <= 0) return 0;
  if (words <= 32) return 4 * ceil_div(width, 6);
  const int64_t banks = ceil_div(words, 64);
  return banks * 4 * ceil_div(width, 3) + (banks > 1 ? width * ceil_div(banks - 1, 3) : 0);
}

}  // namespace tilewright::pipeline
