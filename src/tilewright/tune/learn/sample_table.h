// Designs that were implemented, as a table to learn from: what was chosen (features), what came out
// (targets).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright::tune {

struct SampleTable {
  std::vector<std::string> features;  // names of the columns
  // This many of the last features are derived from those before them, which were chosen. They help to
  // predict; the importance of choices is computed without them.
  size_t derived = 0;
  std::vector<float> rows;  // row-major, samples() x features.size(); NaN: not known
  // Of each row: the hardware description, equal for rows that differ only in how it was implemented; and the
  // width of its operands in bits.
  std::vector<std::string> configurations;
  std::vector<int> precisions;
  std::map<std::string, std::vector<double>> targets;  // by name, one per row, not negative; NaN: no result

  size_t samples() const { return configurations.size(); }
  // Rows that have the target, and, if it is not 0, this precision. Errors (invalid input): no such target;
  // lists those there are.
  std::vector<size_t> rows_with(const std::string& target, int precision = 0) const;
  // The same rows with the chosen features alone.
  SampleTable choices() const;
  // Columns of sizes that fit each other, no target below 0. Throws an Error (invalid input) with every
  // problem.
  void verify() const;
};

}  // namespace tilewright::tune
