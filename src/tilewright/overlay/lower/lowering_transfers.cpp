// Rectangles are joined to longer rows wherever both sides are contiguous: fewer, longer bursts. What is too
// large for one instruction becomes several.
#include "tilewright/overlay/lower/lowering_transfers.h"

#include <algorithm>

#include "tilewright/base/integer_math.h"

namespace tilewright::overlay {
namespace {

constexpr int64_t kMaxSize = 65535;  // rows of an instruction, and elements of one

// Joins rows that follow each other without a gap.
Transfer2D joined(int64_t element, int64_t x_size, int64_t y_size, int64_t x_stride) {
  if (x_stride == x_size && x_size * y_size <= kMaxSize) {
    x_size *= y_size;
    x_stride = x_size;
    y_size = 1;
  }
  if (y_size == 1) x_stride = x_size;
  return {.dram_element = element,
          .x_size = uint32_t(x_size),
          .y_size = uint32_t(y_size),
          .x_stride = uint32_t(x_stride)};
}

// Calls `emit(sram, part)` for parts of `whole` that fit one instruction each. What has padding above or
// below fits as it is, and so do rows with padding beside them.
void in_parts(int64_t sram, const Transfer2D& whole, auto&& emit) {
  if (whole.x_size <= kMaxSize && whole.y_size <= kMaxSize) return emit(uint32_t(sram), whole);
  const int64_t row = int64_t{whole.x_pad_before} + whole.x_size + whole.x_pad_after;
  const int64_t rows = whole.x_size > kMaxSize ? 1 : kMaxSize;
  for (int64_t y = 0; y < whole.y_size; y += rows) {
    for (int64_t x = 0; x < whole.x_size; x += kMaxSize) {
      Transfer2D part = whole;
      part.dram_element += y * whole.x_stride + x;
      part.x_size = uint32_t(std::min(kMaxSize, whole.x_size - x));
      part.y_size = uint32_t(std::min(rows, whole.y_size - y));
      if (part.y_size == 1) part.x_stride = part.x_size;
      emit(uint32_t(sram + y * row + x), part);
    }
  }
}

// The longest row of padding that a layer may need, in elements.
int64_t padding_row(const Tiling& tiling) {
  const OverlayLayer& layer = *tiling.layer;
  const LayerSource& source = layer.sources[0];
  const int64_t rows = tiling.in_rows(layer.out_height) * tiling.row_step;
  const int64_t cols = tiling.in_cols(layer.out_width);
  const bool inside = tiling.dy_min >= 0 && tiling.dx_min >= 0 &&
                      tiling.dy_min + rows - tiling.row_step < source.height &&
                      tiling.dx_min + cols - 1 < source.width;
  return inside ? 0 : tiling.in_cols(tiling.schedule.cols);
}

}  // namespace

// Each plane has padding of its own.
int64_t padding_elements(const Tiling& tiling) {
  return padding_row(tiling) * tiling.layer->sources[0].planes;
}

LayerTransfers::LayerTransfers(const Tiling& tiling, const LayerAddresses& addresses, Runtime& runtime)
    : tiling_(tiling), addresses_(addresses), runtime_(runtime) {}

void LayerTransfers::load(MemoryType type, int64_t sram, const Transfer2D& transfer) {
  in_parts(sram, transfer,
           [&](uint32_t at, const Transfer2D& part) { runtime_.load_buffer_2d(type, at, part); });
}

void LayerTransfers::store(int64_t sram, Transfer2D transfer) {
  transfer.per_position = addresses_.result_per_position;
  transfer.visible_columns = tiling_.layer->visible == OverlayLayer::Visible::kOutputs;
  in_parts(sram, transfer, [&](uint32_t at, const Transfer2D& part) { runtime_.store_buffer_2d(at, part); });
}

void LayerTransfers::load_padding(int64_t sram, size_t s, int64_t rows, int64_t cols) {
  if (rows <= 0 || cols <= 0) return;
  load(MemoryType::kInput, sram,
       {.dram_element = addresses_.padding + tiling_.layer->sources[s].plane * padding_row(tiling_),
        .x_size = uint32_t(cols),
        .y_size = uint32_t(rows)});
}

// The rows that are inside the image, with the padding left and right of them.
void LayerTransfers::load_inside_rows(int64_t element, int64_t sram, size_t s, const InputSplit& split) {
  const LayerSource& source = tiling_.layer->sources[s];
  const int64_t stride = tiling_.row_step * source.row_distance(),
                cols = split.left + split.width + split.right;
  if (!split.row_loads) {
    Transfer2D transfer = joined(element, split.width, split.inside, stride);
    if (split.left + split.right > 0) {
      transfer = {.dram_element = element, .x_size = uint32_t(split.width), .y_size = uint32_t(split.inside)};
      transfer.x_stride = uint32_t(split.inside == 1 ? split.width : stride);
      transfer.x_pad_before = uint32_t(split.left);
      transfer.x_pad_after = uint32_t(split.right);
      transfer.pad_value = padding_lane(*tiling_.layer, s);
    }
    load(MemoryType::kInput, sram, transfer);
    return;
  }
  for (int64_t row = 0; row < split.inside; ++row) {
    const int64_t at = sram + row * cols;
    load_padding(at, s, 1, split.left);
    if (split.width > 0) {
      load(MemoryType::kInput, at + split.left, joined(element + row * stride, split.width, 1, split.width));
    }
    load_padding(at + split.left + split.width, s, 1, split.right);
  }
}

void LayerTransfers::load_plane(int64_t plane_element, int64_t sram, size_t s, const InputSplit& split) {
  const LayerSource& source = tiling_.layer->sources[s];
  const int64_t element = plane_element + split.first_row * source.row_distance() + split.first_col;
  const int64_t cols = split.left + split.width + split.right;
  if (split.one_load && split.above + split.below > 0) {
    Transfer2D transfer{
        .dram_element = element, .x_size = uint32_t(split.width), .y_size = uint32_t(split.inside)};
    transfer.x_stride = uint32_t(split.inside == 1 ? split.width : tiling_.row_step * source.row_distance());
    transfer.x_pad_before = uint32_t(split.left);
    transfer.x_pad_after = uint32_t(split.right);
    transfer.y_pad_before = uint32_t(split.above);
    transfer.y_pad_after = uint32_t(split.below);
    transfer.pad_value = padding_lane(*tiling_.layer, s);
    load(MemoryType::kInput, sram, transfer);
    return;
  }
  load_padding(sram, s, split.above, cols);
  if (split.inside > 0) load_inside_rows(element, sram + split.above * cols, s, split);
  load_padding(sram + (split.above + split.inside) * cols, s, split.below, cols);
}

void LayerTransfers::load_inputs(const Tile& tile, const Step& step) {
  const OverlayLayer& layer = *tiling_.layer;
  const Range in = step.in;
  const int64_t plane_count = tiling_.slot_planes();
  for (size_t s = 0; s < layer.sources.size(); ++s) {
    const LayerSource& source = layer.sources[s];
    if (source.one_position || source.one_channel) {
      load_factor(tile, step, s, plane_count);
      continue;
    }
    if (const std::optional<TokenRows> rows = token_rows(tiling_, source, tile, in)) {
      const int64_t plane =
          int64_t(s) * tiling_.schedule.batch_blocks * plane_count + in.begin - step.held.begin;
      const int64_t sram = step.input_slot * tiling_.input_slot_size + plane, count = tile.batch.size();
      const int64_t first = addresses_.sources[s] + rows->first;
      for (int64_t n = 0; n < (rows->joined ? 1 : count); ++n) {
        Transfer2D transfer =
            joined(first + n * rows->stride, in.size(), rows->joined ? count : 1, rows->stride);
        transfer.visible_columns = layer.visible == OverlayLayer::Visible::kInputs;
        load(MemoryType::kInput, sram + n * plane_count, transfer);
      }
      continue;
    }
    const int64_t image = source.plane_distance();
    const InputSplit split = split_input(tiling_, runtime_.hardware(), source, tile);
    const bool whole_planes = split.inside * split.width == image && tiling_.row_step == 1 &&
                              tiling_.input_plane == image && image * in.size() <= kMaxSize;
    for (int64_t n = tile.batch.begin; n < tile.batch.end; ++n) {
      const int64_t group = int64_t(s) * tiling_.schedule.batch_blocks + n - tile.batch.begin;
      const int64_t plane = group * plane_count + in.begin - step.held.begin;
      const int64_t sram = step.input_slot * tiling_.input_slot_size + plane * tiling_.input_plane;
      const int64_t block = (n * source.planes + source.plane) * tiling_.blocks.in + in.begin;
      const int64_t element = addresses_.sources[s] + block * image;
      if (whole_planes) {
        load(MemoryType::kInput, sram, joined(element, image, in.size(), image));
        continue;
      }
      if (planes_are_rows(tiling_, source, split)) {
        const int64_t begin = element + split.first_row * source.row_distance() + split.first_col;
        load(MemoryType::kInput, sram, joined(begin, tiling_.input_plane, in.size(), image));
        continue;
      }
      for (int64_t i = 0; i < in.size(); ++i) {
        load_plane(element + i * image, sram + i * tiling_.input_plane, s, split);
      }
    }
  }
}

// Source `s` of a product where it is one position (an element per block, one after the other), one channel
// (one plane), or both.
void LayerTransfers::load_factor(const Tile& tile, const Step& step, size_t s, int64_t plane_count) {
  const LayerSource& source = tiling_.layer->sources[s];
  const int64_t image = source.plane_distance();
  const int64_t stored = source.one_channel ? 1 : tiling_.blocks.in;
  const int64_t first = source.one_channel ? 0 : step.in.begin,
                count = source.one_channel ? 1 : step.in.size();
  for (int64_t n = tile.batch.begin; n < tile.batch.end; ++n) {
    const int64_t group = int64_t(s) * tiling_.schedule.batch_blocks + n - tile.batch.begin;
    const int64_t sram =
        step.input_slot * tiling_.input_slot_size + group * plane_count * tiling_.input_plane;
    const int64_t element = addresses_.sources[s] + (n * stored + first) * image;
    if (source.one_position) {
      load(MemoryType::kInput, sram, joined(element, 1, count, image));
    } else {
      load_plane(element, sram, s, split_input(tiling_, runtime_.hardware(), source, tile));
    }
  }
}

void LayerTransfers::load_weights(Range out, const Step& step) {
  const int64_t count = tiling_.layer->weight_count();
  const ChannelBlocks& blocks = tiling_.blocks;
  const Range in = step.in;
  int64_t sram = tiling_.weight_at(step.weight_slot);
  if (tiling_.layer->computed) return load_computed(out, step);
  if (blocks.shared) {
    const int64_t all = count * blocks.subs(0);
    load(MemoryType::kWeight, sram, joined(addresses_.weights, all, 1, all));
    return;
  }
  if (in != step.held) return load_weight_parts(out, step);
  const int64_t subs = blocks.subs(out.begin), row = in.size() * count * subs;
  const bool even = subs == blocks.subs(out.end - 1);
  if (blocks.dense && even && row <= kMaxSize && blocks.in * count * subs <= kMaxSize) {
    const int64_t element = addresses_.weights + (blocks.offset[size_t(out.begin)] + in.begin * subs) * count;
    load(MemoryType::kWeight, sram, joined(element, row, out.size(), blocks.in * count * subs));
    return;
  }
  // Output blocks whose pieces follow each other in memory are loaded together.
  int64_t element = -1, size = 0;
  const auto flush = [&] {
    if (size > 0) load(MemoryType::kWeight, sram, joined(element, size, 1, size));
    sram += size;
    size = 0;
  };
  for (int64_t o = out.begin; o < out.end; ++o) {
    const Range& needed = blocks.needed[size_t(o)];
    const int64_t begin = std::max(needed.begin, in.begin), end = std::min(needed.end, in.end);
    if (begin >= end) continue;
    const int64_t skipped = (begin - needed.begin) * blocks.subs(o);
    const int64_t from = addresses_.weights + (blocks.offset[size_t(o)] + skipped) * count;
    const int64_t length = (end - begin) * blocks.subs(o) * count;
    if (size > 0 && (from != element + size || size + length > kMaxSize)) flush();
    if (size == 0) element = from;
    size += length;
  }
  flush();
}

// A block of the matrix's lines at a time: outputs as rows of WGT elements with their inputs beside each
// other, inputs as columns, by output block. Zeros fill the last block.
void LayerTransfers::load_computed(Range out, const Step& step) {
  const ComputedWeights& matrix = *tiling_.layer->computed;
  const MatrixLines lines = matrix_lines(tiling_, runtime_.hardware(), out, step.in);
  const int64_t sram = tiling_.weight_at(step.weight_slot);
  for (int64_t load = 0; load < lines.loads; ++load) {
    Transfer2D transfer{.dram_element = addresses_.weights + lines.first + load};
    transfer.x_size = uint32_t(lines.columns);
    transfer.y_size = uint32_t(lines.lines);
    transfer.x_stride = uint32_t(lines.lines == 1 ? lines.columns : matrix.line_stride);
    transfer.y_pad_after = uint32_t(lines.padding);
    transfer.visible_rows = tiling_.layer->visible != OverlayLayer::Visible::kAll;
    runtime_.load_buffer_2d(matrix.columns ? MemoryType::kWeightColumns : MemoryType::kWeightRows,
                            uint32_t(sram + load * step.in.size()), transfer);
  }
}

void LayerTransfers::load_ahead() {
  for (const auto& [sram, transfer] : addresses_.ahead) load(MemoryType::kWeight, sram, transfer);
}

void LayerTransfers::load_constants() {
  if (tiling_.constants == 0) return;
  const int32_t offset = tiling_.layer->computed->input_offset;
  for (int64_t k = 0; k < tiling_.constants; ++k) {
    Transfer2D transfer;
    transfer.x_size = transfer.x_stride = 1;
    transfer.y_size = 0;
    transfer.y_pad_before = 1;
    transfer.pad_value = int32_t((offset + k) / tiling_.constants);
    runtime_.load_buffer_2d(MemoryType::kInput, uint32_t(tiling_.constant_base() + k), transfer);
  }
}

// Of each output block the weights of some input blocks, to where they stand among those of all that the slot
// is for.
void LayerTransfers::load_weight_parts(Range out, const Step& step) {
  const int64_t count = tiling_.layer->weight_count();
  const ChannelBlocks& blocks = tiling_.blocks;
  for (int64_t o = out.begin; o < out.end; ++o) {
    const int64_t subs = blocks.subs(o), size = step.in.size() * subs * count;
    const int64_t skipped =
        (o - out.begin) * blocks.ratio * step.held.size() + (step.in.begin - step.held.begin) * subs;
    const int64_t element = addresses_.weights + (blocks.offset[size_t(o)] + step.in.begin * subs) * count;
    const int64_t sram = tiling_.weight_at(step.weight_slot) + skipped * count;
    load(MemoryType::kWeight, sram, joined(element, size, 1, size));
  }
}

void LayerTransfers::load_parameters(Range out, int64_t slot) {
  const int64_t vectors = tiling_.parameter_vectors;
  if (vectors == 0) return;
  const int64_t size = tiling_.blocks.subs(out) * vectors;
  const int64_t element = addresses_.parameters + out.begin * tiling_.blocks.ratio * vectors;
  load(MemoryType::kAccumulator, tiling_.parameter_base(slot), joined(element, size, 1, size));
}

void LayerTransfers::load_table() {
  const OverlayLayer& layer = *tiling_.layer;
  const bool wide = layer.rows && layer.rows->table != nullptr;
  if (!wide && layer.output.table == nullptr) return;
  load(wide ? MemoryType::kWideTable : MemoryType::kTable, 0,
       joined(addresses_.table, kTableEntries, 1, kTableEntries));
}

void LayerTransfers::store_outputs(const Tile& tile, const Tile& part, int64_t slot) {
  const OverlayLayer& layer = *tiling_.layer;
  // In elements of OUT, `ratio` of them at each position.
  const int64_t ratio = tiling_.blocks.ratio, width = layer.row_distance() * ratio,
                image = layer.plane_distance() * ratio;
  const int64_t cols = part.cols.size() * ratio, rows = part.rows.size();
  if (const std::optional<TokenRows> tokens = token_results(tiling_, part)) {
    const int64_t count = part.batch.size(), size = part.out.size() * ratio;
    const int64_t sram = tiling_.slot_base(slot) + (part.out.begin - tile.out.begin) * ratio;
    for (int64_t n = 0; n < (tokens->joined ? 1 : count); ++n) {
      store(sram + n * tiling_.schedule.out_blocks * ratio,
            joined(addresses_.result + (tokens->first + n * tokens->stride) * ratio, size,
                   tokens->joined ? count : 1, tokens->stride * ratio));
    }
    return;
  }
  for (int64_t n = part.batch.begin; n < part.batch.end; ++n) {
    const int64_t group =
        (n - tile.batch.begin) * tiling_.schedule.out_blocks + part.out.begin - tile.out.begin;
    const int64_t sram =
        tiling_.slot_base(slot) + group * tiling_.output_plane + (part.rows.begin - tile.rows.begin) * cols;
    const int64_t element = addresses_.result + (n * tiling_.blocks.out + part.out.begin) * image +
                            part.rows.begin * width + part.cols.begin * ratio;
    if (rows * cols == image && tiling_.output_plane == image && image * part.out.size() <= kMaxSize) {
      store(sram, joined(element, image, part.out.size(), image));
      continue;
    }
    for (int64_t o = 0; o < part.out.size(); ++o) {
      store(sram + o * tiling_.output_plane, joined(element + o * image, cols, rows, width));
    }
  }
}

}  // namespace tilewright::overlay
