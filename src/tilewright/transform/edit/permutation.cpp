// Transposing writes the output in order and steps through the input by its permuted strides, like an
// odometer.
#include "tilewright/transform/edit/permutation.h"

#include <cstring>

namespace tilewright {

Permutation permutation_of(const Node& transpose, int rank) {
  Permutation perm;
  for (int axis = rank - 1; axis >= 0; --axis) perm.push_back(axis);
  perm = transpose.ints_or("perm", perm);
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  bool legal = int(perm.size()) == rank;
  for (size_t k = 0; legal && k < perm.size(); ++k) {
    legal = perm[k] >= 0 && perm[k] < rank && !seen[size_t(perm[k])];
    if (legal) seen[size_t(perm[k])] = true;
  }
  if (!legal) {
    throw Error({{ErrorKind::kInvalidInput, where(transpose), transpose.op,
                  "'perm' is not a permutation of its input's " + std::to_string(rank) + " axes", ""}});
  }
  return perm;
}

Permutation inverse(const Permutation& perm) {
  Permutation result(perm.size());
  for (size_t k = 0; k < perm.size(); ++k) result[size_t(perm[k])] = int64_t(k);
  return result;
}

Permutation then(const Permutation& first, const Permutation& second) { return permuted(first, second); }

bool is_identity(const Permutation& perm) {
  for (size_t k = 0; k < perm.size(); ++k) {
    if (perm[k] != int64_t(k)) return false;
  }
  return true;
}

bool keeps_element_order(const Permutation& perm, const Shape& shape) {
  int64_t last = -1;
  for (const int64_t axis : perm) {
    if (shape[int(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

Shape permuted(const Shape& shape, const Permutation& perm) { return Shape(permuted(shape.dims(), perm)); }

std::vector<int64_t> permuted(const std::vector<int64_t>& per_axis, const Permutation& perm) {
  std::vector<int64_t> result;
  for (const int64_t axis : perm) result.push_back(per_axis[size_t(axis)]);
  return result;
}

Tensor transposed(const Tensor& tensor, const Permutation& perm) {
  Tensor result(tensor.type(), permuted(tensor.shape(), perm));
  const std::vector<int64_t> strides = permuted(tensor.shape().strides(), perm);
  const size_t bytes = size_t(bit_width(tensor.type())) / 8;
  TILEWRIGHT_CHECK(bytes > 0, "packed tensors are not transposed here");
  const std::byte* from = tensor.bytes().data();
  std::byte* to = result.mutable_bytes().data();
  std::vector<int64_t> index(perm.size(), 0);
  int64_t offset = 0;
  for (int64_t k = 0; k < result.size(); ++k) {
    std::memcpy(to + size_t(k) * bytes, from + size_t(offset) * bytes, bytes);
    for (size_t axis = perm.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < result.shape()[int(axis)]) break;
      offset -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return result;
}

}  // namespace tilewright
