#include "tilewright/overlay/estimate.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace tilewright::overlay {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Estimator {
 public:
  Estimator(const Tiling& tiling, const OverlayHardware& hardware, const OverlayTiming& timing)
      : tiling_(tiling),
        layer_(*tiling.layer),
        hardware_(hardware),
        timing_(timing),
        plan_(plan_steps(tiling)) {
    for (const OutputPass& pass : tiling.output.passes) {
      pass_cycles_ += pass.opcode == AluOpcode::kRequantize ? timing.alu_requantize
                      : pass.use_imm                        ? timing.alu_immediate
                                                            : timing.alu_tensor;
    }
    overwrite_ = hardware.isa == IsaVersion::kWide;
    for (const Phase& phase : layer_.phases) {
      if (phase.grids.empty()) overwrite_ = false;
      for (const TapGrid& grid : phase.grids) passes_ = std::max(passes_, grid.pass + 1);
    }
  }

  LayerCost run() {
    step_done_.assign(plan_.steps.size(), 0);
    tile_stored_.assign(plan_.tiles.size(), 0);
    if (tiling_.all_parameters) load_parameters(tiling_.blocks.out);
    for (size_t k = 0; k < plan_.steps.size(); ++k) advance(k);
    cost_.steps = int64_t(plan_.steps.size());
    cost_.tiles = int64_t(plan_.tiles.size());
    cost_.cycles = std::max(compute_free_, store_free_);
    const double peak = double(hardware_.macs_per_uop());
    cost_.share_of_peak = cost_.cycles > 0 ? double(layer_.macs) / (cost_.cycles * peak) : 0;
    return cost_;
  }

 private:
  double transfer_cycles(int64_t rows, int64_t row_bytes) {
    const double beats = double(rows * ceil_div(row_bytes * 8, hardware_.memory_width_bits));
    const double duration = beats + timing_.row * double(rows);
    cost_.memory_cycles += duration;
    return duration;
  }

  // Reads of the load stage and writes go through ports of their own and are in order there; those of the
  // compute stage are few and short, so they only take their time. Returns when the data is there.
  double transfer(double& port, double start, int64_t rows, int64_t row_bytes) {
    port = std::max(start, port) + transfer_cycles(rows, row_bytes);
    return port + timing_.memory_latency;
  }
  void compute_load(int64_t bytes) { compute_free_ += transfer_cycles(1, bytes) + timing_.memory_latency; }

  void load_parameters(int64_t blocks) {
    if (tiling_.parameter_vectors == 0) return;
    const int64_t bytes = blocks * tiling_.parameter_vectors * hardware_.accumulator_bytes();
    cost_.parameter_bytes += bytes;
    compute_load(bytes);
  }

  double load_inputs(double start, const Tile& tile, Range in) {
    double done = start;
    const int64_t planes = tile.batch.size() * in.size();
    for (const LayerSource& source : layer_.sources) {
      const InputSplit split = split_input(tiling_, hardware_, source, tile);
      const int64_t row_bytes = split.width * hardware_.input_bytes();
      const int64_t padding = split.padding_from_dram() * hardware_.input_bytes();
      const bool contiguous =
          split.width == source.width && split.left + split.right == 0 && tiling_.row_step == 1;
      cost_.input_bytes += planes * (split.inside * row_bytes + padding);
      done = contiguous ? transfer(read_free_, start, planes, split.inside * row_bytes)
                        : transfer(read_free_, start, planes * split.inside, row_bytes);
      if (padding > 0) done = transfer(read_free_, start, 1, planes * padding);
      // Padding that the instruction writes takes a cycle per element.
      const int64_t cols = split.left + split.width + split.right;
      const int64_t all = (split.above + split.inside + split.below) * cols;
      done += double(planes * (all - split.inside * split.width));
    }
    return done;
  }

  // Micro-ops that a kernel needs once two loops are taken away, and the cycles to load them, once per
  // kernel.
  void load_uops(const Tile& tile, const Step& step, int64_t pixels, int64_t rows, int64_t pairs_in) {
    const auto key =
        std::make_tuple(step.input_slot, step.weight_slot, int64_t(step.tile) % tiling_.output_slots,
                        tile.rows.size(), tile.cols.size(), tile.out.size(), step.in.size(), step.first);
    if (!kernels_.insert(key).second) return;
    int64_t uops = int64_t(tiling_.output.passes.size()) + 2;
    for (const Phase& phase : layer_.phases) {
      for (const TapGrid& grid : phase.grids) {
        std::array<int64_t, 6> extents{
            rows,   rows == 0 ? 1 : pixels / std::max<int64_t>(rows, 1), tile.out.size(), pairs_in, grid.ny,
            grid.nx};
        std::sort(extents.begin(), extents.end());
        uops += extents[0] * extents[1] * extents[2] * extents[3] * tile.batch.size();
      }
    }
    const int64_t bytes = uops * hardware_.uop_bytes();
    cost_.uop_bytes += bytes;
    compute_load(bytes);
  }

  double gemm_cycles(const Tile& tile, const Step& step) {
    const int64_t pixels = tile.rows.size() * tile.cols.size() * tile.batch.size();
    double cycles = 0;
    int64_t pairs = tile.out.size();
    if (tiling_.blocks.dense) pairs *= step.in.size();
    if (layer_.pattern == ChannelPattern::kGrouped) {
      pairs = tiling_.weight_elements(tile.out, step.in) / layer_.weight_count();
    }
    if (step.first && !overwrite_) {
      cost_.reset_uops += tiling_.output_slot_size;
      cycles += double(tiling_.output_slot_size) + timing_.instruction;
    }
    if (layer_.kind == LayerKind::kMaximum) return cycles + maximum_cycles(tile);
    for (const Phase& phase : layer_.phases) {
      const int64_t rows = ceil_div(tile.rows.size() - phase.out_y, layer_.out_step_y);
      const int64_t cols = ceil_div(tile.cols.size() - phase.out_x, layer_.out_step_x);
      if (rows <= 0 || cols <= 0) continue;
      for (const TapGrid& grid : phase.grids) {
        const int64_t uops = pairs * rows * cols * tile.batch.size() * grid.ny * grid.nx;
        cost_.gemm_uops += uops;
        cycles += double(uops) * timing_.gemm_uop + timing_.instruction;
        // Fewer than three destinations: one instruction per reduction index (cover_box_portably).
        const int64_t destinations = tile.out.size() * rows * cols * tile.batch.size();
        if (destinations < 3 && !overwrite_) {
          cycles += timing_.instruction * double(uops / destinations);
        }
      }
    }
    const int64_t shifted = int64_t(passes_ - 1) * pixels * tile.out.size();
    cost_.alu_uops += shifted;
    load_uops(tile, step, pixels, tile.rows.size(), std::max<int64_t>(1, pairs / tile.out.size()));
    return cycles + double(shifted) * timing_.alu_immediate;
  }

  double maximum_cycles(const Tile& tile) {
    const int64_t planes = tile.batch.size() * tile.out.size();
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
    return double(copies) * timing_.gemm_uop + double(pixels) * timing_.alu_immediate +
           double(compared) * timing_.alu_tensor + double(taps + 2) * timing_.instruction;
  }

  void advance(size_t k) {
    const Step& step = plan_.steps[k];
    const Tile& tile = plan_.tiles[size_t(step.tile)];
    double ready = 0;
    if (step.load_input || step.load_weights) {
      double start = load_free_;
      if (step.wait_for_step) start = std::max(start, step_done_[size_t(step.waits_for)]);
      ready = start;
      if (step.load_weights) {
        const int64_t bytes = tiling_.weight_elements(tile.out, step.in) * hardware_.weight_bytes();
        cost_.weight_bytes += bytes;
        ready = transfer(read_free_, start, tiling_.blocks.dense ? tile.out.size() : 1,
                         bytes / (tiling_.blocks.dense ? tile.out.size() : 1));
      }
      if (step.load_input)
        ready = load_inputs(std::max(start, ready - timing_.memory_latency), tile, step.in);
      cost_.load_cycles += ready - start;
      load_free_ = ready;
    }
    double begin = std::max(compute_free_, ready);
    if (step.first) {
      if (step.tile >= tiling_.output_slots) {
        begin = std::max(begin, tile_stored_[size_t(step.tile - tiling_.output_slots)]);
      }
      if (!tiling_.all_parameters && tile.out != parameters_) {
        compute_free_ = begin;
        load_parameters(tile.out.size());
        parameters_ = tile.out;
        begin = compute_free_;
      }
    }
    compute_free_ = begin;
    const double gemm = gemm_cycles(tile, step);
    compute_free_ = std::max(begin, compute_free_) + gemm;
    cost_.compute_cycles += gemm;
    step_done_[k] = compute_free_;
    if (step.last) finish(step, tile);
  }

  void finish(const Step& step, const Tile& tile) {
    const int64_t planes = tile.batch.size() * tile.out.size(), pixels = tile.rows.size() * tile.cols.size();
    const double alu =
        double(planes * pixels) * pass_cycles_ + timing_.instruction * double(tiling_.output.passes.size());
    cost_.alu_uops += planes * pixels * int64_t(tiling_.output.passes.size());
    cost_.compute_cycles += alu;
    compute_free_ += alu;
    const bool contiguous = tile.cols.size() == layer_.out_width;
    const int64_t row_bytes = tile.cols.size() * hardware_.output_bytes();
    const double start = std::max(store_free_, compute_free_);
    store_free_ = contiguous ? transfer(write_free_, start, planes, tile.rows.size() * row_bytes)
                             : transfer(write_free_, start, planes * tile.rows.size(), row_bytes);
    cost_.output_bytes += planes * pixels * hardware_.output_bytes();
    cost_.store_cycles += store_free_ - start;
    tile_stored_[size_t(step.tile)] = store_free_;
  }

  const Tiling& tiling_;
  const Layer& layer_;
  const OverlayHardware& hardware_;
  OverlayTiming timing_;
  StepPlan plan_;
  LayerCost cost_;
  double pass_cycles_ = 0;
  bool overwrite_ = false;
  int passes_ = 1;
  double load_free_ = 0, compute_free_ = 0, store_free_ = 0, read_free_ = 0, write_free_ = 0;
  std::vector<double> step_done_, tile_stored_;
  Range parameters_{-1, -1};
  std::set<std::tuple<int32_t, int32_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool>> kernels_;
};

}  // namespace

LayerCost estimate_layer(const Tiling& tiling, const OverlayHardware& hardware, const OverlayTiming& timing) {
  return Estimator(tiling, hardware, timing).run();
}

}  // namespace tilewright::overlay
