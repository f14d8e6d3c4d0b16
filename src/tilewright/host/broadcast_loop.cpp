// Broadcasting as in numpy and ONNX: shapes are aligned at their last axes, and an axis along which an
// operand is repeated gets the stride 0. Axes of size 1 are dropped before the rest are merged.
#include "tilewright/host/broadcast_loop.h"

#include <algorithm>

#include "tilewright/base/error.h"

namespace tilewright {

std::vector<int64_t> broadcast_strides(const Shape& to, const Shape& from) {
  const std::vector<int64_t> own = from.strides();
  const int missing = to.rank() - from.rank();
  std::vector<int64_t> strides(size_t(to.rank()), 0);
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (from[axis] != 1) strides[size_t(axis + missing)] = own[size_t(axis)];
  }
  return strides;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  const int missing = to.rank() - from.rank();
  if (missing < 0) return false;
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (from[axis] != 1 && from[axis] != to[axis + missing]) return false;
  }
  return true;
}

BroadcastLoop::BroadcastLoop(const Shape& output, std::span<const Shape> operands)
    : operands_(operands.size()) {
  TILEWRIGHT_CHECK(operands_ <= kMaxOperands, "too many broadcast operands");
  std::array<std::vector<int64_t>, kMaxOperands> full;
  for (size_t i = 0; i < operands_; ++i) {
    if (!broadcasts_to(operands[i], output)) {
      throw Error(ErrorKind::kInvalidInput,
                  "shape " + to_string(operands[i]) + " does not broadcast to " + to_string(output));
    }
    full[i] = broadcast_strides(output, operands[i]);
  }
  // From the innermost axis outwards: an axis joins the one inside it when every operand can step across both
  // with one stride.
  std::vector<int64_t> sizes;
  std::array<std::vector<int64_t>, kMaxOperands> strides;
  for (int axis = output.rank() - 1; axis >= 0; --axis) {
    if (output[axis] == 1) continue;
    bool merge = !sizes.empty();
    for (size_t i = 0; i < operands_ && merge; ++i) {
      merge = full[i][size_t(axis)] == strides[i].back() * sizes.back();
    }
    if (merge) {
      sizes.back() *= output[axis];
      continue;
    }
    sizes.push_back(output[axis]);
    for (size_t i = 0; i < operands_; ++i) strides[i].push_back(full[i][size_t(axis)]);
  }
  if (sizes.empty()) {
    sizes.push_back(1);
    for (size_t i = 0; i < operands_; ++i) strides[i].push_back(0);
  }
  row_length_ = sizes.front();
  rows_ = output.element_count() == 0 ? 0 : output.element_count() / row_length_;
  sizes_.assign(sizes.rbegin(), sizes.rend() - 1);
  for (size_t i = 0; i < operands_; ++i) {
    steps_[i] = int(strides[i].front());
    TILEWRIGHT_CHECK(steps_[i] == 0 || steps_[i] == 1, "innermost broadcast stride");
    strides_[i].assign(strides[i].rbegin(), strides[i].rend() - 1);
  }
}

}  // namespace tilewright
