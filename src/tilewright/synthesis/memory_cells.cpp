// Shapes of 7 series and UltraScale+ memories: vendor data sheets (UG473, UG573, UG474); of iCE40: Lattice
// TN1250.
#include "tilewright/synthesis/memory_cells.h"

#include <algorithm>
#include <limits>
#include <span>

#include "tilewright/base/integer_math.h"

namespace tilewright::synthesis {

namespace {

struct BlockShape {
  int64_t words, width, cells;
};
constexpr BlockShape kBlockShapes[] = {
    {512, 36, 1},  {1024, 18, 1}, {2048, 9, 1}, {4096, 4, 1}, {8192, 2, 1},  {16384, 1, 1}, {512, 72, 2},
    {1024, 36, 2}, {2048, 18, 2}, {4096, 9, 2}, {8192, 4, 2}, {16384, 2, 2}, {32768, 1, 2}};
constexpr BlockShape kIce40Shapes[] = {{256, 16, 1}, {512, 8, 1}, {1024, 4, 1}, {2048, 2, 1}};

struct Cut {
  int64_t cells = 0, rows = 0;  // rows: ranges of words
};

// The cheapest: the fewest cells; of an iCE40 what Yosys makes, for which a cell costs as much as 105 bits
// that are chosen among rows.
Cut cheapest_cut(int64_t words, int64_t width, DeviceFamily family) {
  const bool ice40 = family == DeviceFamily::kIce40;
  Cut best;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const BlockShape& shape : ice40 ? std::span<const BlockShape>(kIce40Shapes) : kBlockShapes) {
    const int64_t rows = ceil_div(words, shape.words);
    const int64_t cells = rows * ceil_div(width, shape.width) * shape.cells;
    const int64_t cost = ice40 ? 105 * cells + width * (rows - 1) : cells;
    if (cost > least || (cost == least && rows >= best.rows)) continue;
    least = cost;
    best = {cells, rows};
  }
  return best;
}

}  // namespace

int64_t block_ram_bits(DeviceFamily family) { return family == DeviceFamily::kIce40 ? 4096 : 18432; }

int64_t block_rams(int64_t words, int64_t width, DeviceFamily family) {
  return words <= 0 || width <= 0 ? 0 : cheapest_cut(words, width, family).cells;
}

int64_t block_ram_rows(int64_t words, int64_t width, DeviceFamily family) {
  return words <= 0 || width <= 0 ? 0 : cheapest_cut(words, width, family).rows;
}

int64_t ultra_rams(int64_t words, int64_t width) {
  if (words <= 0 || width <= 0) return 0;
  int64_t share = 1;
  while (share < 8 && width <= 36 / share) share *= 2;
  return ceil_div(words, 4096 * share) * ceil_div(width, 72 / share);
}

int64_t lut_rams(int64_t words, int64_t width, DeviceFamily family) {
  if (words <= 0 || width <= 0) return 0;
  const bool ultra = family == DeviceFamily::kXcup;
  const int64_t tables = ultra ? 8 : 4, bits = ultra ? 7 : 3;
  if (words <= 32) return tables * ceil_div(width, 2 * bits);
  const int64_t banks = ceil_div(words, 64);
  return banks * tables * ceil_div(width, bits) + width * ceil_div(banks - 1, 3);
}

}  // namespace tilewright::synthesis
