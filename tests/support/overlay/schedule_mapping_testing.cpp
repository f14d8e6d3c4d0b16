// The levels of the mapping. DRAM: the tiles in the order of the schedule, input blocks innermost.
// Scratchpad: taps, blocks and positions of one step. Micro-op: block_out by batch * block_in lanes, as
// spatial loops.
#include "support/overlay/schedule_mapping_testing.h"

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/schedule/tiling.h"

namespace tilewright::overlay {
namespace {

enum NestDimension { kN, kM, kC, kP, kQ, kR, kS };

bool is_single_nest(const OverlayLayer& layer) {
  return layer.kind == OverlayLayerKind::kMatrix && layer.pattern == ChannelPattern::kDense &&
         layer.sources.size() == 1 && layer.phases.size() == 1 && layer.phases[0].grids.size() == 1 &&
         layer.weight_planes == 1;
}

// Input rows (or columns) at distance `step` from each other, of which position p and tap k read number
// (p * stride + k * tap_step + first) / step.
Rank sliding_rank(const char* name, int64_t size, int64_t stride, int64_t tap_step, int64_t first,
                  int64_t step, int position, int tap) {
  const int64_t remainder = ((first % step) + step) % step;
  Rank rank;
  rank.name = name;
  rank.size = size <= remainder ? 1 : (size - 1 - remainder) / step + 1;
  rank.offset = (first - remainder) / step;
  rank.terms = {{position, stride / step}};
  if (tap_step != 0) rank.terms.push_back({tap, tap_step / step});
  return rank;
}

Workload make_workload(const OverlayLayer& layer, const OverlayHardware& hardware, const Tiling& tiling) {
  const TapGrid& grid = layer.phases[0].grids[0];
  const int64_t n = tiling.batch_total * hardware.batch, m = tiling.blocks.out * hardware.block_out;
  const int64_t c = tiling.blocks.in * hardware.block_in;
  Workload w;
  w.name = layer.name;
  w.dimensions = {{"N", n},       {"M", m},      {"C", c}, {"P", layer.out_height}, {"Q", layer.out_width},
                  {"R", grid.ny}, {"S", grid.nx}};
  const Rank rank_n{"N", n, 0, {{kN, 1}}}, rank_m{"M", m, 0, {{kM, 1}}}, rank_c{"C", c, 0, {{kC, 1}}};
  const int64_t tap_rows = grid.ny > 1 ? grid.dy_step : 0, tap_columns = grid.nx > 1 ? grid.dx_step : 0;
  w.data_spaces = {
      {"input",
       {rank_n, rank_c,
        sliding_rank("H", layer.sources[0].height, layer.in_step_y, tap_rows, grid.dy, tiling.row_step, kP,
                     kR),
        sliding_rank("W", layer.sources[0].width, layer.in_step_x, tap_columns, grid.dx, 1, kQ, kS)},
       hardware.input_bits},
      {"weight",
       {rank_m, rank_c, Rank{"R", grid.ny, 0, {{kR, 1}}}, Rank{"S", grid.nx, 0, {{kS, 1}}}},
       hardware.weight_bits},
      {"output",
       {rank_n, rank_m, Rank{"P", layer.out_height, 0, {{kP, 1}}}, Rank{"Q", layer.out_width, 0, {{kQ, 1}}}},
       hardware.accumulator_bits,
       true}};
  return w;
}

Hierarchy make_hierarchy(const OverlayHardware& hardware) {
  HierarchyLevel dram, scratchpad, uop;
  dram.name = "dram";
  scratchpad.name = "scratchpad";
  scratchpad.space_capacity_bits = {hardware.input_buffer_bytes * 8, hardware.weight_buffer_bytes * 8,
                                    hardware.accumulator_buffer_bytes * 8};
  uop.name = "micro-op";
  uop.fanout_x = hardware.block_out;
  uop.fanout_y = int64_t{hardware.batch} * hardware.block_in;
  return {{dram, scratchpad, uop}};
}

Mapping make_mapping(const Workload& workload, const OverlayHardware& hardware, const Tiling& tiling) {
  const Schedule& s = tiling.schedule;
  const auto tiles = [](int64_t total, int64_t size) { return ceil_div(total, size); };
  const TemporalLoop n{kN, tiles(tiling.batch_total, s.batch_blocks)},
      m{kM, tiles(tiling.blocks.out, s.out_blocks)};
  const TemporalLoop p{kP, tiles(workload.dimensions[kP].size, s.rows)};
  const TemporalLoop q{kQ, tiles(workload.dimensions[kQ].size, s.cols)};
  const TemporalLoop c{kC, tiles(tiling.blocks.in, s.in_blocks)};
  MappingLevel dram, scratchpad, uop;
  dram.name = "dram";
  dram.temporal =
      s.order == TileOrder::kOutputsOuter ? std::vector{m, n, p, q, c} : std::vector{n, p, q, m, c};
  scratchpad.name = "scratchpad";
  scratchpad.temporal = {{kC, s.in_blocks},
                         {kR, workload.dimensions[kR].size},
                         {kS, workload.dimensions[kS].size},
                         {kM, s.out_blocks},
                         {kN, s.batch_blocks},
                         {kP, s.rows},
                         {kQ, s.cols}};
  uop.name = "micro-op";
  uop.spatial = {{kM, hardware.block_out, SpatialAxis::kX},
                 {kN, hardware.batch, SpatialAxis::kY},
                 {kC, hardware.block_in, SpatialAxis::kY}};
  return {{dram, scratchpad, uop}};
}

}  // namespace

std::optional<ScheduleMapping> schedule_mapping(const OverlayLayer& layer, const OverlayHardware& hardware,
                                                const Schedule& schedule) {
  const OverlayLayer target = scheduled_layer(layer, schedule);
  if (!is_single_nest(target)) return {};
  const Tiling tiling(target, hardware, schedule);
  if (tiling.blocks.ratio != 1) return {};
  ScheduleMapping result;
  result.workload = make_workload(target, hardware, tiling);
  result.hierarchy = make_hierarchy(hardware);
  result.mapping = make_mapping(result.workload, hardware, tiling);
  return result;
}

}  // namespace tilewright::overlay
