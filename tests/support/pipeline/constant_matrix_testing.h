// Random constant matrices and vectors, with everything that a search may trip over.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/pipeline/constant/adder_graph.h"

namespace tilewright::pipeline {

struct MatrixCase {
  ConstantMatrix matrix;
  std::vector<NumberRange> ranges;
};

// Weights uniform over their type.
inline ConstantMatrix uniform_matrix(int rows, int columns, int bits, Random& random) {
  ConstantMatrix matrix{rows, columns, {}};
  for (int i = 0; i < rows * columns; ++i) {
    matrix.weights.push_back(
        int32_t(random.between(-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1)));
  }
  return matrix;
}

// The values of an input of `bits` bits.
inline NumberRange full_range(int bits, bool is_signed) {
  return is_signed ? NumberRange{-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1}
                   : NumberRange{0, (int64_t{1} << bits) - 1};
}

inline NumberRange random_range(Random& random) {
  switch (random.between(0, 4)) {
    case 0: {  // one value
      const int64_t value = random.between(-300, 300);
      return {value, value};
    }
    case 1: {  // any two ends
      const int64_t low = random.between(-300, 300);
      return {low, random.between(low, low + random.between(0, 400))};
    }
    default:
      return full_range(int(random.between(1, 9)), random.chance(0.5));
  }
}

// `most` rows and columns at most.
inline MatrixCase random_matrix_case(int most, Random& random) {
  MatrixCase result;
  const int rows = int(random.between(1, most)), columns = int(random.between(1, most));
  ConstantMatrix& matrix = result.matrix = uniform_matrix(rows, columns, int(random.between(1, 8)), random);
  const double zeros = random.chance(0.5) ? random.uniform() : 0;
  for (int32_t& weight : matrix.weights) {
    if (random.chance(zeros)) weight = 0;
  }
  const double odd_rows = random.chance(0.5) ? random.uniform() : 0;
  for (int row = 0; row < rows; ++row) {
    if (!random.chance(odd_rows)) continue;
    const int other = int(random.between(0, row));
    const int64_t kind = random.between(0, 4), shift = random.between(0, 4);
    for (int column = 0; column < columns; ++column) {
      int32_t& weight = matrix.weights[size_t(row) * size_t(columns) + size_t(column)];
      const int32_t copied = matrix.at(other, column);
      if (kind == 0) weight = 0;
      if (kind == 1) weight = copied;
      if (kind == 2) weight = -copied;
      if (kind == 3) weight = copied < 256 && copied > -256 ? copied * (1 << shift) : copied;
      if (kind == 4) weight = (random.chance(0.5) ? 1 : -1) * (1 << random.between(0, 7));
    }
  }
  if (random.chance(0.3)) {
    for (int row = 0; row < rows; ++row) {
      matrix.factors.push_back(random.chance(0.5) ? 1 : random.between(1, 1 << random.between(1, 12)));
      matrix.offsets.push_back(random.between(-100000, 100000));
    }
  }
  const bool alike = random.chance(0.4);
  const NumberRange range = random_range(random);
  for (int column = 0; column < columns; ++column)
    result.ranges.push_back(alike ? range : random_range(random));
  return result;
}

// Any vector within the ranges.
inline std::vector<int64_t> random_vector(const std::vector<NumberRange>& ranges, Random& random) {
  std::vector<int64_t> vector;
  for (const NumberRange& range : ranges) vector.push_back(random.between(range.low, range.high));
  return vector;
}

// Vector 2 row takes a row to its least value, 2 row + 1 to its largest; the others are random.
inline std::vector<int64_t> probing_vector(const MatrixCase& one, int64_t index, Random& random) {
  const int64_t row = index / 2;
  if (row >= one.matrix.rows) return random_vector(one.ranges, random);
  std::vector<int64_t> vector;
  for (int column = 0; column < one.matrix.columns; ++column) {
    const NumberRange& range = one.ranges[size_t(column)];
    const bool up = (one.matrix.at(int(row), column) > 0) == (index % 2 != 0);
    vector.push_back(up ? range.high : range.low);
  }
  return vector;
}

}  // namespace tilewright::pipeline
