// SpaceToBatchND and BatchToSpaceND as moves of elements, for the readers of TensorFlow's formats: the axes
// after the batch are dealt out in blocks to further images of the batch, and put together again.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

struct BlockMove {
  std::vector<int64_t> pads;              // of Pad, before the move; empty: none
  std::vector<int64_t> split;             // shape before the Transpose
  std::vector<int64_t> perm;              // of the Transpose
  std::vector<int64_t> result;            // shape after it
  std::vector<int64_t> begin, end, axes;  // of Slice, after the move; empty: none
};

// `blocks`: the size of a block along each axis from 1 on. `edges`: two numbers for each, pads before and
// after. Errors (invalid input): sizes below 1 or that do not divide an axis, negative edges, too many of
// them.
BlockMove space_to_batch(const Shape& x, const std::vector<int64_t>& blocks,
                         const std::vector<int64_t>& edges);
// `edges`: what is cropped. Errors (invalid input): also a crop that leaves nothing.
BlockMove batch_to_space(const Shape& x, const std::vector<int64_t>& blocks,
                         const std::vector<int64_t>& edges);

}  // namespace tilewright
