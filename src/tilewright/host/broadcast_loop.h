// Iterating over tensors that broadcast to one shape, row by row.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tilewright/tensor/shape.h"

namespace tilewright {

// Whether a tensor of shape `from` may be used where `to` is expected, repeated along axes of size 1.
bool broadcasts_to(const Shape& from, const Shape& to);

// The step, in elements, of a tensor of shape `from` along each axis of `to`, to which it broadcasts; 0 where
// it is repeated.
std::vector<int64_t> broadcast_strides(const Shape& to, const Shape& from);

// Axes along which every operand behaves alike are merged, so rows are as long as possible; within a row, an
// operand either advances with the output (step 1) or stays in place (step 0).
class BroadcastLoop {
 public:
  static constexpr int kMaxOperands = 3;

  // Each operand's shape must broadcast to `output`. Errors (invalid input): one does not.
  BroadcastLoop(const Shape& output, std::span<const Shape> operands);

  int64_t row_length() const { return row_length_; }
  int step(int operand) const { return steps_[size_t(operand)]; }

  // Calls row(output_offset, offsets), offsets[i] being the first element of operand i in this row.
  template <typename Row>
  void for_each_row(Row&& row) const {
    std::array<int64_t, kMaxOperands> offsets{};
    std::vector<int64_t> index(sizes_.size(), 0);
    for (int64_t r = 0; r < rows_; ++r) {
      row(r * row_length_, offsets);
      for (size_t axis = sizes_.size(); axis-- > 0;) {
        for (size_t i = 0; i < operands_; ++i) offsets[i] += strides_[i][axis];
        if (++index[axis] < sizes_[axis]) break;
        for (size_t i = 0; i < operands_; ++i) offsets[i] -= strides_[i][axis] * sizes_[axis];
        index[axis] = 0;
      }
    }
  }

 private:
  size_t operands_ = 0;
  int64_t rows_ = 0;
  int64_t row_length_ = 1;
  std::vector<int64_t> sizes_;  // of the merged axes outside a row
  std::array<std::vector<int64_t>, kMaxOperands> strides_;
  std::array<int, kMaxOperands> steps_{};
};

}  // namespace tilewright
