// The extent of the taps gives the input plane of a tile, planes and blocks the size of a ring slot; a ring
// has a slot per virtual thread, or one for every region that stays resident. Steps are planned by simulating
// the two rings, first in, first out; a load waits for the last step that used the slot it overwrites.
#include "tilewright/overlay/schedule/tiling.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tilewright/base/integer_math.h"

namespace tilewright::overlay {
namespace {

constexpr int32_t kMostAhead = 200;     // steps
constexpr int64_t kMostJoined = 65535;  // what a plain instruction can stride, and a nest iterate

bool has_passes(const OverlayLayer& layer) {
  for (const Phase& phase : layer.phases) {
    if (std::any_of(phase.grids.begin(), phase.grids.end(), [](const TapGrid& g) { return g.pass > 0; }))
      return true;
  }
  return false;
}

Schedule clamped(const OverlayLayer& layer, const ChannelBlocks& blocks, int64_t batch_total,
                 Schedule schedule) {
  schedule.batch_blocks = std::min(schedule.batch_blocks, batch_total);
  schedule.rows = std::min(schedule.rows, layer.out_height);
  schedule.cols = std::min(schedule.cols, layer.out_width);
  schedule.out_blocks = std::min(schedule.out_blocks, blocks.out);
  schedule.in_blocks = std::min(schedule.in_blocks, blocks.in);
  // Sums that are shifted between two passes see all their inputs in each.
  if (has_passes(layer)) {
    schedule.in_blocks = blocks.in;
    schedule.first_parts = 1;
  }
  // Rows are whole, as many as one instruction can count; a matrix of computed weights is of one group.
  const bool grouped = layer.pattern == ChannelPattern::kGrouped;
  const int64_t of_group = grouped ? blocks.out * layer.group_outputs / layer.out_channels : blocks.out;
  if (layer.rows) {
    schedule.batch_blocks = std::min(schedule.batch_blocks, kMostJoined);
    schedule.out_blocks = of_group;
    schedule.finish_parts = 1;
  }
  if (layer.visible == OverlayLayer::Visible::kInputs) schedule.in_blocks = blocks.needed[0].size();
  if (layer.computed) {
    schedule.first_parts = 1;
    while (grouped && of_group % schedule.out_blocks != 0) --schedule.out_blocks;
  }
  // A tile of a layer without such sums is of one plane, whose blocks follow each other as those of the
  // input.
  if (layer.out_plane > 0 && !blocks.dense) {
    while (blocks.in % schedule.out_blocks != 0) --schedule.out_blocks;
  }
  return schedule;
}

// Keys of regions to ring slots, first in first out.
class Ring {
 public:
  using Key = std::array<int64_t, 5>;
  explicit Ring(int64_t slots) : slots_(size_t(slots)) {}

  struct Access {
    int32_t slot;
    bool load;
    int32_t waits_for;  // last step that used the overwritten region, -1: none
  };

  Access access(const Key& key, int32_t step) {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].used && slots_[i].key == key) {
        slots_[i].last_step = step;
        return {int32_t(i), false, -1};
      }
    }
    Slot& slot = slots_[next_];
    const Access result{int32_t(next_), true, slot.used ? slot.last_step : -1};
    slot = {key, step, true};
    next_ = (next_ + 1) % slots_.size();
    return result;
  }

 private:
  struct Slot {
    Key key;
    int32_t last_step = -1;
    bool used = false;
  };
  std::vector<Slot> slots_;
  size_t next_ = 0;
};

}  // namespace

