// Two walks over the steps: the first counts instructions and micro-ops (what has to be fetched, and whether
// all micro-ops fit their cache), the second gives them their time. Loads run ahead as far as their tokens
// let them.
#include "tilewright/overlay/schedule/estimate.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/isa/isa_layout.h"
#include "tilewright/overlay/schedule/module_times.h"
#include "tilewright/overlay/schedule/packing.h"
#include "tilewright/overlay/time/compute_timing.h"

namespace tilewright::overlay {
namespace {

class Estimator {
 public:
  Estimator(const Tiling& tiling, const OverlayHardware& hardware, const MemoryModel& memory)
      : tiling_(tiling),
        layer_(*tiling.layer),
        hardware_(hardware),
        memory_(memory),
        times_(hardware, memory),
        plan_(plan_steps(tiling)) {
    overwrite_ = hardware.isa == IsaVersion::kWide;
    for (const Phase& phase : layer_.phases) {
      if (phase.grids.empty()) overwrite_ = false;
      for (const TapGrid& grid : phase.grids) passes_ = std::max(passes_, grid.pass + 1);
    }
  }

  TilingEstimate run() {
    walk();
    const int64_t uops = cost_.uop_bytes / hardware_.uop_bytes();
    together_ = uops <= hardware_.uop_depth() ? uops : 0;
    int64_t total = 0;
    for (size_t k = 0; k < counts_.size(); ++k) {
      base_[k] = total;
      total += counts_[k];
    }
    times_ = ModuleTimes(hardware_, memory_);
    times_.fetch(total);
    cost_ = {};
    walk();
    cost_.steps = int64_t(plan_.steps.size());
    cost_.tiles = int64_t(plan_.tiles.size());
    // The last store waits for all of compute; then its token, the NOP that takes it and FINISH.
    cost_.cycles = tile_stored_.back() + 5;
    cost_.load_cycles = times_.load_busy();
    cost_.compute_cycles = times_.compute_busy();
    cost_.store_cycles = times_.store_busy();
    const double peak = double(hardware_.macs_per_uop());
    cost_.share_of_peak = cost_.cycles > 0 ? double(layer_.macs) / (cost_.cycles * peak) : 0;
    return cost_;
  }

 private:
  void walk() {
    const size_t steps = plan_.steps.size();
    base_.resize(steps + 1, 0);
    counts_.assign(steps + 1, 0);
    step_done_.assign(steps, 0);
    step_loaded_.assign(steps, 0);
    tile_stored_.assign(plan_.tiles.size(), 0);
    kernels_.clear();
    parameters_[0] = parameters_[1] = {-1, -1};
    part(0, [&] {
      if (together_ > 0) load_uops(together_);
      if (const int64_t bytes = packed_table_bytes(layer_); bytes > 0) {
        cost_.parameter_bytes += bytes;
        times_.compute_load(kTableEntries, table_entry_bytes(layer_));
      }
      for (int64_t k = 0; k < tiling_.constants; ++k) times_.load(0, 1, 0, 0, hardware_.input_bytes());
      for (int64_t bank = 0; tiling_.all_parameters && bank < tiling_.banks; ++bank) {
        load_parameters(tiling_.blocks.sub_total);
      }
    });
    size_t loads = 0;
    for (size_t k = 0; k < steps; ++k) {
      for (; loads < steps && plan_.steps[loads].waits_for < int64_t(k); ++loads) {
        part(loads + 1, [&] { load_step(loads); });
      }
      part(k + 1, [&] { compute_step(k); });
    }
  }

  // What `body` issues belongs to part `index` of the program (0: ahead of the steps).
  template <typename Body>
  void part(size_t index, Body body) {
    times_.at(base_[index]);
    body();
    counts_[index] += times_.position() - base_[index];
  }

  // --- loads ---
  void load_parameters(int64_t blocks) {
    if (tiling_.parameter_vectors == 0) return;
    const int64_t vectors = blocks * tiling_.parameter_vectors;
    cost_.parameter_bytes += vectors * hardware_.accumulator_bytes();
    times_.compute_load(vectors, hardware_.accumulator_bytes());
  }

