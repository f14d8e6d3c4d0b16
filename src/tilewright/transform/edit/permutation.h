// Permutations of axes as ONNX Transpose has them: output axis k is input axis perm[k].
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

using Permutation = std::vector<int64_t>;

// The `perm` of a Transpose (the reversal when it has none). Errors (invalid input, naming the node): not a
// permutation of `rank` axes.
Permutation permutation_of(const Node& transpose, int rank);
Permutation inverse(const Permutation& perm);
// The one Transpose that does `first`, then `second`.
Permutation then(const Permutation& first, const Permutation& second);
bool is_identity(const Permutation& perm);
// The axes of `shape` longer than 1 keep their order: the elements stay where they are in memory.
bool keeps_element_order(const Permutation& perm, const Shape& shape);
// Shape, or one entry per axis, after a Transpose by `perm`.
Shape permuted(const Shape& shape, const Permutation& perm);
std::vector<int64_t> permuted(const std::vector<int64_t>& per_axis, const Permutation& perm);
// The tensor transposed; any element type of 8 bits or more.
Tensor transposed(const Tensor& tensor, const Permutation& perm);

}  // namespace tilewright