ChannelBlocks::ChannelBlocks(const OverlayLayer& layer, const OverlayHardware& hardware) {
  const int64_t block = hardware.block_in;
  ratio = block / hardware.block_out;
  out = ceil_div(layer.out_channels, block);
  sub_total = ceil_div(layer.out_channels, hardware.block_out);
  in = ceil_div(layer.sources[0].channels, block);
  dense = layer.pattern == ChannelPattern::kDense;
  shared = layer.pattern == ChannelPattern::kSharedDiagonal;
  offset.push_back(0);
  for (int64_t o = 0; o < out; ++o) {
    Range range{0, in};
    if (layer.pattern == ChannelPattern::kDiagonal || shared) {
      range = {o % in, o % in + 1};  // the planes of 16-bit results read the same blocks
    } else if (layer.pattern == ChannelPattern::kGrouped) {
      const int64_t first = o * block / layer.group_outputs;
      const int64_t last = (std::min((o + 1) * block, layer.out_channels) - 1) / layer.group_outputs;
      range = {first * layer.group_inputs / block, ceil_div((last + 1) * layer.group_inputs, block)};
    }
    needed.push_back(range);
    offset.push_back(offset.back() + (shared ? 0 : range.size() * subs(o)));
  }
  if (shared) offset.back() = subs(0);
}

int64_t ChannelBlocks::subs(Range range) const {
  return range.end == out ? (range.size() - 1) * ratio + subs(out - 1) : range.size() * ratio;
}

TilingFacts::TilingFacts(const OverlayLayer& layer, const OverlayHardware& hardware)
    : blocks(layer, hardware), output(make_output_passes(layer, hardware.isa)) {}

Tiling::Tiling(const OverlayLayer& the_layer, const OverlayHardware& hardware, const Schedule& the_schedule)
    : Tiling(the_layer, hardware, the_schedule, std::make_shared<const TilingFacts>(the_layer, hardware)) {}

Tiling::Tiling(const OverlayLayer& the_layer, const OverlayHardware& hardware, const Schedule& the_schedule,
               std::shared_ptr<const TilingFacts> the_facts)
    : layer(&the_layer),
      facts(std::move(the_facts)),
      blocks(facts->blocks),
      output(facts->output),
      batch_total(ceil_div(the_layer.batch, hardware.batch)),
      parameter_vectors(int64_t(output.parameters.size())) {
  schedule = clamped(the_layer, blocks, batch_total, the_schedule);
  measure_taps();
  measure_slots();
  place_accumulators(hardware);
}

void Tiling::place_accumulators(const OverlayHardware& hardware) {
  const int64_t depth = hardware.accumulator_depth();
  const auto place = [&](int64_t count) {
    banks = count;
    bank_size = depth / banks;
    all_parameters =
        !schedule.parameters_by_tile && blocks.sub_total * parameter_vectors * banks <= depth / 8;
    parameter_blocks = all_parameters ? blocks.sub_total : schedule.out_blocks * blocks.subs(0);
  };
  // Sums beside the output passes need sums that start by overwriting and are not shifted in between.
  const bool only_sums = layer->kind == OverlayLayerKind::kMatrix || layer->pair == OverlayLayer::Pair::kSum;
  bool alternates = hardware.gemm_beside_alu && only_sums && output_slots == 2;
  for (const Phase& phase : layer->phases) {
    alternates = alternates && !phase.grids.empty();
    for (const TapGrid& grid : phase.grids) alternates = alternates && grid.pass == 0;
  }
  if (alternates) {
    place(2);
    if (output_slot_size + parameter_blocks * parameter_vectors <= bank_size) return;
  }
  place(1);
}

void Tiling::measure_taps() {
  int64_t step = layer->in_step_y;
  bool any = false;
  for (const Phase& phase : layer->phases) {
    for (const TapGrid& grid : phase.grids) {
      const int64_t bottom = grid.dy + int64_t(grid.ny - 1) * grid.dy_step;
      const int64_t right = grid.dx + int64_t(grid.nx - 1) * grid.dx_step;
      if (!any) {
        dy_min = grid.dy;
        dx_min = grid.dx;
        dy_max = bottom;
        dx_max = right;
        any = true;
      }
      step = std::gcd(step, std::abs(grid.dy - dy_min));
      if (grid.ny > 1) step = std::gcd(step, int64_t(grid.dy_step));
      dy_min = std::min<int64_t>(dy_min, grid.dy);
      dx_min = std::min<int64_t>(dx_min, grid.dx);
      dy_max = std::max(dy_max, bottom);
      dx_max = std::max(dx_max, right);
    }
  }
  row_step = step;
}