  void load_uops(int64_t count) {
    cost_.uop_bytes += count * hardware_.uop_bytes();
    times_.compute_load(count, hardware_.uop_bytes());
  }

  void load_step(size_t k) {
    const Step& step = plan_.steps[k];
    const Tile& tile = plan_.tiles[size_t(step.tile)];
    const double earliest = step.wait_for_step ? step_done_[size_t(step.waits_for)] : 0;
    if (step.load_weights && layer_.computed) {
      const MatrixLines lines = matrix_lines(tiling_, hardware_, tile.out, step.in);
      const int64_t data = lines.lines * lines.columns, bytes = hardware_.input_bytes();
      cost_.weight_bytes += lines.loads * data * bytes;
      for (int64_t load = 0; load < lines.loads; ++load) {
        step_loaded_[k] = times_.load(earliest, 0, data, lines.padding * lines.columns, bytes);
      }
    } else if (step.load_weights) {
      const int64_t elements = tiling_.weight_elements(tile.out, step.in);
      cost_.weight_bytes += elements * hardware_.weight_bytes();
      const int64_t parts = step.in == step.held ? 1 : tile.out.size();
      for (int64_t part = 0; part < parts; ++part) {
        step_loaded_[k] = times_.load(earliest, 0, elements / parts, 0, hardware_.weight_bytes());
      }
    }
    if (step.load_input) load_inputs(k, earliest, tile, step.in);
  }

  void load_inputs(size_t k, double earliest, const Tile& tile, Range in) {
    const int64_t planes = tile.batch.size() * in.size(), bytes = hardware_.input_bytes();
    const auto load = [&](int64_t before, int64_t data, int64_t padded) {
      cost_.input_bytes += data * bytes;
      step_loaded_[k] = times_.load(earliest, before, data, padded, bytes);
    };
    for (const LayerSource& source : layer_.sources) {
      if (source.one_position || source.one_channel) {
        const int64_t blocks = source.one_channel ? 1 : in.size();
        const int64_t positions = source.one_position ? 1 : tile.rows.size() * tile.cols.size();
        for (int64_t n = 0; n < tile.batch.size(); ++n) load(0, blocks * positions, 0);
        continue;
      }
      if (const std::optional<TokenRows> rows = token_rows(tiling_, source, tile, in)) {
        const int64_t count = rows->joined ? 1 : tile.batch.size();
        for (int64_t n = 0; n < count; ++n) load(0, planes / count, 0);
        continue;
      }
      const InputSplit split = split_input(tiling_, hardware_, source, tile);
      const int64_t cols = split.left + split.width + split.right, data = split.inside * split.width;
      if (data == tiling_.input_plane && data == source.plane_distance() && tiling_.row_step == 1) {
        for (int64_t n = 0; n < tile.batch.size(); ++n) load(0, in.size() * data, 0);
        continue;
      }
      if (planes_are_rows(tiling_, source, split)) {
        for (int64_t n = 0; n < tile.batch.size(); ++n) load(0, in.size() * data, 0);
        continue;
      }
      for (int64_t plane = 0; plane < planes; ++plane) {
        if (split.one_load) {
          load(split.above * cols, data, split.inside * (split.left + split.right) + split.below * cols);
          continue;
        }
        if (split.above > 0) load(0, split.above * cols, 0);
        if (!split.row_loads && split.inside > 0) {
          load(0, data, split.inside * (split.left + split.right));
        }
        for (int64_t row = 0; split.row_loads && row < split.inside; ++row) {
          for (const int64_t width : {split.left, split.width, split.right}) {
            if (width > 0) load(0, width, 0);
          }
        }
        if (split.below > 0) load(0, split.below * cols, 0);
      }
    }
  }

