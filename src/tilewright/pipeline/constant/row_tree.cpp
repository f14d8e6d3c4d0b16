// Prim's algorithm on the complete graph of the rows.
#include "tilewright/pipeline/constant/row_tree.h"

#include <algorithm>

#include "tilewright/pipeline/constant/signed_digits.h"

namespace tilewright::pipeline {
namespace {

int64_t bits_to_add(const ConstantMatrix& matrix, const std::vector<int>& widths, int row, int parent,
                    int sign) {
  int64_t bits = 0;
  for (int column = 0; column < matrix.columns; ++column) {
    const int64_t rest =
        int64_t{matrix.at(row, column)} - (sign == 0 ? 0 : int64_t{sign} * matrix.at(parent, column));
    bits += digit_count(rest) * widths[size_t(column)];
  }
  return bits;
}

}  // namespace

RowTree make_row_tree(const ConstantMatrix& matrix, const std::vector<NumberRange>& ranges, int levels) {
  const size_t rows = size_t(matrix.rows);
  std::vector<int> widths;
  for (const NumberRange& range : ranges) widths.push_back(make_input(range).width);
  RowTree tree;
  tree.origins.resize(rows);
  std::vector<int64_t> cost(rows), own_bits(rows);
  std::vector<bool> placed(rows, false);
  std::vector<int> level(rows, 0);
  for (int row = 0; row < matrix.rows; ++row) {
    cost[size_t(row)] = bits_to_add(matrix, widths, row, row, 0);
    own_bits[size_t(row)] = range_bits(row_range(matrix, row, ranges));
  }
  while (tree.order.size() < rows) {
    int next = -1;
    for (int row = 0; row < matrix.rows; ++row) {
      if (!placed[size_t(row)] && (next < 0 || cost[size_t(row)] < cost[size_t(next)])) next = row;
    }
    placed[size_t(next)] = true;
    tree.order.push_back(next);
    const int parent = tree.origins[size_t(next)].parent;
    level[size_t(next)] = parent < 0 ? 0 : level[size_t(parent)] + 1;
    if (level[size_t(next)] >= levels) continue;
    for (int row = 0; row < matrix.rows; ++row) {
      if (placed[size_t(row)]) continue;
      for (const int sign : {1, -1}) {
        const int64_t bits = bits_to_add(matrix, widths, row, next, sign) + own_bits[size_t(next)];
        if (bits < cost[size_t(row)]) {
          cost[size_t(row)] = bits;
          tree.origins[size_t(row)] = {next, sign < 0, 0};
        }
      }
    }
  }
  for (auto row = tree.order.rbegin(); row != tree.order.rend(); ++row) {
    const RowOrigin& origin = tree.origins[size_t(*row)];
    if (origin.parent < 0) continue;
    int& height = tree.origins[size_t(origin.parent)].height;
    height = std::max(height, origin.height + 1);
  }
  tree.differences = matrix;
  for (int row = 0; row < matrix.rows; ++row) {
    const RowOrigin& origin = tree.origins[size_t(row)];
    if (origin.parent < 0) continue;
    for (int column = 0; column < matrix.columns; ++column) {
      int32_t& rest = tree.differences.weights[size_t(row) * size_t(matrix.columns) + size_t(column)];
      rest -= (origin.negative ? -1 : 1) * matrix.at(origin.parent, column);
    }
  }
  return tree;
}

}  // namespace tilewright::pipeline