int64_t Tiling::in_rows(int64_t out_rows) const {
  const int64_t steps = ceil_div(out_rows, layer->out_step_y);
  return ((steps - 1) * layer->in_step_y + dy_max - dy_min) / row_step + 1;
}

int64_t Tiling::in_cols(int64_t out_cols) const {
  const int64_t steps = ceil_div(out_cols, layer->out_step_x);
  return (steps - 1) * layer->in_step_x + dx_max - dx_min + 1;
}

int64_t Tiling::weight_elements(Range out, Range in) const {
  if (blocks.shared) return layer->weight_count() * blocks.subs(0);
  int64_t pairs = 0;
  if (blocks.dense) {
    pairs = blocks.subs(out) * in.size();
  } else {
    for (int64_t o = out.begin; o < out.end; ++o) {
      const Range& needed = blocks.needed[size_t(o)];
      pairs += std::max<int64_t>(0, std::min(needed.end, in.end) - std::max(needed.begin, in.begin)) *
               blocks.subs(o);
    }
  }
  return pairs * layer->weight_count();
}

int64_t Tiling::unused_outputs(const Tile& tile, int64_t index) const {
  const int64_t unused = blocks.out * blocks.ratio - blocks.sub_total;
  if (unused == 0) return 0;
  // A single block always leaves the same accumulators of a slot out.
  if (blocks.out == 1)
    return index < output_slots ? schedule.batch_blocks * output_plane / blocks.ratio * unused : 0;
  if (tile.out.end != blocks.out) return 0;
  return tile.batch.size() * tile.rows.size() * tile.cols.size() * unused;
}

void Tiling::measure_slots() {
  const Schedule& s = schedule;
  const bool diagonal = layer->pattern == ChannelPattern::kDiagonal || blocks.shared;
  const int64_t sources = int64_t(layer->sources.size());
  const int64_t in_blocks = diagonal ? s.out_blocks : s.in_blocks;
  input_plane = in_rows(s.rows) * in_cols(s.cols);
  input_slot_size = sources * s.batch_blocks * in_blocks * input_plane;
  output_plane = s.rows * s.cols * blocks.ratio;
  output_slot_size = s.batch_blocks * s.out_blocks * output_plane;
  pool_offset = output_slot_size;
  if (layer->kind == OverlayLayerKind::kMaximum) {
    output_slot_size += s.batch_blocks * s.out_blocks * input_plane * blocks.ratio;
  } else if (layer->kind == OverlayLayerKind::kProduct) {
    output_slot_size +=
        layer->sources[1].one_position ? 3 * s.batch_blocks * s.out_blocks * blocks.ratio : output_slot_size;
  }

  if (layer->rows) output_slot_size += kParameterElements * s.batch_blocks;
  if (layer->computed && layer->computed->input_offset != 0)
    constants = layer->computed->input_offset > INT8_MAX ? 2 : 1;

  // Inner steps: at most of one tile, and of all output channel tiles together.
  const int64_t out_tiles = this->out_tiles(), image_tiles = this->image_tiles();
  int64_t inner = 1, all_inner = out_tiles;
  if (blocks.dense) {
    inner = ceil_div(blocks.in, s.in_blocks);
    all_inner = inner * out_tiles;
    weight_slot_size = weight_elements({0, s.out_blocks}, {0, s.in_blocks});
  } else if (diagonal) {
    weight_slot_size = weight_elements({0, s.out_blocks}, {0, s.out_blocks});
  } else {
    measure_groups(inner, all_inner);
  }
  const int64_t steps_total = all_inner * image_tiles;
  const int64_t threads = s.virtual_threads;
  const bool outer = s.order == TileOrder::kOutputsOuter;
  input_slots = std::min(threads, blocks.dense ? inner * image_tiles : steps_total);
  if (s.inputs_resident) input_slots = std::max(input_slots, outer ? inner * image_tiles : inner);
  weight_slots = std::min(threads, all_inner);
  if (s.weights_resident) weight_slots = std::max(weight_slots, outer ? inner : all_inner);
  if (blocks.shared) weight_slots = 1;
  output_slots = std::min(threads, image_tiles * out_tiles);
}

