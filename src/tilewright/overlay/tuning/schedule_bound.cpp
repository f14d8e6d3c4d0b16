// Three chains of which none can be shorter: the compute queue between the first data and the last store, the
// loads ahead of the last step, the stores after the first tile.
//
// Rings are first in first out, so a sequence of regions that repeats costs no second load where all of it
// fits its ring, and hits nothing at all where it does not. That makes the transfers of dense layers products
// of the numbers of tiles; what a tile reads is a product of its rows and its columns.
#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/tuning/layer_bound.h"
#include "tilewright/overlay/tuning/port_times.h"

namespace tilewright::overlay {
namespace {

// Shortest paths of docs/design/overlay/overlay_rtl.md, in cycles beside the memory's latency: from the
// launch to the start of the first LOAD, from there to its first beat in the scratchpad, from the start of a
// STORE to its first beat.
constexpr double kShortestFetch = 4, kShortestRead = 3, kShortestWrite = 3;
// What an instruction takes beside its steps: GEMM, ALU, requantising ALU, and for each change of parameters.
constexpr double kGemmEnd = 8, kAluEnd = 4, kRequantizeEnd = 9, kChange = 3;

// Elements of all tiles along one axis: of the regions that they need, and of their parts inside the image.
struct AxisSums {
  int64_t box = 0, inside = 0;
  int64_t first_inside = 0;  // of the first tile
};

AxisSums axis_sums(int64_t outputs, int64_t tile, int64_t out_step, int64_t in_step, int64_t low,
                   int64_t high, int64_t row_step, int64_t size) {
  AxisSums sums;
  for (int64_t at = 0; at < outputs; at += tile) {
    const int64_t count = ceil_div(std::min(tile, outputs - at), out_step);
    const int64_t length = ((count - 1) * in_step + high - low) / row_step + 1;
    const int64_t first = at / out_step * in_step + low;
    const int64_t before = std::clamp<int64_t>(ceil_div(std::max<int64_t>(0, -first), row_step), 0, length);
    const int64_t end = size - 1 < first ? 0 : std::min(length, (size - 1 - first) / row_step + 1);
    const int64_t inside = std::max<int64_t>(0, end - before);
    if (at == 0) sums.first_inside = inside;
    sums.box += length;
    sums.inside += inside;
  }
  return sums;
}

class Bound {
 public:
  Bound(const Tiling& tiling, const OverlayHardware& hardware, const MemoryModel& memory)
      : t_(tiling), layer_(*tiling.layer), blocks_(tiling.blocks), hw_(hardware), port_(hardware, memory) {
    const Schedule& s = t_.schedule;
    image_ = t_.image_tiles();
    out_ = t_.out_tiles();
    inner_ = blocks_.dense ? ceil_div(blocks_.in, s.in_blocks) : 1;
    last_ = {remainder(t_.batch_total, s.batch_blocks), remainder(layer_.out_height, s.rows),
             remainder(layer_.out_width, s.cols), remainder(blocks_.out, s.out_blocks)};
    last_subs_ = blocks_.subs({blocks_.out - last_.out, blocks_.out});
  }

  double cycles() {
    count_loads();
    count_multiplications();
    count_passes();
    const int64_t parts = first_parts();
    const double first = first_data(t_.schedule.in_blocks / parts);
    const double written = double(pixels_total() * blocks_.out * blocks_.ratio * hw_.output_bytes());
    const double last_tile = double(last_outputs() * blocks_.ratio * hw_.output_bytes());
    const double store = kShortestWrite + port_.write_latency + port_.write_cycles(last_tile);
    const double start = kShortestFetch + kShortestRead + 2 * port_.read_latency;
    const double loads = std::max(load_steps_, port_.read_cycles(load_bytes_));
    double chain = first_sums(first) + compute() + store;
    // All parts of the first step's data, and what has to come after them.
    const double ahead = first_step_ + resets_ + first_start_ + first_parameters();
    if (parts > 1) chain = std::max(chain, first_data(t_.schedule.in_blocks) + compute() - ahead + store);
    chain = std::max(chain, start + loads + last_step_ + last_passes_ + store);
    chain = std::max(
        chain, first + first_step_ + kShortestWrite + port_.write_cycles(written) + port_.write_latency);
    return std::max(chain, port_.both(load_bytes_ + parameter_bytes(), written));
  }

 private:
  struct Sizes {
    int64_t batch = 1, rows = 1, cols = 1, out = 1;
  };

  static int64_t remainder(int64_t total, int64_t tile) { return (total - 1) % tile + 1; }

