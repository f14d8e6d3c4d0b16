// Permutations of axes, and when they move nothing.
#include "tilewright/host/image_layout.h"

namespace tilewright {

std::vector<int> channels_last_axes(int rank) {
  std::vector<int> axes{0};
  for (int axis = 2; axis < rank; ++axis) axes.push_back(axis);
  axes.push_back(1);
  return axes;
}

std::vector<int> channels_first_axes(int rank) {
  std::vector<int> axes{0, rank - 1};
  for (int axis = 1; axis < rank - 1; ++axis) axes.push_back(axis);
  return axes;
}

Shape permuted(const Shape& shape, std::span<const int> axes) {
  std::vector<int64_t> dims;
  for (const int axis : axes) dims.push_back(shape[axis]);
  return Shape(std::move(dims));
}

bool keeps_order(const Shape& shape, std::span<const int> axes) {
  int last = -1;
  for (const int axis : axes) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

}  // namespace tilewright