void Tiling::measure_groups(int64_t& inner, int64_t& all_inner) {
  all_inner = 0;
  for (int64_t o = 0; o < blocks.out; o += schedule.out_blocks) {
    const Range out{o, std::min(blocks.out, o + schedule.out_blocks)};
    const Range in{blocks.needed[size_t(out.begin)].begin, blocks.needed[size_t(out.end - 1)].end};
    for (int64_t i = in.begin; i < in.end; i += schedule.in_blocks) {
      const Range part{i, std::min(in.end, i + schedule.in_blocks)};
      weight_slot_size = std::max(weight_slot_size, weight_elements(out, part));
    }
    const int64_t steps = ceil_div(in.size(), schedule.in_blocks);
    inner = std::max(inner, steps);
    all_inner += steps;
  }
}

bool Tiling::fits(const OverlayHardware& hardware) const {
  return input_need() <= hardware.input_depth() && weight_need() <= hardware.weight_depth() &&
         accumulator_need() <= hardware.accumulator_depth();
}

int64_t Tiling::image_tiles() const {
  return ceil_div(batch_total, schedule.batch_blocks) * ceil_div(layer->out_height, schedule.rows) *
         ceil_div(layer->out_width, schedule.cols);
}

int64_t Tiling::out_tiles() const { return ceil_div(blocks.out, schedule.out_blocks); }

InputSplit split_input(const Tiling& tiling, const OverlayHardware& hardware, const LayerSource& source,
                       const Tile& tile) {
  const OverlayLayer& layer = *tiling.layer;
  const bool wide = hardware.isa == IsaVersion::kWide;
  const int64_t max_pad = wide ? 255 : 15, max_size = 65535, step = tiling.row_step;
  const bool pads_in_place = wide || layer.pad_value == 0 || layer.kind == OverlayLayerKind::kMaximum;
  const int64_t rows = tiling.in_rows(tile.rows.size()), cols = tiling.in_cols(tile.cols.size());
  const int64_t row = tile.rows.begin / layer.out_step_y * layer.in_step_y + tiling.dy_min;
  const int64_t col = tile.cols.begin / layer.out_step_x * layer.in_step_x + tiling.dx_min;
  InputSplit split;
  split.above = std::clamp<int64_t>(ceil_div(std::max<int64_t>(0, -row), step), 0, rows);
  const int64_t end = source.height - 1 < row ? 0 : std::min(rows, (source.height - 1 - row) / step + 1);
  split.inside = std::max<int64_t>(0, end - split.above);
  split.below = rows - split.above - split.inside;
  split.left = std::clamp<int64_t>(-col, 0, cols);
  split.right = std::clamp<int64_t>(col + cols - source.width, 0, cols - split.left);
  split.width = cols - split.left - split.right;
  split.first_row = row + split.above * step;
  split.first_col = col + split.left;
  const auto fits = [&](int64_t pad) { return pad <= max_pad; };
  const bool cols_fit =
      split.left + split.right == 0 ||
      (pads_in_place && fits(split.left) && fits(split.right) && split.width > 0 && split.width <= max_size);
  const bool rows_fit =
      split.above + split.below == 0 || (pads_in_place && fits(split.above) && fits(split.below) &&
                                         split.inside <= max_size && split.width <= max_size);
  split.one_load = cols_fit && rows_fit && split.inside > 0 && split.width > 0;
  split.row_loads = !cols_fit;
  split.one_run = split.inside == rows && split.width == cols &&
                  (rows == 1 || (cols == source.row_distance() && step == 1));
  return split;
}

std::optional<TokenRows> token_rows(const Tiling& tiling, const LayerSource& source, const Tile& tile,
                                    Range in) {
  if (source.height * source.width != 1 || tiling.input_plane != 1 || source.plane_distance() != 1 ||
      source.image_plane > 0 || source.one_position || source.one_channel)
    return {};
  TokenRows rows;
  if (source.places.any()) {
    rows.stride = source.places.row;
    rows.first = source.places.at(tile.batch.begin, in.begin);
  } else {
    rows.stride = source.planes * tiling.blocks.in;
    rows.first = (tile.batch.begin * source.planes + source.plane) * tiling.blocks.in + in.begin;
  }
  rows.joined = tiling.slot_planes() == in.size() && rows.stride <= kMostJoined;
  return rows;
}

