// Enumeration of the processing passes: plain nested loops, the last round of each cut to what is left.
#include "tilewright/spatial/chip/passes.h"

#include <algorithm>

#include "tilewright/base/integer_math.h"

namespace tilewright {
namespace {}  // namespace

int64_t pass_count(const RowStationaryLayer& layer, const RowStationaryMapping& a) {
  const int64_t filters = a.p * a.t;
  const int64_t filter_passes =
      layer.filters / a.m * ceil_div(a.m, filters) + ceil_div(layer.filters % a.m, filters);
  return layer.groups * ceil_div(layer.batch, a.n) * ceil_div(layer.output_height(), a.e) *
         ceil_div(layer.channels, a.q * a.r) * filter_passes;
}

std::vector<PassBlock> pass_blocks(const RowStationaryLayer& layer, const RowStationaryMapping& mapping) {
  std::vector<PassBlock> blocks;
  for (int64_t group = 0; group < layer.groups; ++group) {
    for (int64_t image = 0; image < layer.batch; image += mapping.n) {
      for (int64_t row = 0; row < layer.output_height(); row += mapping.e) {
        for (int64_t filter = 0; filter < layer.filters; filter += mapping.m) {
          blocks.push_back({group, image, std::min(mapping.n, layer.batch - image), row,
                            std::min(mapping.e, layer.output_height() - row), filter,
                            std::min(mapping.m, layer.filters - filter)});
        }
      }
    }
  }
  return blocks;
}

std::vector<Pass> passes_of_block(const RowStationaryLayer& layer, const RowStationaryMapping& mapping,
                                  const PassBlock& block, bool first_block) {
  const int64_t channels = mapping.q * mapping.r, filters = mapping.p * mapping.t;
  std::vector<Pass> passes;
  for (int64_t channel = 0; channel < layer.channels; channel += channels) {
    for (int64_t filter = 0; filter < block.filters; filter += filters) {
      Pass pass;
      pass.shape = {block.images,
                    block.rows,
                    std::min(channels, layer.channels - channel),
                    std::min(filters, block.filters - filter),
                    channel > 0,
                    first_block && passes.empty()};
      pass.group = block.group;
      pass.image = block.image;
      pass.row = block.row;
      pass.channel = channel;
      pass.filter = block.filter + filter;
      passes.push_back(pass);
    }
  }
  return passes;
}

int64_t ideal_cycles(const RowStationaryLayer& layer, const RowStationaryMapping& mapping,
                     const PassShape& shape) {
  return layer.output_width() * layer.kernel_width * std::min(mapping.p, shape.filters) *
         std::min(mapping.q, shape.channels) * shape.images;
}

}  // namespace tilewright
