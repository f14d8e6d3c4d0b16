// TensorFlow's image layouts: which axis is what, and the way to the channels-first layout of the graph.
#pragma once

#include <string>
#include <vector>

#include "tilewright/frontend/tensorflow/tf_operation.h"

namespace tilewright {

// The layout of an image operator's data, from its data_format.
class TfLayout {
 public:
  // Errors (unsupported): a format that is neither NHWC nor NCHW.
  explicit TfLayout(const TfNode& node);
  bool channels_last() const { return channels_last_; }
  int channel_axis(int rank) const { return channels_last_ ? rank - 1 : 1; }
  // The entries for rows and columns of a list with one per axis (strides, ksize, dilations); `fallback` when
  // the node has no such list. Errors (unsupported): not 1 along batch or channels; (invalid input) not four,
  // not positive.
  std::vector<int64_t> window(const TfNode& node, const std::string& attribute, int64_t fallback) const;

 private:
  bool channels_last_;
};

// A rank-4 value with its channels moved to axis 1, and back. Errors (invalid input): another rank.
ValueId to_channels_first(TfOperation& operation, const TfLayout& layout, ValueId id);
ValueId from_channels_first(TfOperation& operation, const TfLayout& layout, ValueId id);

// With its axes reordered (axis i of the result is axis order[i]): a new constant when the elements are
// constant, otherwise after a Transpose.
ValueId reordered(TfOperation& operation, ValueId id, const std::vector<int64_t>& order);
// The same for sizes.
ValueId with_shape(TfOperation& operation, ValueId id, const Shape& shape);

// Padding of a window operator over rows and columns: {top, left, bottom, right}. `kernel` is the window's
// size with its dilation. Errors (unsupported): a padding mode that is not SAME, VALID or EXPLICIT.
std::vector<int64_t> tf_padding(const TfNode& node, const TfLayout& layout, const Shape& channels_first,
                                const std::vector<int64_t>& kernel, const std::vector<int64_t>& strides);

}  // namespace tilewright
