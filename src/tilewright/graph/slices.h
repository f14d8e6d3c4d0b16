// The elements that a Slice takes from each axis: starts, ends, axes and steps with all of ONNX's clamping
// applied.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// The elements start, start + step, ... (count of them) of one axis.
struct SliceRange {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
  bool operator==(const SliceRange&) const = default;
};

// One range per axis of `data`. `axes` and `steps` may be empty (the leading axes, steps of 1). Formula: ONNX
// operator reference, Slice-13. Errors (invalid input, naming the node): lists of different lengths, an axis
// out of range or listed twice, a step of 0.
std::vector<SliceRange> slice_ranges(const Node& node, const Shape& data, std::span<const int64_t> starts,
                                     std::span<const int64_t> ends, std::span<const int64_t> axes,
                                     std::span<const int64_t> steps);

}  // namespace tilewright
