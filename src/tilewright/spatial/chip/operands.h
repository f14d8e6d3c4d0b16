// The data of a layer as the passes address it.
#pragma once

#include <cstdint>
#include <span>

#include "tilewright/base/integer_math.h"
#include "tilewright/spatial/chip/passes.h"

namespace tilewright {

// input i16[N, G*C, H, W] with its padding, weights i16[G*M, C, R, S], both row-major.
struct LayerOperands {
  std::span<const int16_t> input, weights;

  // First pixel of a row. `channel` counts within the group.
  const int16_t* pixel_row(const RowStationaryLayer& layer, int64_t image, int64_t group, int64_t channel,
                           int64_t row) const {
    const int64_t plane = (image * layer.groups + group) * layer.channels + channel;
    return input.data() + (plane * layer.height + row) * layer.width;
  }
  // First weight of a kernel row. `filter` and `channel` count within the group.
  const int16_t* weight_row(const RowStationaryLayer& layer, int64_t group, int64_t filter, int64_t channel,
                            int64_t kernel_row) const {
    const int64_t kernel = (group * layer.filters + filter) * layer.channels + channel;
    return weights.data() + (kernel * layer.kernel_height + kernel_row) * layer.kernel_width;
  }
};

// Partial sums of a block in the global buffer, [image][output row][output column][filter], from the first
// filter of one pass on.
struct BlockPsums {
  int64_t* words = nullptr;
  int64_t rows = 1, columns = 1, filters = 1;  // filters: of the block

  int64_t* at(int64_t image, int64_t row, int64_t column) const {
    return words + ((image * rows + row) * columns + column) * filters;
  }
};

// How a pass divides over the sets: all but the last of each kind are full.
struct PassSets {
  int64_t filter_sets = 1, channel_sets = 1;
  PassSets(const RowStationaryMapping& mapping, const PassShape& shape)
      : filter_sets(ceil_div(shape.filters, mapping.p)),
        channel_sets(ceil_div(shape.channels, mapping.q)),
        p_(mapping.p),
        q_(mapping.q),
        last_filters_(shape.filters - (filter_sets - 1) * mapping.p),
        last_channels_(shape.channels - (channel_sets - 1) * mapping.q) {}
  int64_t filters(int64_t set) const { return set == filter_sets - 1 ? last_filters_ : p_; }
  int64_t channels(int64_t set) const { return set == channel_sets - 1 ? last_channels_ : q_; }

 private:
  int64_t p_, q_, last_filters_, last_channels_;
};

}  // namespace tilewright