  // Parts of the first step's data.
  int64_t first_parts() const {
    return blocks_.dense ? std::min<int64_t>(t_.schedule.first_parts, t_.schedule.in_blocks) : 1;
  }
  int64_t pixels_total() const { return t_.batch_total * layer_.out_height * layer_.out_width; }
  int64_t last_pixels() const { return last_.batch * last_.rows * last_.cols; }
  // Outputs of the part of the last tile that is stored last.
  int64_t last_outputs() const {
    const int64_t parts = layer_.kind == OverlayLayerKind::kMatrix ? t_.schedule.finish_parts : 1;
    if (parts == 1) return last_pixels() * last_.out;
    if (last_.out >= parts || last_.rows <= last_.out) {
      return last_pixels() * std::max<int64_t>(1, last_.out / parts);
    }
    return last_pixels() / last_.rows * std::max<int64_t>(1, last_.rows / parts) * last_.out;
  }
  double parameter_bytes() const {
    return double(blocks_.sub_total * t_.parameter_vectors * hw_.accumulator_bytes());
  }
  // Elements that the load module takes one cycle or more for.
  double steps_of(int64_t elements, int64_t bytes) const {
    return double(elements) * std::max(1.0, double(bytes) / (hw_.memory_width_bits / 8.0));
  }

  // Tiles along the rows and columns of the image, all of them together.
  void count_loads() {
    const Schedule& s = t_.schedule;
    const bool outer = s.order == TileOrder::kOutputsOuter;
    const bool inputs_stay = out_ == 1 || (outer ? image_ * inner_ : inner_) <= t_.input_slots;
    const bool weights_stay = image_ == 1 || (outer ? inner_ : out_ * inner_) <= t_.weight_slots;
    // A factor of one position or channel is little beside the others.
    const auto whole =
        std::count_if(layer_.sources.begin(), layer_.sources.end(),
                      [](const LayerSource& source) { return !source.one_position && !source.one_channel; });
    const int64_t planes =
        t_.batch_total * int64_t(whole) * blocks_.in * (blocks_.dense && !inputs_stay ? out_ : 1);
    const LayerSource& source = layer_.sources[0];
    rows_ = axis_sums(layer_.out_height, s.rows, layer_.out_step_y, layer_.in_step_y, t_.dy_min, t_.dy_max,
                      t_.row_step, source.height);
    cols_ = axis_sums(layer_.out_width, s.cols, layer_.out_step_x, layer_.in_step_x, t_.dx_min, t_.dx_max, 1,
                      source.width);
    const int64_t inside = rows_.inside * cols_.inside * planes, box = rows_.box * cols_.box * planes;
    const int64_t weights =
        blocks_.offset.back() * layer_.weight_count() * (blocks_.dense && !weights_stay ? image_ : 1);
    load_bytes_ = double(inside * hw_.input_bytes() + weights * hw_.weight_bytes());
    load_steps_ =
        steps_of(inside, hw_.input_bytes()) + double(box - inside) + steps_of(weights, hw_.weight_bytes());
  }

  // When the first `in_blocks` input blocks of the first step, with their weights, are in the scratchpads.
  double first_data(int64_t in_blocks) const {
    const Schedule& s = t_.schedule;
    const double start = kShortestFetch + kShortestRead + 2 * port_.read_latency;
    if (!blocks_.dense) return start;
    const int64_t inputs = rows_.first_inside * cols_.first_inside * s.batch_blocks * in_blocks;
    const int64_t weights = t_.weight_elements({0, s.out_blocks}, {0, in_blocks});
    const double bytes = double(inputs * hw_.input_bytes() + weights * hw_.weight_bytes());
    return start + port_.read_cycles(bytes);
  }

  // When the sums of the first step start, less what compute() counts but may come before.
  double first_sums(double first) const {
    // Micro-ops are loaded ahead of everything, and one is 4 bytes at least.
    double ahead = kShortestFetch + kShortestRead + 2 * port_.read_latency;
    if (t_.all_parameters && t_.parameter_vectors > 0) {
      ahead += double(t_.banks) * (port_.read_latency + kShortestRead + port_.read_cycles(parameter_bytes()));
    }
    if (!t_.starts_early()) return std::max(first, ahead);
    const double early = resets_ + first_start_ + first_parameters();
    return std::max(first, ahead + early) - early;
  }

  // Cycles of the LOAD of the first tile's parameters.
  double first_parameters() const {
    if (t_.all_parameters || t_.parameter_vectors == 0) return 0;
    const int64_t vectors = blocks_.subs({0, t_.schedule.out_blocks}) * t_.parameter_vectors;
    return port_.read_latency + kShortestRead + port_.read_cycles(double(vectors * hw_.accumulator_bytes()));
  }

