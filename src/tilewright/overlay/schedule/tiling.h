// A layer cut by a schedule on one overlay: sizes of tiles in every scratchpad, and the sequence of steps
// with the buffers and tokens that each of them uses.
//
// A step is one inner iteration: at most one input region and one weight region are loaded into ring buffers,
// then the micro-kernels of one output tile and one range of input channels run. Regions that are still in
// their ring are not loaded again: residency means nothing else. A load has to wait for the last step that
// read the buffer it overwrites; it takes a token exactly when that step is later than everything earlier
// loads waited for. So the token counts are right for any number of tiles and any number of buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tilewright/overlay/schedule/output_passes.h"
#include "tilewright/overlay/schedule/schedule.h"

namespace tilewright::overlay {

// Half-open range.
struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

// Input channel blocks that each output channel block needs. Activations come in blocks of block_in channels
// on either side of a layer; a GEMM makes block_out of them, so an output block is `ratio` = block_in /
// block_out sub-blocks, of which the last block may need fewer.
struct ChannelBlocks {
  ChannelBlocks(const OverlayLayer& layer, const OverlayHardware& hardware);
  int64_t out = 1, in = 1;    // blocks
  int64_t ratio = 1;          // sub-blocks that an output block has room for
  int64_t sub_total = 1;      // sub-blocks with an output channel, in all
  std::vector<Range> needed;  // by output block
  std::vector<int64_t>
      offset;           // by output block: weight elements (per weight index) before it; offset[out]: all
  bool dense = false;   // every output block needs all input blocks
  bool shared = false;  // one set of weights for all blocks
  // Sub-blocks with an output channel in block o.
  int64_t subs(int64_t o) const { return o + 1 < out ? ratio : sub_total - (out - 1) * ratio; }
  int64_t subs(Range blocks) const;
};

// What all tilings of a layer on one overlay share.
struct TilingFacts {
  TilingFacts(const OverlayLayer& layer, const OverlayHardware& hardware);
  ChannelBlocks blocks;
  OutputPasses output;
};

struct Tile {
  Range batch, rows, cols, out;  // batch and out in blocks, rows and cols in output positions
};

struct Step {
  int32_t tile = 0;                  // index into StepPlan::tiles
  Range in;                          // input channel blocks
  Range held;                        // those of the regions in its slots: `in`, or more with first_parts
  bool first = false, last = false;  // of its tile
  int32_t input_slot = 0, weight_slot = 0;
  bool load_input = false, load_weights = false;
  bool wait_for_step = false;  // the loads take a token that an earlier step has given
  bool give_token = false;     // after this step a buffer is free
  int32_t waits_for = -1;      // that earlier step, for the estimate
};

// Sizes, in scratchpad elements unless said.
struct Tiling {
  Tiling(const OverlayLayer& layer, const OverlayHardware& hardware, const Schedule& schedule);
  Tiling(const OverlayLayer& layer, const OverlayHardware& hardware, const Schedule& schedule,
         std::shared_ptr<const TilingFacts> facts);

  const OverlayLayer* layer;
  std::shared_ptr<const TilingFacts> facts;
  const ChannelBlocks& blocks;  // of facts
  const OutputPasses& output;
  Schedule schedule;        // clamped to the layer
  int64_t batch_total = 1;  // batch blocks of the layer
  int64_t parameter_vectors = 0;

  // Rows of input that a tile reads are every row_step-th one; dy_min and dx_min are the smallest offsets.
  int64_t row_step = 1, dy_min = 0, dx_min = 0, dy_max = 0, dx_max = 0;
  int64_t in_rows(int64_t out_rows) const;
  int64_t in_cols(int64_t out_cols) const;

  int64_t input_plane = 0;  // one source, batch block and channel block of a full tile
  // Channel blocks of one source and batch block in an input slot.
  int64_t slot_planes() const {
    return input_slot_size / input_plane / (int64_t(layer->sources.size()) * schedule.batch_blocks);
  }
  int64_t input_slot_size = 0, weight_slot_size = 0, output_slot_size = 0;
  int64_t output_plane = 0;  // one batch and channel block of a full tile of outputs: position * ratio + sub
  // In an output slot of a maximum layer the copied inputs, of a product the other factor: as many elements
  // as the first, or three of each block (bias, multiplier and shift) where it has one position.
  int64_t pool_offset = 0;
  int64_t input_slots = 1, weight_slots = 1, output_slots = 1;
  // Behind the input slots: elements whose lanes add up to ComputedWeights::input_offset.
  int64_t constants = 0;
  int64_t constant_base() const { return input_slot_size * input_slots; }
  bool all_parameters = false;  // the parameters of all output blocks stay in ACC
  int64_t parameter_blocks = 0;
  // 2 where the two output slots lie in the two halves of ACC, each with the parameters beside it, so that
  // the sums of a tile may run while the tile before is being finished (GemmInstruction::beside_alu); else 1.
  int64_t banks = 1;
  int64_t bank_size = 0;  // accumulators of one
  // Where the layer stands in WGT and ACC: beside other layers, in programs that load ahead (AheadPlan).
  int64_t weight_base = 0, accumulator_base = 0;
  int64_t parameter_place = -1;  // of its parameters, where they stay in ACC from run to run; else -1
  int64_t weight_at(int64_t slot) const { return weight_base + slot * weight_slot_size; }
  int64_t slot_base(int64_t slot) const {
    return accumulator_base + slot * (banks == 2 ? bank_size : output_slot_size);
  }
  // Of the parameters of the rows of the tile in `slot` (RowFunction), three for each.
  int64_t row_base(int64_t slot) const { return slot_base(slot) + pool_offset; }
  // Whether a tile's output passes, of which there are several, stand between the sums of the next tile.
  bool passes_between_sums() const {
    return banks == 2 && (layer->rows.has_value() || layer->pair == OverlayLayer::Pair::kSum);
  }
  // Of the parameters for the tile in `slot`.
  int64_t parameter_base(int64_t slot) const {
    if (parameter_place >= 0) return parameter_place;
    return accumulator_base + (banks == 2 ? slot + 1 : 1) * bank_size - parameter_blocks * parameter_vectors;
  }