std::optional<TokenRows> token_results(const Tiling& tiling, const Tile& part) {
  const OverlayLayer& layer = *tiling.layer;
  if (layer.out_height * layer.out_width != 1 || layer.result_plane > 0) return {};
  TokenRows rows;
  if (layer.result_places.any()) {
    rows.stride = layer.result_places.row;
    rows.first = layer.result_places.at(part.batch.begin, part.out.begin);
  } else {
    rows.stride = tiling.blocks.out;
    rows.first = part.batch.begin * tiling.blocks.out + part.out.begin;
  }
  rows.joined =
      part.out.size() == tiling.schedule.out_blocks && rows.stride * tiling.blocks.ratio <= kMostJoined;
  return rows;
}

MatrixLines matrix_lines(const Tiling& tiling, const OverlayHardware& hardware, Range out, Range in) {
  const ComputedWeights& matrix = *tiling.layer->computed;
  const int64_t block = hardware.block_in, of_head = ceil_div(matrix.rows, block);
  const int64_t head = out.begin / of_head, first_out = out.begin % of_head,
                first_in = in.begin - head * ceil_div(matrix.depth, block);
  MatrixLines result;
  const auto take = [&](int64_t first, int64_t blocks, int64_t total) {
    result.lines = std::min(total - first * block, blocks * block);
    result.padding = blocks * block - result.lines;
    result.first = head / matrix.heads_of_group * matrix.head_stride + first * block * matrix.line_stride;
  };
  if (matrix.columns) {
    take(first_in, in.size(), matrix.depth);
    result.first += first_out;
    result.loads = out.size();
  } else {
    take(first_out, out.size(), matrix.rows);
    result.first += first_in;
    result.columns = in.size();
  }
  return result;
}

bool planes_are_rows(const Tiling& tiling, const LayerSource& source, const InputSplit& split) {
  const int64_t run = split.inside * split.width;
  return source.image_plane > 0 && split.one_run && run == tiling.input_plane;
}

namespace {

void for_each_range(int64_t total, int64_t step, auto&& body) {
  for (int64_t at = 0; at < total; at += step) body(Range{at, std::min(total, at + step)});
}

std::vector<Tile> list_tiles(const Tiling& tiling) {
  const Schedule& s = tiling.schedule;
  std::vector<Tile> tiles;
  tiles.reserve(size_t(tiling.tile_count()));
  const auto image_tiles = [&](auto&& body) {
    for_each_range(tiling.batch_total, s.batch_blocks, [&](Range batch) {
      for_each_range(tiling.layer->out_height, s.rows, [&](Range rows) {
        for_each_range(tiling.layer->out_width, s.cols, [&](Range cols) { body(batch, rows, cols); });
      });
    });
  };
  const auto out_tiles = [&](auto&& body) { for_each_range(tiling.blocks.out, s.out_blocks, body); };
  if (s.order == TileOrder::kOutputsOuter) {
    out_tiles([&](Range out) {
      image_tiles([&](Range batch, Range rows, Range cols) { tiles.push_back({batch, rows, cols, out}); });
    });
  } else {
    image_tiles([&](Range batch, Range rows, Range cols) {
      out_tiles([&](Range out) { tiles.push_back({batch, rows, cols, out}); });
    });
  }
  return tiles;
}

// Of computed weights for output block `out` and input block `in`: heads of a group share a matrix.
Ring::Key matrix_key(const Tiling& tiling, int64_t out, int64_t in) {
  const ComputedWeights& matrix = *tiling.layer->computed;
  const int64_t groups = tiling.layer->pattern == ChannelPattern::kGrouped
                             ? tiling.layer->out_channels / tiling.layer->group_outputs
                             : 1;
  const int64_t of_head = tiling.blocks.out / groups, head = out / of_head;
  return {head / matrix.heads_of_group, out % of_head, in - tiling.blocks.needed[size_t(out)].begin};
}

// Cuts the first step into up to `count` steps on parts of its input blocks. They share its slots, and each
// loads its own part of them.
void cut_first_step(StepPlan& plan, int64_t count) {
  const Step whole = plan.steps.front();
  plan.steps.clear();
  for (int64_t begin = whole.in.begin, left = std::min(count, whole.in.size()); left > 0; --left) {
    const int64_t end = begin + ceil_div(whole.in.end - begin, left);
    Step part = whole;
    part.in = {begin, end};
    part.first = begin == whole.in.begin;
    part.last = whole.last && left == 1;
    plan.steps.push_back(part);
    begin = end;
  }
}

}  // namespace

