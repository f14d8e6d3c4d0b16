// The arguments stand in the header.
#include "tilewright/pipeline/constant/lower_bound.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "tilewright/base/integer_math.h"

namespace tilewright::pipeline {
namespace {

// A row of a matrix, as far as it bounds the graph.
struct RowBound {
  int inputs = 0;
  double merged = 0;  // S
  int shared = 0;     // M
};

double bits_of(const NumberRange& range) { return std::log2(double(range.high - range.low) + 1); }

RowBound bound_row(const ConstantMatrix& rows, int row, const std::vector<NumberRange>& ranges,
                   int narrowest) {
  RowBound bound;
  int64_t largest = 1;
  for (int column = 0; column < rows.columns; ++column) {
    const int64_t factor = rows.at(row, column);
    if (factor == 0) continue;
    ++bound.inputs;
    bound.merged += bits_of(ranges[size_t(column)]);
    largest = std::max(largest, std::abs(factor));
  }
  bound.merged -= bits_of(row_range(rows, row, ranges));
  bound.shared = std::max(0, narrowest - floor_log2(largest) - 1);
  return bound;
}

}  // namespace

GraphBound lower_bound(const ConstantMatrix& rows, const std::vector<NumberRange>& ranges) {
  int narrowest = 64;
  for (const NumberRange& range : ranges) {
    if (range.low < range.high)
      narrowest = std::min(narrowest, int(std::bit_width(uint64_t(range.high - range.low))));
  }
  std::vector<RowBound> bounds;
  for (int row = 0; row < rows.rows; ++row) bounds.push_back(bound_row(rows, row, ranges, narrowest));
  std::sort(bounds.begin(), bounds.end(),
            [](const RowBound& a, const RowBound& b) { return a.inputs > b.inputs; });
  GraphBound best;
  double least = std::numeric_limits<double>::infinity();
  int64_t shared = 0;
  int most_shared = 0;
  for (size_t i = 0; i < bounds.size() && bounds[i].inputs > 1; ++i) {
    least = std::min(least, bounds[i].merged);
    shared += bounds[i].shared;
    most_shared = std::max(most_shared, bounds[i].shared);
    best.sums = std::max(best.sums, int64_t{bounds[i].inputs} - 1 + int64_t(i));
    const double luts = std::max(0.0, std::ceil(least - 1e-6)) + double(shared - most_shared);
    best.luts = std::max(best.luts, int64_t(luts));
  }
  return best;
}

}  // namespace tilewright::pipeline
