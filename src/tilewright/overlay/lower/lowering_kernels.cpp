// Writes every micro-kernel as an affine box (batch, blocks, rows, columns, taps) for cover_box() and records
// it once per key of all that it depends on. prefetch() walks the whole plan and keeps the sequence of
// kernels of each start, step and finish; afterwards they are only pushed, one after the other.
#include "tilewright/overlay/lower/lowering_kernels.h"

#include <algorithm>

#include "tilewright/base/integer_math.h"

namespace tilewright::overlay {
namespace {

// Two numbers of less than 32 bits.
uint64_t pair_of(int64_t a, int64_t b) { return uint64_t(a) << 32 | uint64_t(uint32_t(b)); }

// Mark the keys of starts and finishes in their last two parts, where no step has these numbers.
constexpr uint64_t kStarting = ~uint64_t{0}, kFinishing = ~uint64_t{1};

AluOpcode factor_opcode(const OverlayLayer& layer) {
  switch (layer.pair) {
    case OverlayLayer::Pair::kLarger:
      return AluOpcode::kMax;
    case OverlayLayer::Pair::kSmaller:
      return AluOpcode::kMin;
    default:
      return AluOpcode::kMul;
  }
}

// Positions of a phase along one axis of a tile of `size` outputs.
int64_t phase_positions(int64_t size, int64_t offset, int64_t step) {
  return size > offset ? ceil_div(size - offset, step) : 0;
}

}  // namespace

LayerKernels::LayerKernels(const Tiling& tiling, Runtime& runtime) : tiling_(tiling), runtime_(runtime) {
  overwrite_ = runtime.hardware().isa == IsaVersion::kWide;
  for (const Phase& phase : tiling.layer->phases) {
    if (phase.grids.empty()) overwrite_ = false;
    for (const TapGrid& grid : phase.grids) passes_ = std::max(passes_, grid.pass + 1);
  }
}

size_t LayerKernels::SequenceHash::operator()(const SequenceKey& key) const {
  uint64_t hash = 0;
  for (const uint64_t part : key) hash = (hash ^ part) * 0x9e3779b97f4a7c15u + (hash >> 29);
  return size_t(hash ^ hash >> 32);
}

template <typename Build>
const LayerKernels::Sequence& LayerKernels::sequence(const SequenceKey& key, Build&& build) {
  const auto [entry, fresh] = sequences_.try_emplace(key);
  if (fresh) {
    building_ = &entry->second;
    build();
  }
  return entry->second;
}

const LayerKernels::Sequence& LayerKernels::next() {
  TILEWRIGHT_CHECK(next_ < planned_.size(), "more steps than there are in the plan");
  return *planned_[next_++];
}

void LayerKernels::prefetch(const StepPlan& plan) {
  const KernelHandle first = runtime_.kernel_count();
  planned_.reserve(plan.steps.size() + plan.tiles.size());
  for (const Step& step : plan.steps) {
    const Tile& tile = plan.tiles[size_t(step.tile)];
    const int64_t slot = step.tile % tiling_.output_slots;
    if (step.first && tiling_.starts_early()) planned_.push_back(&starting(tile, step, slot));
    planned_.push_back(&accumulation(tile, step, slot));
    if (!step.last) continue;
    for (const Tile& part : parts_to_finish(tiling_, tile, &step == &plan.steps.back())) {
      planned_.push_back(&finishing(tile, part, slot));
    }
  }
  runtime_.prefetch(first);
}

BoxAxis LayerKernels::output_batch_axis(const Tile& tile) const {
  const auto stride = uint32_t(tiling_.schedule.out_blocks * tiling_.output_plane);
  return {uint32_t(tile.batch.size()), stride, stride, 0};
}

void LayerKernels::reset_slot(int64_t slot, int64_t elements) {
  push({kResetKey, slot, elements}, [&] {
    AffineBox box;
    box.axes = {{uint32_t(elements), 1, 0, 0}};
    box.dst = uint32_t(tiling_.slot_base(slot));
    MicroKernel kernel;
    kernel.reset = true;
    kernel.beside_alu = tiling_.banks == 2;
    return cover_box(runtime_.hardware(), box, kernel);
  });
}

// A single block leaves the same accumulators of its slot out in every tile; they are cleared once.
void LayerKernels::clear_unused(const Tile& tile, int64_t index, int64_t slot) {
  const int64_t count = tiling_.unused_outputs(tile, index);
  if (count == 0 || !overwrite_) return;
  const ChannelBlocks& blocks = tiling_.blocks;
  const bool single = blocks.out == 1;
  const int64_t used = blocks.subs(blocks.out - 1), block = single ? 0 : tile.out.size() - 1;
  const int64_t batches = single ? tiling_.schedule.batch_blocks : tile.batch.size();
  push({kUnusedKey, slot, count, block, batches}, [&] {
    const auto stride = uint32_t(tiling_.schedule.out_blocks * tiling_.output_plane);
    const auto unused = uint32_t(blocks.ratio - used);
    AffineBox box;
    box.axes = {{uint32_t(batches), stride, 0, 0},
                {uint32_t(count / batches) / unused, uint32_t(blocks.ratio), 0, 0},
                {unused, 1, 0, 0}};
    box.dst = uint32_t(tiling_.slot_base(slot) + block * tiling_.output_plane + used);
    MicroKernel kernel;
    kernel.reset = true;
    kernel.beside_alu = tiling_.banks == 2;
    return cover_box(runtime_.hardware(), box, kernel);
  });
}

void LayerKernels::whole_tile(const Tile& tile, int64_t slot, MicroKernel kernel) {
  const int64_t pixels = tile.rows.size() * tile.cols.size();
  const int64_t imm = kernel.imm, opcode = int64_t(kernel.opcode);
  for (const Run& part : parts_of(tile)) {
    push({kWholeTileKey, slot, tile.batch.size(), part.out, part.count, part.subs, pixels, opcode, imm}, [&] {
      const auto plane = uint32_t(tiling_.output_plane), ratio = uint32_t(tiling_.blocks.ratio);
      AffineBox box;
      box.axes = {output_batch_axis(tile),
                  {uint32_t(part.count), plane, plane, 0},
                  {uint32_t(pixels), ratio, ratio, 0},
                  {uint32_t(part.subs), 1, 1, 0}};
      box.dst = box.src = uint32_t(tiling_.slot_base(slot) + part.out * tiling_.output_plane);
      return cover_box(runtime_.hardware(), box, kernel);
    });
  }
}

std::vector<LayerKernels::Run> LayerKernels::parts_of(const Tile& tile) const {
  const ChannelBlocks& blocks = tiling_.blocks;
  const int64_t last = blocks.subs(tile.out.end - 1);
  Run whole{.count = tile.out.size(), .subs = blocks.subs(tile.out.begin)};
  if (whole.subs == last) return {whole};
  --whole.count;
  return {whole, Run{.out = whole.count, .subs = last}};
}

std::vector<LayerKernels::Run> LayerKernels::runs_of(const Tile& tile, const Step& step) const {
  const ChannelBlocks& blocks = tiling_.blocks;
  std::vector<Run> runs;
  if (blocks.dense || blocks.shared) {
    runs = parts_of(tile);
    for (Run& run : runs) {
      run.first_touch = step.first;
      if (blocks.dense) {
        run.in_count = step.in.size();
        run.in = step.in.begin - step.held.begin;
        run.weight = run.out * blocks.ratio * step.held.size() + run.in * run.subs;
        run.weight_delta = run.subs * step.held.size();
      } else {
        run.in = run.out;
        run.in_delta = 1;
      }
    }
    return runs;
  }
  int64_t weight = 0;
  for (int64_t o = tile.out.begin; o < tile.out.end; ++o) {
    const Range& needed = blocks.needed[size_t(o)];
    const int64_t begin = std::max(needed.begin, step.in.begin), end = std::min(needed.end, step.in.end);
    if (begin >= end) continue;
    const int64_t subs = blocks.subs(o);
    Run run{.out = o - tile.out.begin,
            .subs = subs,
            .in = begin - step.in.begin,
            .in_count = end - begin,
            .weight = weight,
            .weight_delta = (end - begin) * subs,
            .first_touch = begin == needed.begin};
    weight += (end - begin) * subs;
    if (!runs.empty()) {
      Run& last = runs.back();
      const int64_t delta = run.in - (last.in + (last.count - 1) * last.in_delta);
      if (last.out + last.count == run.out && last.subs == run.subs && last.in_count == run.in_count &&
          last.first_touch == run.first_touch && delta >= 0 && (last.count == 1 || delta == last.in_delta)) {
        last.in_delta = delta;
        ++last.count;
        continue;
      }
    }
    runs.push_back(run);
  }
  return runs;
}

void LayerKernels::tap_grid(const Tile& tile, const Step& step, int64_t slot, const Phase& phase,
                            const TapGrid& grid, const std::vector<Run>& runs, bool overwrite) {
  const OverlayLayer& layer = *tiling_.layer;
  const int64_t rows = phase_positions(tile.rows.size(), phase.out_y, layer.out_step_y);
  const int64_t cols = phase_positions(tile.cols.size(), phase.out_x, layer.out_step_x);
  if (rows == 0 || cols == 0) return;
  const int64_t width = tiling_.in_cols(tile.cols.size()), out_width = tile.cols.size();
  const int64_t count = layer.weight_count(), ratio = tiling_.blocks.ratio;
  const int64_t group_planes = tiling_.slot_planes() * tiling_.input_plane;
  const auto phase_index = int64_t(&phase - layer.phases.data());
  const auto grid_index = int64_t(&grid - phase.grids.data());
  for (const Run& run : runs) {
    const bool first = overwrite && run.first_touch;
    push({kTapKey, slot, step.input_slot, step.weight_slot, phase_index, grid_index, tile.batch.size(), rows,
          cols, out_width, run.out, run.count, run.subs, run.in, run.in_count, run.in_delta, run.weight,
          run.weight_delta, first},
         [&] {
           const auto u32 = [](int64_t v) { return uint32_t(v); };
           AffineBox box;
           BoxAxis batch = output_batch_axis(tile);
           batch.src = u32(group_planes);
           // Weights stand by index and sub-block.
           const int64_t subs = tiling_.blocks.shared ? tiling_.blocks.subs(0) : run.subs;
           box.axes = {batch,
                       {u32(run.count), u32(tiling_.output_plane), u32(run.in_delta * tiling_.input_plane),
                        u32(run.weight_delta * count), layer.visible == OverlayLayer::Visible::kOutputs},
                       {u32(run.subs), 1, 0, 1},
                       {u32(run.in_count), 0, u32(tiling_.input_plane), u32(count * subs),
                        layer.visible == OverlayLayer::Visible::kInputs},
                       {u32(grid.ny), 0, u32(grid.dy_step / tiling_.row_step * width),
                        u32(grid.weight_step_y * subs)},
                       {u32(grid.nx), 0, u32(grid.dx_step), u32(grid.weight_step_x * subs)},
                       {u32(rows), u32(layer.out_step_y * out_width * ratio),
                        u32(layer.in_step_y / tiling_.row_step * width), 0},
                       {u32(cols), u32(layer.out_step_x * ratio), u32(layer.in_step_x), 0}};
           box.dst = u32(tiling_.slot_base(slot) + run.out * tiling_.output_plane +
                         (phase.out_y * out_width + phase.out_x) * ratio);
           box.src =
               u32(step.input_slot * tiling_.input_slot_size +
                   grid.source * tiling_.schedule.batch_blocks * group_planes + run.in * tiling_.input_plane +
                   (grid.dy - tiling_.dy_min) / tiling_.row_step * width + grid.dx - tiling_.dx_min);
           box.wgt = u32(tiling_.weight_at(step.weight_slot) + run.weight * count + grid.weight * subs);
           MicroKernel kernel;
           kernel.bipolar = layer.sources[size_t(grid.source)].bipolar;
           kernel.beside_alu = tiling_.banks == 2;
           if (overwrite_ || runtime_.hardware().isa == IsaVersion::kWide) {
             return std::vector{cover_box(runtime_.hardware(), box, kernel, first)};
           }
           return cover_box_portably(runtime_.hardware(), box, kernel);
         });
  }
}

void LayerKernels::matrix(const Tile& tile, const Step& step, int64_t slot) {
  const std::vector<Run> runs = runs_of(tile, step);
  if (step.first && !overwrite_ && !tiling_.starts_early()) start_tile(tile, step.tile, slot);
  if (tiling_.constants > 0) add_offsets(tile, step, slot);
  for (int pass = 0; pass < passes_; ++pass) {
    if (pass > 0) {
      MicroKernel shift;
      shift.is_alu = shift.use_imm = true;
      shift.opcode = AluOpcode::kShr;
      shift.imm = -tiling_.layer->pass_shift;
      whole_tile(tile, slot, shift);
    }
    for (const Phase& phase : tiling_.layer->phases) {
      for (const TapGrid& grid : phase.grids) {
        if (grid.pass != pass) continue;
        tap_grid(tile, step, slot, phase, grid, runs, overwrite_ && &grid == phase.grids.data());
      }
    }
  }
}

void LayerKernels::maximum_tap(const Tile& tile, int64_t slot, int64_t dy, int64_t dx) {
  const OverlayLayer& layer = *tiling_.layer;
  const LayerSource& source = layer.sources[0];
  // Outputs of the tile for which this tap lies inside the image.
  const auto inside = [](Range outputs, int64_t step, int64_t offset, int64_t size) {
    const int64_t low = offset >= 0 ? 0 : ceil_div(-offset, step);
    const int64_t high = size - 1 - offset < 0 ? 0 : (size - 1 - offset) / step + 1;
    return Range{std::max(outputs.begin, low), std::min(outputs.end, high)};
  };
  const Range rows = inside(tile.rows, layer.in_step_y, dy, source.height);
  const Range cols = inside(tile.cols, layer.in_step_x, dx, source.width);
  if (rows.size() <= 0 || cols.size() <= 0) return;
  const int64_t width = tiling_.in_cols(tile.cols.size()), out_width = tile.cols.size();
  const Range r{rows.begin - tile.rows.begin, rows.end - tile.rows.begin};
  const Range c{cols.begin - tile.cols.begin, cols.end - tile.cols.begin};
  for (const Run& part : parts_of(tile)) {
    push({kMaximumKey, slot, dy, dx, tile.batch.size(), part.out, part.count, part.subs, out_width, r.begin,
          r.end, c.begin, c.end},
         [&] {
           const auto u32 = [](int64_t v) { return uint32_t(v); };
           const int64_t ratio = tiling_.blocks.ratio, plane = tiling_.input_plane * ratio;
           BoxAxis batch = output_batch_axis(tile);
           batch.src = u32(tiling_.schedule.out_blocks * plane);
           const int64_t row_stride = layer.in_step_y / tiling_.row_step * width;
           const int64_t base = tiling_.slot_base(slot);
           AffineBox box;
           box.axes = {batch,
                       {u32(part.count), u32(tiling_.output_plane), u32(plane), 0},
                       {u32(part.subs), 1, 1, 0},
                       {u32(r.size()), u32(out_width * ratio), u32(row_stride * ratio), 0},
                       {u32(c.size()), u32(ratio), u32(layer.in_step_x * ratio), 0}};
           box.dst = u32(base + part.out * tiling_.output_plane + (r.begin * out_width + c.begin) * ratio);
           const int64_t row = (dy - tiling_.dy_min) / tiling_.row_step * width + r.begin * row_stride;
           box.src = u32(base + tiling_.pool_offset + part.out * plane +
                         (row + dx - tiling_.dx_min + c.begin * layer.in_step_x) * ratio);
           MicroKernel kernel;
           kernel.is_alu = true;
           kernel.opcode = AluOpcode::kMax;
           return cover_box(runtime_.hardware(), box, kernel);
         });
  }
}

// The inputs are copied to accumulators by a product with the identity; a tap outside the image takes no
// part.
void LayerKernels::maximum(const Tile& tile, const Step& step, int64_t slot) {
  const TapGrid& grid = tiling_.layer->phases[0].grids[0];
  if (!overwrite_) reset_slot(slot, tiling_.output_slot_size);
  const int64_t plane = tiling_.in_rows(tile.rows.size()) * tiling_.in_cols(tile.cols.size());
  for (const Run& part : parts_of(tile)) {
    push({kCopyKey, slot, step.input_slot, step.weight_slot, tile.batch.size(), part.out, part.count,
          part.subs, plane},
         [&] {
           const auto ratio = uint32_t(tiling_.blocks.ratio);
           const auto group = uint32_t(tiling_.schedule.out_blocks * tiling_.input_plane);
           const auto stride = uint32_t(tiling_.input_plane);
           AffineBox box;
           box.axes = {{uint32_t(tile.batch.size()), group * ratio, group, 0},
                       {uint32_t(part.count), stride * ratio, stride, 0},
                       {uint32_t(plane), ratio, 1, 0},
                       {uint32_t(part.subs), 1, 0, 1}};
           const auto first = uint32_t(part.out) * stride;
           box.dst = uint32_t(tiling_.slot_base(slot) + tiling_.pool_offset) + first * ratio;
           box.src = uint32_t(step.input_slot * tiling_.input_slot_size) + first;
           box.wgt = uint32_t(tiling_.weight_at(step.weight_slot));
           return cover_box(runtime_.hardware(), box, {}, overwrite_);
         });
  }
  MicroKernel lowest;
  lowest.is_alu = lowest.use_imm = true;
  lowest.opcode = overwrite_ ? AluOpcode::kMove : AluOpcode::kAdd;
  lowest.imm = -128;
  whole_tile(tile, slot, lowest);
  for (int64_t y = 0; y < grid.ny; ++y) {
    for (int64_t x = 0; x < grid.nx; ++x) {
      maximum_tap(tile, slot, grid.dy + y * grid.dy_step, grid.dx + x * grid.dx_step);
    }
  }
}

// The first factor is copied to the outputs, the other one behind them; what is subtracted from them, if
// anything, are immediates. Output passes make a sum of the two.
void LayerKernels::product(const Tile& tile, const Step& step, int64_t slot) {
  const OverlayLayer& layer = *tiling_.layer;
  tap_grid(tile, step, slot, layer.phases[0], layer.phases[0].grids[0], runs_of(tile, step), true);
  const LayerSource& other = layer.sources[1];
  if (!other.one_position && layer.sources[0].zero_point != 0) {
    MicroKernel subtract;
    subtract.is_alu = subtract.use_imm = true;
    subtract.opcode = AluOpcode::kAdd;
    subtract.imm = -layer.sources[0].zero_point;
    whole_tile(tile, slot, subtract);
  }
  for (const Run& part : parts_of(tile)) copy_factor(tile, step, slot, part);
  if (layer.pair == OverlayLayer::Pair::kSum) return;
  for (const Run& part : parts_of(tile)) multiply_by_factor(tile, slot, part);
}

// With one position: bias (minus the first factor's zero point), multiplier and shift of a requantising pass
// that only multiplies. They lie by batch block, block and sub-block.
void LayerKernels::copy_factor(const Tile& tile, const Step& step, int64_t slot, const Run& part) {
  const OverlayLayer& layer = *tiling_.layer;
  const LayerSource& other = layer.sources[1];
  const int64_t pixels = other.one_position ? 1 : tile.rows.size() * tile.cols.size();
  const int64_t each = other.one_position ? 3 : 1, ratio = tiling_.blocks.ratio;
  const int64_t plane = other.one_position ? 3 * ratio : tiling_.output_plane;
  const int64_t base = tiling_.slot_base(slot) + tiling_.pool_offset + part.out * plane;
  const int64_t planes = tiling_.slot_planes() * tiling_.input_plane;
  const auto u32 = [](int64_t v) { return uint32_t(v); };
  const auto box_at = [&](int64_t first) {
    AffineBox box;
    const auto batch = u32(tiling_.schedule.out_blocks * plane);
    box.axes = {{u32(tile.batch.size()), batch, batch, 0},
                {u32(part.count), u32(plane), u32(plane), 0},
                {u32(part.subs), u32(each), u32(each), 0},
                {u32(pixels), u32(ratio), u32(ratio), 0}};
    box.dst = box.src = u32(first);
    return box;
  };
  push({kFactorKey, slot, step.input_slot, step.weight_slot, tile.batch.size(), part.out, part.count,
        part.subs, pixels},
       [&] {
         AffineBox box = box_at(base + (other.one_position ? 1 : 0));
         const int64_t block = other.one_channel ? 0 : other.one_position ? 1 : tiling_.input_plane;
         const int64_t subs = tiling_.blocks.subs(0);
         const std::array<int64_t, 4> src{planes, block, 0, 1};
         for (size_t axis = 0; axis < 4; ++axis) box.axes[axis].src = u32(src[axis]);
         box.axes[2].wgt = 1;
         MicroKernel kernel;
         kernel.beside_alu = tiling_.banks == 2;
         box.src = u32(step.input_slot * tiling_.input_slot_size + tiling_.schedule.batch_blocks * planes +
                       part.out * block);
         box.wgt = u32(tiling_.weight_at(step.weight_slot) + (other.one_channel ? subs : 0));
         return cover_box(runtime_.hardware(), box, kernel, true);
       });
  const auto number = [&](int64_t offset, AluOpcode opcode, int32_t imm) {
    push({kFactorNumberKey, slot, offset, int64_t(opcode), imm, tile.batch.size(), part.out, part.count,
          part.subs, pixels},
         [&] {
           MicroKernel kernel;
           kernel.is_alu = kernel.use_imm = true;
           kernel.opcode = opcode;
           kernel.imm = imm;
           return cover_box(runtime_.hardware(), box_at(base + offset), kernel);
         });
  };
  if (other.zero_point != 0) number(other.one_position ? 1 : 0, AluOpcode::kAdd, -other.zero_point);
  if (!other.one_position) return;
  number(0, AluOpcode::kMove, -layer.sources[0].zero_point);
  number(2, AluOpcode::kMove, 0);
}

void LayerKernels::multiply_by_factor(const Tile& tile, int64_t slot, const Run& part) {
  const bool one_position = tiling_.layer->sources[1].one_position;
  const int64_t pixels = tile.rows.size() * tile.cols.size(), ratio = tiling_.blocks.ratio;
  push({kMultiplyKey, slot, tile.batch.size(), part.out, part.count, part.subs, pixels}, [&] {
    const auto u32 = [](int64_t v) { return uint32_t(v); };
    const int64_t plane = one_position ? 3 * ratio : tiling_.output_plane;
    AffineBox box;
    BoxAxis batch = output_batch_axis(tile);
    batch.src = u32(tiling_.schedule.out_blocks * plane);
    box.axes = {batch,
                {u32(part.count), u32(tiling_.output_plane), u32(plane), 0},
                {u32(part.subs), 1, u32(one_position ? 3 : 1), 0},
                {u32(pixels), u32(ratio), u32(one_position ? 0 : ratio), 0}};
    box.dst = u32(tiling_.slot_base(slot) + part.out * tiling_.output_plane);
    box.src = u32(tiling_.slot_base(slot) + tiling_.pool_offset + part.out * plane);
    MicroKernel kernel;
    kernel.is_alu = true;
    kernel.opcode = one_position ? AluOpcode::kRequantize : factor_opcode(*tiling_.layer);
    kernel.clip_low = INT32_MIN;
    kernel.clip_high = INT32_MAX;
    return cover_box(runtime_.hardware(), box, kernel);
  });
}

// Where a tile lies in the image matters to maxima only, whose taps may lie outside; whether it is the first
// in its slot, to what is cleared once.
const LayerKernels::Sequence& LayerKernels::accumulation(const Tile& tile, const Step& step, int64_t slot) {
  const bool maximum_layer = tiling_.layer->kind == OverlayLayerKind::kMaximum;
  const SequenceKey key{pair_of(slot, tile.batch.size()),
                        pair_of(tile.rows.size(), tile.cols.size()),
                        pair_of(tile.out.begin, tile.out.end),
                        pair_of(step.in.begin, step.in.end),
                        pair_of(step.input_slot, step.weight_slot),
                        pair_of(step.held.size() * 2 + step.first, step.tile < tiling_.output_slots),
                        maximum_layer ? pair_of(tile.rows.begin, tile.cols.begin) : 0};
  return sequence(key, [&] {
    if (step.first && !tiling_.starts_early()) clear_unused(tile, step.tile, slot);
    if (maximum_layer) {
      maximum(tile, step, slot);
    } else if (tiling_.layer->kind == OverlayLayerKind::kProduct) {
      product(tile, step, slot);
    } else {
      matrix(tile, step, slot);
    }
  });
}

const LayerKernels::Sequence& LayerKernels::starting(const Tile& tile, const Step& step, int64_t slot) {
  const SequenceKey key{pair_of(slot, tile.batch.size()),
                        pair_of(tile.rows.size(), tile.cols.size()),
                        pair_of(tile.out.begin, tile.out.end),
                        uint64_t(std::min<int64_t>(step.tile, tiling_.output_slots)),
                        0,
                        kStarting,
                        kStarting};
  return sequence(key, [&] {
    clear_unused(tile, step.tile, slot);
    if (!overwrite_) start_tile(tile, step.tile, slot);
  });
}

void LayerKernels::start_tile(const Tile& tile, int64_t index, int64_t slot) {
  if (!tiling_.output.start) return reset_slot(slot, tiling_.output_slot_size);
  if (!tiling_.starts_early()) {
    if (index < tiling_.output_slots) reset_slot(slot, tiling_.output_slot_size);
  } else if (index == 0) {
    // Nothing else can be done before the first data have come.
    for (int64_t s = 0; s < tiling_.output_slots; ++s) reset_slot(s, tiling_.output_slot_size);
  }
  output_pass(tile, tile, slot, *tiling_.output.start);
}

// Parameters belong to a sub-block. Where blocks have several, each block is an instruction of its own that
// takes one sub-block after the other: parameters then change as rarely as they can.
void LayerKernels::output_pass(const Tile& tile, const Tile& part, int64_t slot, const OutputPass& pass) {
  if (works_on_rows(pass.opcode)) return row_pass(tile, slot, pass);
  const ChannelBlocks& blocks = tiling_.blocks;
  const int64_t first = part.out.begin - tile.out.begin;
  if (blocks.ratio == 1) {
    return output_pass(tile, part, slot, pass, {.out = first, .count = part.out.size()});
  }
  for (int64_t o = part.out.begin; o < part.out.end; ++o) {
    output_pass(tile, part, slot, pass, {.out = o - tile.out.begin, .subs = blocks.subs(o)});
  }
}

void LayerKernels::output_pass(const Tile& tile, const Tile& part, int64_t slot, const OutputPass& pass,
                               const Run& run) {
  const int64_t pixels = part.rows.size() * part.cols.size(), vectors = tiling_.parameter_vectors;
  const int64_t ratio = tiling_.blocks.ratio;
  const int64_t skipped = (part.rows.begin - tile.rows.begin) * tile.cols.size() * ratio;
  const int64_t first = (tiling_.all_parameters ? tile.out.begin : 0) + run.out;
  const int64_t parameters = tiling_.parameter_base(slot) + first * ratio * vectors;
  push({kPassKey, int64_t(pass.opcode), pass.imm, slot, tile.batch.size(), run.out, run.count, run.subs,
        pixels, skipped, pass.of_second,
        pass.use_imm       ? -1
        : pass.of_rows     ? -2
        : pass.adds_second ? -3
                           : parameters + pass.parameter},
       [&] {
         const auto plane = uint32_t(tiling_.output_plane), stride = uint32_t(ratio);
         BoxAxis batch = output_batch_axis(tile);
         const bool visible = tiling_.layer->visible == OverlayLayer::Visible::kOutputs;
         BoxAxis out{uint32_t(run.count), plane, plane, 0, visible}, sub{uint32_t(run.subs), 1, 1, 0};
         BoxAxis pixel{uint32_t(pixels), stride, stride, 0};
         AffineBox box;
         const int64_t second = pass.of_second ? tiling_.pool_offset : 0;
         box.dst = box.src =
             uint32_t(tiling_.slot_base(slot) + second + run.out * tiling_.output_plane + skipped);
         if (pass.of_rows) {
           batch.src = kParameterElements;
           out.src = sub.src = pixel.src = 0;
           box.src = uint32_t(tiling_.row_base(slot));
         } else if (pass.adds_second) {
           box.src += uint32_t(tiling_.pool_offset);
         } else if (!pass.use_imm) {
           batch.src = pixel.src = 0;
           out.src = uint32_t(ratio * vectors);
           sub.src = uint32_t(vectors);
           box.src = uint32_t(parameters + pass.parameter);
         }
         // Parameters change as rarely as they can: by image, or by block.
         box.axes = {out, sub, batch, pixel};
         if (pass.of_rows) box.axes = {batch, out, sub, pixel};
         MicroKernel kernel;
         kernel.is_alu = true;
         kernel.opcode = pass.opcode;
         kernel.use_imm = pass.use_imm;
         kernel.imm = pass.imm;
         kernel.clip_low = pass.clip_low;
         kernel.clip_high = pass.clip_high;
         return cover_box(runtime_.hardware(), box, kernel);
       });
}

const LayerKernels::Sequence& LayerKernels::finishing(const Tile& tile, const Tile& part, int64_t slot) {
  const SequenceKey key{pair_of(slot, tile.batch.size()),
                        pair_of(tile.rows.size(), tile.cols.size()),
                        pair_of(tile.out.begin, tile.out.end),
                        pair_of(part.out.begin, part.out.end),
                        pair_of(part.rows.begin - tile.rows.begin, part.rows.size()),
                        kFinishing,
                        kFinishing};
  return sequence(key, [&] {
    for (const OutputPass& pass : tiling_.output.passes) output_pass(tile, part, slot, pass);
  });
}

}  // namespace tilewright::overlay
