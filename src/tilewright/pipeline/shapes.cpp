// One place for choices that are not the allocator's.
#include "tilewright/pipeline/shapes.h"

#include <algorithm>

namespace tilewright::pipeline {

int64_t streaming_ring_rows(const TensorShape& in, const LayerWindow& window) {
  return std::min(window.rows + window.stride_y - 1, std::max(in.rows, window.rows));
}

int lane_weight_bits(const Layer& layer) { return layer.weights.empty() ? 2 : layer.weight_bits; }

Multiplier lane_multiplier(const Layer& layer, const ArrayShape& shape) {
  if (layer.weights.empty() || layer.weight_bits <= 4) return Multiplier::kLut;
  return shape.multiplier == Multiplier::kPair ? Multiplier::kDsp : shape.multiplier;
}

}  // namespace tilewright::pipeline