  // --- compute ---
  void compute_step(size_t k) {
    const Step& step = plan_.steps[k];
    const Tile& tile = plan_.tiles[size_t(step.tile)];
    const bool early = tiling_.starts_early();
    const auto wait_for_data = [&] {
      if (step.load_input || step.load_weights) times_.wait(step_loaded_[k] + 1);
    };
    if (step.first && left_of_tile_ != nullptr) {
      size_t steps = 1;
      for (size_t s = k; !plan_.steps[s].last; ++s) ++steps;
      if (tiling_.output.passes.size() > steps) pass_of_tile_before();
    }
    pass_of_tile_before();
    if (!early) wait_for_data();
    if (step.first) {
      if (step.tile >= tiling_.output_slots) {
        times_.wait(tile_stored_[size_t(step.tile - tiling_.output_slots)] + 1);
      }
      Range& loaded = parameters_[tiling_.banks == 2 ? step.tile % tiling_.output_slots : 0];
      if (!tiling_.all_parameters && tile.out != loaded) {
        load_parameters(tiling_.blocks.subs(tile.out));
        loaded = tile.out;
      }
      start_tile(step, tile);
    }
    if (early) wait_for_data();
    accumulate(tile, step);
    step_done_[k] = times_.last_done();
    if (!step.last) return;
    while (left_of_tile_ != nullptr) pass_of_tile_before();
    const bool last = k + 1 == plan_.steps.size();
    if (tiling_.passes_between_sums() && !last) {
      left_of_tile_ = &step;
      passes_done_ = 0;
      return;
    }
    for (const Tile& part : parts_to_finish(tiling_, tile, last)) {
      for (const OutputPass& pass : tiling_.output.passes) output_pass(part, pass);
      store(step, part);
    }
  }

  void pass_of_tile_before() {
    if (left_of_tile_ == nullptr) return;
    const Step& step = *left_of_tile_;
    const Tile& tile = plan_.tiles[size_t(step.tile)];
    output_pass(tile, tiling_.output.passes[passes_done_]);
    if (++passes_done_ < tiling_.output.passes.size()) return;
    store(step, tile);
    left_of_tile_ = nullptr;
  }

  void accumulate(const Tile& tile, const Step& step) {
    if (layer_.kind == OverlayLayerKind::kMaximum) return maximum(tile);
    if (layer_.kind == OverlayLayerKind::kProduct) return product(tile);
    const int64_t pixels = tile.rows.size() * tile.cols.size() * tile.batch.size();
    const int64_t subs = tiling_.blocks.subs(tile.out);
    int64_t pairs = subs;
    if (tiling_.blocks.dense) pairs *= step.in.size();
    if (layer_.pattern == ChannelPattern::kGrouped) {
      pairs = tiling_.weight_elements(tile.out, step.in) / layer_.weight_count();
    }
    load_kernel_uops(tile, step, std::max<int64_t>(1, pairs / subs));
    if (tiling_.constants > 0) {
      cost_.gemm_uops += pairs * tiling_.constants;
      times_.gemm(pairs * tiling_.constants, tiling_.banks == 2);
    }
    for (int pass = 1; pass < passes_; ++pass) alu(pixels * subs);
    for (const Phase& phase : layer_.phases) {
      const int64_t rows = ceil_div(tile.rows.size() - phase.out_y, layer_.out_step_y);
      const int64_t cols = ceil_div(tile.cols.size() - phase.out_x, layer_.out_step_x);
      if (rows <= 0 || cols <= 0) continue;
      const int64_t destinations = subs * rows * cols * tile.batch.size();
      for (const TapGrid& grid : phase.grids) {
        const int64_t uops = pairs * rows * cols * tile.batch.size() * grid.ny * grid.nx;
        cost_.gemm_uops += uops;
        // Too few destinations: one instruction per reduction index (cover_box_portably).
        const int64_t kernels =
            destinations < 3 && hardware_.isa == IsaVersion::kVta ? uops / destinations : 1;
        for (int64_t i = 0; i < kernels; ++i) times_.gemm(uops / kernels, tiling_.banks == 2);
      }
    }
  }

