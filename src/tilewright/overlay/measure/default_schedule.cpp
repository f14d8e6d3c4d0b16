// The default schedule: every combination of a few tile sizes per axis, those that fit ranked by a bound, the
// best of these by the estimate, and the best of these by the cycle simulator, which then tries what can be
// refined at the edges of the layer.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/measure/layer_cycles.h"
#include "tilewright/overlay/schedule/estimate.h"
#include "tilewright/overlay/schedule/schedule_refinements.h"

namespace tilewright::overlay {
namespace {

constexpr int64_t kMaxSteps = 20000;
constexpr size_t kMaxEstimates = 64;
constexpr size_t kMaxExact = 8;
constexpr int64_t kMaxExactTiles = 2000;  // of all tried together

// Total, its halves, thirds, ... rounded up to a multiple of `step`, largest first, without repetition.
std::vector<int64_t> tile_sizes(int64_t total, int64_t step, size_t most) {
  std::vector<int64_t> sizes;
  for (int64_t parts = 1; parts <= total && sizes.size() < most; ++parts) {
    int64_t size = ceil_div(total, parts);
    size = std::min(total, round_up(size, step));
    if (sizes.empty() || size < sizes.back()) sizes.push_back(size);
    // Small parts come thick: from eight on, double.
    if (parts >= 8) parts = parts * 3 / 2;
  }
  if (sizes.back() > step && step < total) sizes.push_back(step);
  return sizes;
}

// A cheap bound that ranks candidates before the estimate looks at them: traffic or compute, whichever is
// more, and what cannot overlap - the data of the first step, the stores of the last tile, the ends of
// instructions.
double quick_cost(const Tiling& tiling, const OverlayHardware& hardware) {
  const OverlayLayer& layer = *tiling.layer;
  const Schedule& s = tiling.schedule;
  const auto parts = [](int64_t total, int64_t size) { return double(ceil_div(total, size)); };
  const double image_tiles = parts(tiling.batch_total, s.batch_blocks) * parts(layer.out_height, s.rows) *
                             parts(layer.out_width, s.cols);
  const double out_tiles = parts(tiling.blocks.out, s.out_blocks);
  const double inner = tiling.blocks.dense ? parts(tiling.blocks.in, s.in_blocks) : 1;
  const bool outer = s.order == TileOrder::kOutputsOuter;
  const bool inputs_stay =
      out_tiles == 1 || s.inputs_resident || (!outer && inner <= double(tiling.input_slots));
  const bool weights_stay = image_tiles == 1 || s.weights_resident ||
                            (outer && inner <= double(tiling.weight_slots)) ||
                            (!outer && inner * out_tiles <= double(tiling.weight_slots));
  const bool diagonal = layer.pattern != ChannelPattern::kDense;
  const double beat = double(hardware.memory_width_bits) / 8;
  const double input_beats = std::max(1.0, double(hardware.input_bytes()) / beat);
  const double weight_beats = std::max(1.0, double(hardware.weight_bytes()) / beat);
  const double inputs = double(tiling.input_slot_size) * inner * image_tiles *
                        (diagonal      ? out_tiles
                         : inputs_stay ? 1
                                       : out_tiles) *
                        input_beats;
  const double weights = double(tiling.blocks.offset.back()) * double(layer.weight_count()) *
                         (weights_stay ? 1 : image_tiles) * weight_beats;
  const double steps = image_tiles * out_tiles * inner;
  const double beats = inputs + weights;
  const double tile = double(s.batch_blocks * s.rows * s.cols);
  const double compute =
      image_tiles * tile * double(tiling.blocks.offset.back()) * double(layer.weight_count());
  const double first =
      double(tiling.input_slot_size) * input_beats + double(tiling.weight_slot_size) * weight_beats;
  const double last = tile * double(s.out_blocks * tiling.blocks.ratio) *
                      std::max(1.0, double(hardware.output_bytes()) / beat);
  const double overlapped =
      s.virtual_threads == 2 ? std::max(beats, compute) + 0.05 * std::min(beats, compute) : beats + compute;
  return overlapped + first + last + 12 * steps;
}

struct Candidate {
  Schedule schedule;
  double cost = 0;
};

class Search {
 public:
  Search(const OverlayLayer& layer, const OverlayHardware& hardware, const ScheduleOptions& options)
      : layer_(layer),
        hardware_(hardware),
        options_(options),
        facts_(std::make_shared<const TilingFacts>(layer, hardware)),
        blocks_(facts_->blocks) {}

  struct Found {
    Schedule schedule;
    double cycles = 0;
  };

