// Positions that a layer reads are marked in a bitmap of its image: taps of a stride or of phases leave
// others out.
#include "tilewright/overlay/tuning/layer_bound.h"

#include <algorithm>
#include <vector>

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/tuning/port_times.h"

namespace tilewright::overlay {
namespace {

// Outputs of a phase along one axis.
int64_t positions(int64_t size, int64_t offset, int64_t step) {
  return size > offset ? ceil_div(size - offset, step) : 0;
}

// Marks offset + q * step + k * distance inside [0, size) for q < count and k < taps.
std::vector<bool> reached(int64_t count, int64_t step, int64_t offset, int taps, int64_t distance,
                          int64_t size) {
  std::vector<bool> marks(size_t(size), false);
  for (int64_t q = 0; q < count; ++q) {
    for (int k = 0; k < taps; ++k) {
      const int64_t at = q * step + offset + k * distance;
      if (at >= 0 && at < size) marks[size_t(at)] = true;
    }
  }
  return marks;
}

// Positions of one plane of source `index` that some tap reads.
int64_t positions_read(const OverlayLayer& layer, int index) {
  const LayerSource& source = layer.sources[size_t(index)];
  std::vector<bool> image(size_t(source.height * source.width), false);
  for (const Phase& phase : layer.phases) {
    const int64_t rows = positions(layer.out_height, phase.out_y, layer.out_step_y);
    const int64_t cols = positions(layer.out_width, phase.out_x, layer.out_step_x);
    for (const TapGrid& grid : phase.grids) {
      if (grid.source != index) continue;
      const auto y = reached(rows, layer.in_step_y, grid.dy, grid.ny, grid.dy_step, source.height);
      const auto x = reached(cols, layer.in_step_x, grid.dx, grid.nx, grid.dx_step, source.width);
      for (size_t row = 0; row < y.size(); ++row) {
        for (size_t col = 0; y[row] && col < x.size(); ++col) {
          if (x[col]) image[row * x.size() + col] = true;
        }
      }
    }
  }
  return std::count(image.begin(), image.end(), true);
}

// Input blocks that some output block needs.
int64_t blocks_read(const ChannelBlocks& blocks) {
  std::vector<bool> read(size_t(blocks.in), false);
  for (const Range& range : blocks.needed) {
    for (int64_t i = range.begin; i < std::min(range.end, blocks.in); ++i) read[size_t(i)] = true;
  }
  return std::count(read.begin(), read.end(), true);
}

void count_compute(const OverlayLayer& layer, const OverlayHardware& hardware, const TilingFacts& facts,
                   LayerBound& bound) {
  const ChannelBlocks& blocks = facts.blocks;
  const int64_t batch = ceil_div(layer.batch, hardware.batch);
  const int64_t outputs = batch * layer.out_height * layer.out_width * blocks.sub_total;
  const int64_t slices = hardware.alu_slices();
  if (layer.kind == OverlayLayerKind::kMaximum) {
    bound.gemm_steps = batch * blocks.sub_total * positions_read(layer, 0);
    bound.alu_steps = outputs * slices;  // the initial values; every position has a tap
    return;
  }
  const int64_t pairs = blocks.shared ? blocks.sub_total : blocks.offset.back();
  bool overwrites = hardware.isa == IsaVersion::kWide;
  int passes = 1;
  for (const Phase& phase : layer.phases) {
    overwrites = overwrites && !phase.grids.empty();
    const int64_t rows = positions(layer.out_height, phase.out_y, layer.out_step_y);
    const int64_t cols = positions(layer.out_width, phase.out_x, layer.out_step_x);
    for (const TapGrid& grid : phase.grids) {
      bound.gemm_steps += batch * pairs * rows * cols * grid.ny * grid.nx;
      passes = std::max(passes, grid.pass + 1);
    }
  }
  if (!overwrites && !facts.output.start) bound.reset_steps = outputs;
  const auto alu_passes = int64_t(facts.output.passes.size()) + (facts.output.start ? 1 : 0) + passes - 1;
  bound.alu_steps = alu_passes * outputs * slices;
}

}  // namespace

LayerBound layer_bound(const OverlayLayer& layer, const OverlayHardware& hardware,
                       const MemoryModel& memory) {
  const TilingFacts facts(layer, hardware);
  LayerBound bound;
  count_compute(layer, hardware, facts, bound);
  const int64_t batch = ceil_div(layer.batch, hardware.batch), planes = batch * blocks_read(facts.blocks);
  for (size_t s = 0; s < layer.sources.size(); ++s) {
    bound.input_bytes += (layer.sources[s].one_channel ? batch : planes) * positions_read(layer, int(s)) *
                         hardware.input_bytes();
  }
  bound.weight_bytes = facts.blocks.offset.back() * layer.weight_count() * hardware.weight_bytes();
  bound.parameter_bytes =
      facts.blocks.sub_total * int64_t(facts.output.parameters.size()) * hardware.accumulator_bytes() +
      (layer.output.table == nullptr ? 0 : kTableEntries);
  bound.output_bytes = batch * layer.out_height * layer.out_width * facts.blocks.out * facts.blocks.ratio *
                       hardware.output_bytes();
  const auto multiplies = double(bound.gemm_steps + bound.reset_steps), alu = double(bound.alu_steps);
  bound.compute_cycles = hardware.gemm_beside_alu ? std::max(multiplies, alu) : multiplies + alu;
  bound.port_cycles = PortTimes(hardware, memory)
                          .both(double(bound.input_bytes + bound.weight_bytes + bound.parameter_bytes),
                                double(bound.output_bytes));
  bound.peak_share = double(layer.macs) / (bound.cycles() * double(hardware.macs_per_uop()));
  return bound;
}

}  // namespace tilewright::overlay