  void start_tile(const Step& step, const Tile& tile) {
    if (overwrite_) {
      const int64_t unused = tiling_.unused_outputs(tile, step.tile);
      cost_.reset_uops += unused;
      if (unused > 0) times_.gemm(unused, tiling_.banks == 2);
      return;
    }
    const bool start = tiling_.output.start.has_value();
    int64_t resets = !start || step.tile < tiling_.output_slots ? 1 : 0;
    if (start && tiling_.starts_early()) resets = step.tile == 0 ? tiling_.output_slots : 0;
    cost_.reset_uops += resets * tiling_.output_slot_size;
    for (int64_t i = 0; i < resets; ++i) times_.gemm(tiling_.output_slot_size);
    if (start) output_pass(tile, *tiling_.output.start);
  }

  // Micro-ops that a kernel needs once two loops are taken away, once per kernel.
  void load_kernel_uops(const Tile& tile, const Step& step, int64_t pairs_in) {
    const auto key =
        std::make_tuple(step.input_slot, step.weight_slot, int64_t(step.tile) % tiling_.output_slots,
                        tile.rows.size(), tile.cols.size(), tile.out.size(), step.in.size(), step.first);
    if (!kernels_.insert(key).second) return;
    int64_t uops = step.first ? int64_t(tiling_.output.passes.size()) + 2 : 0;
    for (const Phase& phase : layer_.phases) {
      for (const TapGrid& grid : phase.grids) {
        std::array<int64_t, 6> extents{tile.rows.size(), tile.cols.size(), tiling_.blocks.subs(tile.out),
                                       pairs_in,         grid.ny,          grid.nx};
        std::sort(extents.begin(), extents.end());
        uops += extents[0] * extents[1] * extents[2] * extents[3] * tile.batch.size();
      }
    }
    if (together_ == 0) load_uops(uops);
  }

  void maximum(const Tile& tile) {
    const int64_t planes = tile.batch.size() * tiling_.blocks.subs(tile.out);
    const int64_t copies = planes * tiling_.in_rows(tile.rows.size()) * tiling_.in_cols(tile.cols.size());
    const int64_t pixels = planes * tile.rows.size() * tile.cols.size();
    const TapGrid& grid = layer_.phases[0].grids[0];
    const LayerSource& source = layer_.sources[0];
    const int64_t taps = int64_t(grid.ny) * grid.nx;
    // Taps that lie inside the image, over all outputs of the tile.
    const auto inside = [](Range outputs, int64_t step, int64_t offset, int count, int64_t distance,
                           int64_t size) {
      int64_t sum = 0;
      for (int64_t o = outputs.begin; o < outputs.end; ++o) {
        for (int k = 0; k < count; ++k) {
          const int64_t at = o * step + offset + k * distance;
          sum += at >= 0 && at < size;
        }
      }
      return sum;
    };
    const int64_t compared =
        planes * inside(tile.rows, layer_.in_step_y, grid.dy, grid.ny, grid.dy_step, source.height) *
        inside(tile.cols, layer_.in_step_x, grid.dx, grid.nx, grid.dx_step, source.width);
    cost_.gemm_uops += copies;
    cost_.alu_uops += pixels + compared;
    times_.gemm(copies);
    times_.alu(pixels, false);
    for (int64_t tap = 0; tap < taps; ++tap) times_.alu(compared / taps, false);
  }

  void product(const Tile& tile) {
    const LayerSource& other = layer_.sources[1];
    const int64_t planes = tile.batch.size() * tiling_.blocks.subs(tile.out);
    const int64_t outputs = planes * tile.rows.size() * tile.cols.size();
    const int64_t factors = other.one_position ? planes : outputs;
    cost_.gemm_uops += outputs + factors;
    times_.gemm(outputs, tiling_.banks == 2);
    times_.gemm(factors, tiling_.banks == 2);
    if (layer_.pair == OverlayLayer::Pair::kSum) return;
    if (other.zero_point != 0) alu(factors);
    if (other.one_position) {
      alu(factors);
      alu(factors);
      cost_.alu_uops += outputs;
      times_.requantize(outputs, planes);
    } else {
      if (layer_.sources[0].zero_point != 0) alu(outputs);
      cost_.alu_uops += outputs;
      times_.alu(outputs, layer_.pair == OverlayLayer::Pair::kProduct);
    }
  }

