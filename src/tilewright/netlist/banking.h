// Banks of a memory for parallel accesses: which bank holds an element, so that elements accessed together
// never share one. Banks are powers of two and found by picking bits of the indices; no division, no modulus.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tilewright::netlist {

// One index of an array. Accesses of one cycle are at start, start + stride, .., `lanes` of them, for any
// start that keeps them inside; of several dimensions, all combinations.
struct AccessDimension {
  int64_t extent = 1;
  int64_t lanes = 1;
  int64_t stride = 1;
};

class Banking {
 public:
  // Bits [low, low + bits) of the index choose the bank along this dimension.
  struct Dimension {
    int low = 0, bits = 0;
    int64_t words = 1;  // that remain of it in a bank
  };
  explicit Banking(std::vector<Dimension> dimensions) : dimensions_(std::move(dimensions)) {}

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  int64_t banks() const;
  int64_t words_per_bank() const;
  int64_t bank(std::span<const int64_t> index) const;
  // Within the bank; different elements of a bank have different words below words_per_bank().
  int64_t word(std::span<const int64_t> index) const;

 private:
  std::vector<Dimension> dimensions_;
};

// The fewest banks that are a power of two along every dimension. Errors (invalid input): extents, lanes or
// strides below 1, lanes that do not fit the extent.
Banking choose_banks(std::span<const AccessDimension> dimensions);

}  // namespace tilewright::netlist