  void count_multiplications() {
    const Schedule& s = t_.schedule;
    const auto steps = double(image_ * out_ * inner_);
    if (layer_.kind == OverlayLayerKind::kMaximum) {
      multiplications_ = steps * kGemmEnd;
      return;
    }
    const int64_t pairs = blocks_.shared ? blocks_.sub_total : blocks_.offset.back();
    int64_t total = 0, taps = 0, grids = 0;
    for (const Phase& phase : layer_.phases) {
      overwrites_ = overwrites_ && !phase.grids.empty();
      const int64_t rows = ceil_div(std::max<int64_t>(0, layer_.out_height - phase.out_y), layer_.out_step_y);
      const int64_t cols = ceil_div(std::max<int64_t>(0, layer_.out_width - phase.out_x), layer_.out_step_x);
      for (const TapGrid& grid : phase.grids) {
        total += t_.batch_total * pairs * rows * cols * grid.ny * grid.nx;
        taps += int64_t(grid.ny) * grid.nx;
        ++grids;
        passes_ = std::max(passes_, grid.pass + 1);
      }
    }
    const bool one_phase = layer_.phases.size() == 1;
    multiplications_ = double(total) + kGemmEnd * steps * double(one_phase ? grids : 1);
    if (!one_phase || !blocks_.dense) return;
    const int64_t tile = s.batch_blocks * s.rows * s.cols * blocks_.subs({0, s.out_blocks});
    first_step_ = double(tile * s.in_blocks * taps) + kGemmEnd;
    // Where the first step is the last one, too, only its last part has to wait for all data.
    const int64_t last_in = steps == 1 ? s.in_blocks / first_parts() : remainder(blocks_.in, s.in_blocks);
    last_step_ = double(last_pixels() * last_subs_ * last_in * taps) + kGemmEnd;
  }

  void count_passes() {
    const auto slices = double(hw_.alu_slices()), outputs = double(pixels_total() * blocks_.sub_total);
    const auto tiles = double(image_ * out_);
    const auto cleared = double(t_.output_slot_size) + kGemmEnd;
    if (layer_.kind == OverlayLayerKind::kMaximum) {
      passes_cycles_ = outputs * slices;
      return;
    }
    overwrites_ = overwrites_ && hw_.isa == IsaVersion::kWide;
    if (!overwrites_) {
      // With an early start all slots, or the first tile's, are cleared ahead of the first data.
      resets_ = cleared * (t_.output.start ? double(t_.output_slots) : 1);
      multiplications_ += t_.output.start ? resets_ : cleared * tiles;
    }
    passes_cycles_ = double(passes_ - 1) * outputs * slices;
    const auto add = [&](const OutputPass& pass, bool at_end) {
      const bool parts = blocks_.ratio > 1;
      const bool wide = requantizes(pass.opcode);
      const double end = wide ? kRequantizeEnd : kAluEnd, change = wide ? kChange : 0;
      passes_cycles_ += outputs * slices + end * double(parts ? image_ * blocks_.out : image_ * out_) +
                        change * double(image_ * blocks_.sub_total);
      if (at_end) {
        last_passes_ += double(last_pixels() * last_subs_) * slices + end * double(parts ? last_.out : 1) +
                        change * double(last_subs_);
      }
    };
    if (t_.output.start) {
      add(*t_.output.start, false);
      const int64_t outputs_of_first = t_.schedule.batch_blocks * t_.schedule.rows * t_.schedule.cols *
                                       blocks_.subs({0, t_.schedule.out_blocks});
      first_start_ = double(outputs_of_first) * slices +
                     kAluEnd * double(blocks_.ratio > 1 ? t_.schedule.out_blocks : 1);
    }
    for (const OutputPass& pass : t_.output.passes) add(pass, true);
  }

  // What the compute queue needs between the first data and the token for the last store.
  double compute() const {
    const double each = port_.read_latency + kShortestRead;
    const double parameters = t_.parameter_vectors > 0 && !t_.all_parameters
                                  ? double(out_) * each + port_.read_cycles(parameter_bytes())
                                  : 0;
    if (t_.banks == 1) return multiplications_ + passes_cycles_ + parameters;
    return std::max(multiplications_ + last_passes_, first_step_ + passes_cycles_) + parameters;
  }

  const Tiling& t_;
  const OverlayLayer& layer_;
  const ChannelBlocks& blocks_;
  const OverlayHardware& hw_;
  PortTimes port_;
  int64_t image_ = 1, out_ = 1, inner_ = 1;  // tiles of the image, of output channels; steps of a tile
  Sizes last_;                               // of the last tile
  int64_t last_subs_ = 1;
  bool overwrites_ = true;
  int passes_ = 1;
  AxisSums rows_, cols_;
  double load_bytes_ = 0, load_steps_ = 0;
  // Cycles of the compute queue: sums and resets, output passes; of the first and last step, the last tile.
  double resets_ = 0, first_start_ = 0;  // of the first tile's start
  double multiplications_ = 0, passes_cycles_ = 0, first_step_ = 0, last_step_ = 0, last_passes_ = 0;
};

}  // namespace

double schedule_bound(const Tiling& tiling, const OverlayHardware& hardware, const MemoryModel& memory) {
  return Bound(tiling, hardware, memory).cycles();
}

}  // namespace tilewright::overlay