  void alu(int64_t steps) {
    cost_.alu_uops += steps;
    times_.alu(steps, false);
  }

  void output_pass(const Tile& tile, const OutputPass& pass) {
    const ChannelBlocks& blocks = tiling_.blocks;
    const int64_t positions = tile.batch.size() * tile.rows.size() * tile.cols.size();
    if (works_on_rows(pass.opcode)) {
      const LoopNest rows{
          .uop_end = 1, .iter_out = uint32_t(positions), .iter_in = uint32_t(tile.out.size())};
      cost_.alu_uops += positions * tile.out.size();
      times_.alu_cycles(1 + double(alu_duration(pass.opcode, rows, uint64_t(hardware_.alu_slices()))));
      return;
    }
    const auto part = [&](int64_t subs) {
      if (!requantizes(pass.opcode)) return alu(positions * subs);
      cost_.alu_uops += positions * subs;
      times_.requantize(positions * subs, pass.of_rows ? positions : subs);
    };
    if (blocks.ratio == 1) return part(tile.out.size());
    for (int64_t o = tile.out.begin; o < tile.out.end; ++o) part(blocks.subs(o));
  }

  void store(const Step& step, const Tile& tile) {
    // Of all sub-blocks at a position, which follow each other.
    const int64_t ratio = tiling_.blocks.ratio, element = hardware_.output_bytes() * ratio;
    const int64_t rows = tile.rows.size(), cols = tile.cols.size();
    const int64_t planes = tile.batch.size() * tile.out.size();
    double done = times_.last_done();
    if (const std::optional<TokenRows> tokens = token_results(tiling_, tile)) {
      const int64_t count = tokens->joined ? 1 : tile.batch.size(), size = tile.out.size();
      for (int64_t n = 0; n < count; ++n) {
        done = times_.store(times_.last_done(), tile.batch.size() / count, size * element, size * ratio);
      }
    } else if (rows * cols == layer_.plane_distance() && tiling_.output_plane == rows * cols * ratio) {
      for (int64_t n = 0; n < tile.batch.size(); ++n) {
        done = times_.store(times_.last_done(), 1, tile.out.size() * rows * cols * element,
                            tile.out.size() * rows * cols * ratio);
      }
    } else {
      const bool joined = cols == layer_.row_distance();
      for (int64_t plane = 0; plane < planes; ++plane) {
        done = times_.store(times_.last_done(), joined ? 1 : rows, (joined ? rows : 1) * cols * element,
                            (joined ? rows : 1) * cols * ratio);
      }
    }
    cost_.output_bytes += planes * rows * cols * element;
    tile_stored_[size_t(step.tile)] = done;
  }

  const Tiling& tiling_;
  const OverlayLayer& layer_;
  const OverlayHardware& hardware_;
  const MemoryModel& memory_;
  ModuleTimes times_;
  StepPlan plan_;
  TilingEstimate cost_;
  bool overwrite_ = false;
  int passes_ = 1;
  const Step* left_of_tile_ = nullptr;  // as in lowering.cpp
  size_t passes_done_ = 0;
  int64_t together_ =
      0;  // micro-ops that one LOAD brings ahead of the first step; 0: each kernel has its own
  std::vector<int64_t> base_, counts_;  // instructions ahead of / in each part of the program
  std::vector<double> step_loaded_, step_done_, tile_stored_;
  Range parameters_[2];  // by bank
  std::set<std::tuple<int32_t, int32_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool>> kernels_;
};

}  // namespace

TilingEstimate estimate_layer(const Tiling& tiling, const OverlayHardware& hardware,
                              const MemoryModel& memory) {
  return Estimator(tiling, hardware, memory).run();
}

}  // namespace tilewright::overlay