  Found run() {
    for (const int threads : {2, 1}) {
      if (options_.virtual_threads != 0 && options_.virtual_threads != threads) continue;
      collect(threads);
      if (!candidates_.empty()) break;
    }
    if (candidates_.empty()) report_infeasible();
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
    candidates_.resize(std::min(candidates_.size(), kMaxEstimates));
    for (Candidate& candidate : candidates_) {
      const Tiling tiling(layer_, hardware_, candidate.schedule, facts_);
      if (&candidate != &candidates_.front() && tiling.tile_count() > kMaxSteps) continue;
      candidate.cost = estimate_layer(tiling, hardware_, options_.memory).cycles;
      estimated_.push_back(candidate);
    }
    std::stable_sort(estimated_.begin(), estimated_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
    return exact_best();
  }

 private:
  // Of the candidates with the smallest estimates the one that is fastest on the cycle simulator, where their
  // programs are short enough to be tried.
  Found exact_best() const {
    Found best{estimated_.front().schedule, estimated_.front().cost};
    bool exact = false;
    const auto consider = [&](const Schedule& schedule) {
      try {
        const Tiling tiling(layer_, hardware_, schedule, facts_);
        const auto cycles = double(layer_cycles(tiling, hardware_, options_.memory));
        if (!exact || cycles < best.cycles) best = {schedule, cycles};
        exact = true;
      } catch (const Error&) {
        // A kernel that cannot be split, say; the next one may do.
      }
    };
    for (size_t i = 0; i < std::min(estimated_.size(), kMaxExact); ++i) {
      const Candidate& candidate = estimated_[i];
      const Tiling tiling(layer_, hardware_, candidate.schedule, facts_);
      if (tiling.tile_count() * int64_t(i + 1) > kMaxExactTiles) break;
      consider(candidate.schedule);
    }
    const auto refined = refined_schedules(layer_, hardware_, best.schedule, facts_);
    const int64_t tiles = Tiling(layer_, hardware_, best.schedule, facts_).tile_count();
    if (!exact || tiles * int64_t(refined.size()) > kMaxExactTiles) return best;
    for (const Schedule& schedule : refined) consider(schedule);
    return best;
  }

  void collect(int threads) {
    const int64_t batch_total = ceil_div(layer_.batch, hardware_.batch);
    const bool diagonal = layer_.pattern == ChannelPattern::kDiagonal || blocks_.shared;
    const auto in_sizes = diagonal ? std::vector<int64_t>{1} : tile_sizes(blocks_.in, 1, 12);
    for (const int64_t batch : tile_sizes(batch_total, 1, 4)) {
      for (const int64_t rows : tile_sizes(layer_.out_height, layer_.out_step_y, 14)) {
        for (const int64_t cols : tile_sizes(layer_.out_width, layer_.out_step_x, 6)) {
          for (const int64_t out : tile_sizes(blocks_.out, 1, 12)) {
            for (const int64_t in : in_sizes) {
              Schedule s{batch, rows, cols, out, in, threads, TileOrder::kOutputsInner, false, false};
              if (too_large(s)) continue;
              consider(s);
            }
          }
        }
      }
    }
  }

  // Obvious misfits, before a Tiling is made.
  bool too_large(const Schedule& s) const {
    const int64_t outputs = s.batch_blocks * s.rows * s.cols * s.out_blocks * blocks_.ratio;
    return outputs > hardware_.accumulator_depth();
  }

  void consider(Schedule s) {
    if (!Tiling(layer_, hardware_, s, facts_).fits(hardware_)) return;
    for (const TileOrder order : {TileOrder::kOutputsInner, TileOrder::kOutputsOuter}) {
      for (const int residency : {0, 1, 2}) {
        s.order = order;
        s.weights_resident = residency == 1;
        s.inputs_resident = residency == 2;
        const Tiling tiling(layer_, hardware_, s, facts_);
        if (tiling.fits(hardware_)) candidates_.push_back({s, quick_cost(tiling, hardware_)});
      }
    }
  }

  [[noreturn]] void report_infeasible() const {
    require_tile(layer_, hardware_);
    throw Error(ErrorKind::kInfeasible, "no tile of '" + layer_.name + "' fits the overlay");
  }

  const OverlayLayer& layer_;
  const OverlayHardware& hardware_;
  const ScheduleOptions& options_;
  std::shared_ptr<const TilingFacts> facts_;
  const ChannelBlocks& blocks_;
  std::vector<Candidate> candidates_, estimated_;
};

// The fold with the fewest micro-ops per output whose channels still fit one block.
std::optional<Schedule> best_fold(const OverlayLayer& layer, int64_t block) {
  if (!layer.foldable || layer.pattern != ChannelPattern::kDense || layer.kind != OverlayLayerKind::kMatrix ||
      layer.out_step_y * layer.out_step_x != 1) {
    return std::nullopt;
  }
  const TapGrid& grid = layer.phases[0].grids[0];
  const int64_t channels = layer.sources[0].channels;
  // Few micro-ops first; among equals a stride that leaves columns or rows out.
  std::pair<int64_t, int64_t> best{int64_t(grid.ny) * grid.nx, 0};
  Schedule fold;
  for (int y = 1; y <= grid.ny; ++y) {
    for (int x = 1; x <= grid.nx && channels * y * x <= block; ++x) {
      const int64_t ny = ceil_div(grid.ny, y), nx = ceil_div(grid.nx, x);
      const int64_t sample_y = ny > 1 ? std::gcd(layer.in_step_y, y * grid.dy_step) : layer.in_step_y;
      const int64_t sample_x = nx > 1 ? std::gcd(layer.in_step_x, x * grid.dx_step) : layer.in_step_x;
      const std::pair<int64_t, int64_t> cost{ny * nx, -sample_y * sample_x};
      if (ny * nx == int64_t(grid.ny) * grid.nx || cost >= best) continue;
      if (layer.weight_bits == 1 && (grid.ny % y != 0 || grid.nx % x != 0)) continue;  // fold_input
      best = cost;
      fold.fold_y = y;
      fold.fold_x = x;
    }
  }
  if (fold.fold_y * fold.fold_x == 1) return std::nullopt;
  return fold;
}

}  // namespace

Schedule default_schedule(const OverlayLayer& layer, const OverlayHardware& hardware,
                          const ScheduleOptions& options) {
  Search::Found best = Search(layer, hardware, options).run();
  const std::optional<Schedule> fold = best_fold(layer, hardware.block_in);
  if (!fold) return best.schedule;
  const OverlayLayer folded = scheduled_layer(layer, *fold);
  Search::Found other = Search(folded, hardware, options).run();
  if (other.cycles >= best.cycles) return best.schedule;
  other.schedule.fold_y = fold->fold_y;
  other.schedule.fold_x = fold->fold_x;
  return other.schedule;
}

}  // namespace tilewright::overlay