  // Needed and available elements of each scratchpad.
  int64_t input_need() const { return constant_base() + constants; }
  int64_t weight_need() const { return weight_slot_size * weight_slots; }
  int64_t accumulator_need() const {
    return output_slot_size * output_slots + parameter_blocks * parameter_vectors * banks;
  }
  bool fits(const OverlayHardware& hardware) const;
  // Schedule::early_start, where there is anything to start.
  bool starts_early() const { return schedule.early_start && layer->kind == OverlayLayerKind::kMatrix; }

  int64_t tile_count() const { return image_tiles() * out_tiles(); }
  int64_t image_tiles() const;
  int64_t out_tiles() const;
  // Weight elements of a step.
  int64_t weight_elements(Range out, Range in) const;
  // Accumulators that belong to no output channel and that tile number `index` has to clear, because they are
  // stored.
  int64_t unused_outputs(const Tile& tile, int64_t index) const;

 private:
  void measure_taps();
  void measure_slots();
  void place_accumulators(const OverlayHardware& hardware);
  void measure_groups(int64_t& inner, int64_t& all_inner);
};

// How the input plane of one tile overlaps its image: rows above, inside and below, columns left of, inside
// and right of it, and how many LOADs that takes.
struct InputSplit {
  int64_t first_row = 0, first_col = 0;  // of the first row and column inside
  int64_t above = 0, inside = 0, below = 0;
  int64_t left = 0, width = 0, right = 0;
  bool one_load = false;   // the instruction pads all around
  bool row_loads = false;  // else: every inside row on its own, its padding read from DRAM
  bool one_run = false;    // no padding, and its elements follow each other in DRAM
  // Elements of padding that have to be read from DRAM.
  int64_t padding_from_dram() const {
    if (one_load) return 0;
    const int64_t cols = left + width + right;
    return (above + below) * cols + (row_loads ? inside * (left + right) : 0);
  }
};
InputSplit split_input(const Tiling& tiling, const OverlayHardware& hardware, const LayerSource& source,
                       const Tile& tile);

// Where the blocks of a tile's images lie that are one position each, in elements (of results: positions):
// those of the first image, and the distance from image to image. `joined`: one instruction moves all images.
// nullopt: there are more positions, or they are part of another image.
struct TokenRows {
  int64_t first = 0, stride = 0;
  bool joined = false;
};
std::optional<TokenRows> token_rows(const Tiling& tiling, const LayerSource& source, const Tile& tile,
                                    Range in);
std::optional<TokenRows> token_results(const Tiling& tiling, const Tile& part);

// The LOADs of computed weights for blocks `out` and `in` of a tile: each of `lines` rows of `columns`
// elements, zeros after them; the next one begins an element later. `first`: element of the matrix.
struct MatrixLines {
  int64_t loads = 1, lines = 1, columns = 1, padding = 0;
  int64_t first = 0;
};
MatrixLines matrix_lines(const Tiling& tiling, const OverlayHardware& hardware, Range out, Range in);

// Whether one LOAD brings the planes of a tile as its rows: they are pieces of a larger image, of one run
// each.
bool planes_are_rows(const Tiling& tiling, const LayerSource& source, const InputSplit& split);

struct StepPlan {
  std::vector<Tile> tiles;
  std::vector<Step> steps;
};

// All steps in order. Of a tiling that fits.
StepPlan plan_steps(const Tiling& tiling);

// The parts of a tile that are finished and stored one after the other: Schedule::finish_parts of the last
// one, along its output blocks, or along its rows where it has fewer of these; a smaller part comes last.
std::vector<Tile> parts_to_finish(const Tiling& tiling, const Tile& tile, bool last);

}  // namespace tilewright::overlay