StepPlan plan_steps(const Tiling& tiling) {
  StepPlan plan;
  plan.tiles = list_tiles(tiling);
  const ChannelBlocks& blocks = tiling.blocks;
  const bool diagonal = tiling.layer->pattern == ChannelPattern::kDiagonal || blocks.shared;
  Ring inputs(tiling.input_slots), weights(tiling.weight_slots);
  int32_t waited_for = -1;
  plan.steps.reserve(plan.tiles.size());
  for (size_t t = 0; t < plan.tiles.size(); ++t) {
    const Tile& tile = plan.tiles[t];
    const Range all{blocks.needed[size_t(tile.out.begin)].begin, blocks.needed[size_t(tile.out.end - 1)].end};
    const int64_t size = diagonal ? all.size() : tiling.schedule.in_blocks;
    for (int64_t i = all.begin; i < all.end; i += size) {
      const auto index = int32_t(plan.steps.size());
      Step step;
      step.tile = int32_t(t);
      step.in = step.held = {i, std::min(all.end, i + size)};
      step.first = i == all.begin;
      step.last = step.in.end == all.end;
      const Ring::Key input_key{tile.batch.begin, tile.rows.begin, tile.cols.begin, i, step.in.end};
      const auto input = inputs.access(input_key, index);
      const Ring::Key weight_key = blocks.shared            ? Ring::Key{}
                                   : tiling.layer->computed ? matrix_key(tiling, tile.out.begin, i)
                                                            : Ring::Key{tile.out.begin, i};
      const auto weight = weights.access(weight_key, index);
      step.input_slot = input.slot;
      step.weight_slot = weight.slot;
      step.load_input = input.load;
      step.load_weights = weight.load;
      step.waits_for = std::max(input.waits_for, weight.waits_for);
      // Every load gives compute a token, and counters have 8 bits.
      if (step.load_input || step.load_weights) step.waits_for = std::max(step.waits_for, index - kMostAhead);
      if (step.waits_for > waited_for) {
        step.wait_for_step = true;
        waited_for = step.waits_for;
        plan.steps[size_t(waited_for)].give_token = true;
      }
      plan.steps.push_back(step);
      if (index > 0 || !blocks.dense || tiling.schedule.first_parts == 1) continue;
      cut_first_step(plan, tiling.schedule.first_parts);
      inputs.access(input_key, int32_t(plan.steps.size()) - 1);
      weights.access(weight_key, int32_t(plan.steps.size()) - 1);
    }
  }
  return plan;
}

std::vector<Tile> parts_to_finish(const Tiling& tiling, const Tile& tile, bool last) {
  const int64_t wanted =
      last && tiling.layer->kind == OverlayLayerKind::kMatrix ? tiling.schedule.finish_parts : 1;
  const bool along_rows = tile.out.size() < wanted && tile.rows.size() > tile.out.size();
  const Range whole = along_rows ? tile.rows : tile.out;
  const int64_t count = std::min(wanted, whole.size());
  std::vector<Tile> parts;
  for (int64_t begin = whole.begin, left = count; left > 0; --left) {
    const int64_t end = begin + ceil_div(whole.end - begin, left);
    parts.push_back(tile);
    (along_rows ? parts.back().rows : parts.back().out) = {begin, end};
    begin = end;
  }
  return parts;
}

}  // namespace tilewright::overlay
